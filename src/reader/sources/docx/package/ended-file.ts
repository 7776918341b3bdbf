import { type FileHandle, open } from "node:fs/promises"
import { Readable } from "node:stream"
import { callbackify } from "node:util"

import { RandomAccessReader } from "yauzl"

/** The end record of a ZIP archive (APPNOTE 4.3.16), without its comment. */
const RECORD = { signature: Buffer.from("PK\x05\x06"), length: 22, commentLengthAt: 20 } as const
const MAX_COMMENT = 0xffff

/** Bytes that are read at a time. */
const CHUNK = 64 * 1024

/** A file with zeros behind its end. */
class EndedFile extends RandomAccessReader {
  readonly #file: FileHandle

  constructor(file: FileHandle) {
    super()
    this.#file = file
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#chunks(start, end), { objectMode: false })
  }

  async *#chunks(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at < end;) {
      const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(Math.min(CHUNK, end - at)), {
        position: at
      })
      if (bytesRead === 0) return
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void
  ): void {
    callbackify(async () => {
      const { bytesRead } = await this.#file.read(buffer, offset, length, position)
      buffer.fill(0, offset + bytesRead, offset + length)
    })(callback)
  }

  override close(callback: (error: Error | null) => void): void {
    callbackify(() => this.#file.close())(callback)
  }
}

/**
 * How many bytes of the last end record's comment, or of that one's length, the file does not have; less than 0 where others are behind
 * the record, as mail puts them there. 0 where it ends as it should, or has no such record.
 */
const missing = async (file: FileHandle, size: number): Promise<number> => {
  const length = Math.min(size, RECORD.length + MAX_COMMENT)
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
  const at = buffer.lastIndexOf(RECORD.signature)
  if (at === -1 || at + RECORD.commentLengthAt > length) return 0
  const [low = 0, high = 0] = buffer.subarray(at + RECORD.commentLengthAt)
  return at + RECORD.length + 256 * high + low - length
}

/** The file of an archive as if it ended with its end record and all of its comment; undefined where that is not what is wrong with it. */
export const openEnded = async (
  path: string
): Promise<{ readonly reader: RandomAccessReader; readonly size: number } | undefined> => {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const more = await missing(file, size)
    if (more !== 0) return { reader: new EndedFile(file), size: size + more }
  } catch (error) {
    await file.close()
    throw error
  }
  await file.close()
  return undefined
}
