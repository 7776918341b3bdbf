import { SMTPStream } from "smtp-server/lib/smtp-stream.js"

/** What ends a mail, and what ends an empty one. */
const END = Buffer.from("\r\n.\r\n")
const EMPTY = Buffer.from(".\r\n")

/** A dot at the beginning of a line. */
const LINE_DOT = Buffer.from("\n.")
const DOT = 0x2e

/** Bytes that are kept until the next ones come: an end may begin in them. */
const KEPT = 4

type Done = (error?: Error | null) => void

/**
 * The library's stream of commands and mails, which hands a mail on in the pieces in which it came. The library's own stream takes
 * a separate turn for each line that begins with a dot: a mail of such lines would occupy the process for minutes.
 */
export class MailStream extends SMTPStream {
  override _feedDataStream(chunk: Buffer, done: Done): void {
    let bytes = this._lastBytes ? Buffer.concat([this._lastBytes, chunk]) : chunk
    this._lastBytes = false
    if (this._atDataStart && bytes.subarray(0, 3).equals(EMPTY)) {
      return this._endDataMode(false, bytes.subarray(3), done)
    }
    if (this._atDataStart && bytes.length >= 2 && bytes[0] === DOT && bytes[1] === DOT) {
      bytes = bytes.subarray(1)
      this._atDataStart = false
    }
    const plain = Buffer.allocUnsafe(bytes.length)
    let length = 0
    /** Where what is not copied yet begins. */
    let from = 0
    const copy = (to: number) => {
      length += bytes.copy(plain, length, from, to)
    }
    for (let at = bytes.indexOf(LINE_DOT, 1); at !== -1;) {
      const dot = at + 1
      if (dot + 2 >= bytes.length) break
      if (bytes.subarray(dot - 2, dot + 3).equals(END)) {
        copy(dot)
        this._countDataBytes(length)
        return this._endDataMode(plain.subarray(0, length), bytes.subarray(dot + 3), done)
      }
      if (bytes[dot + 1] === DOT) {
        copy(dot)
        from = dot + 1
      }
      at = bytes.indexOf(LINE_DOT, dot)
    }
    const keptAt = Math.max(from, bytes.length - KEPT)
    copy(keptAt)
    this._lastBytes = bytes.subarray(keptAt)
    if (length === 0) return done()
    this._countDataBytes(length)
    this.#handOn(plain.subarray(0, length), done)
  }

  /** Waits for the reader, unless it has gone. */
  #handOn(bytes: Buffer, done: Done): void {
    const stream = this._dataStream
    if (stream === null || !stream.writable || stream.write(bytes) || stream.destroyed) return done()
    const go = () => {
      stream.off("drain", go).off("close", go)
      done()
    }
    stream.once("drain", go).once("close", go)
  }
}
