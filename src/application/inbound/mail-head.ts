import { Effect, Stream } from "effect"

import { MAX_HEADER_BYTES } from "./mail-limits.ts"

const LF = 0x0a
const CR = 0x0d

/** Collects the header section of a mail while its bytes pass by. */
class HeadCollector {
  readonly #pieces: Array<Uint8Array> = []
  #size = 0
  /** Whether the line that is being read has anything in it but its end. */
  #isBlank = true
  #over = false

  add(bytes: Uint8Array): void {
    if (this.#over) return
    let end = bytes.length
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === LF && this.#isBlank) {
        this.#over = true
        end = at + 1
        break
      }
      if (byte === LF) this.#isBlank = true
      else if (byte !== CR) this.#isBlank = false
    }
    const room = MAX_HEADER_BYTES - this.#size
    this.#pieces.push(bytes.slice(0, Math.min(end, room)))
    this.#size += Math.min(end, room)
    if (this.#size >= MAX_HEADER_BYTES) this.#over = true
  }

  bytes(): Uint8Array {
    const all = new Uint8Array(this.#size)
    let at = 0
    for (const piece of this.#pieces) {
      all.set(piece, at)
      at += piece.length
    }
    return all
  }
}

/** The same mail; `head` is the header section of what has passed by. */
export const withHead = <E, R>(
  raw: Stream.Stream<Uint8Array, E, R>
): { readonly raw: Stream.Stream<Uint8Array, E, R>; readonly head: () => Uint8Array } => {
  const collector = new HeadCollector()
  return {
    raw: Stream.tap(raw, (bytes) => Effect.sync(() => collector.add(bytes))),
    head: () => collector.bytes()
  }
}
