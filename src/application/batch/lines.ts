import { Effect, Stream } from "effect"

/** Longest line, bytes. The echo of the largest record has some 6 MB; a longer line cannot be an answer, and is dropped. */
const MAX_LINE_BYTES = 64 * 1024 * 1024

const NEWLINE = 10

/** A line of an object, without its newline; `undefined` for one that is too long. */
export type Line = Uint8Array | undefined

const SPACE = 32

/** Whether the line holds only spaces, tabs and a carriage return. */
const isBlank = (line: Line): boolean => line !== undefined && line.every((byte) => byte <= SPACE)

/** Initial size of the buffer for a line that spans several reads. */
const FIRST_ROOM = 256 * 1024

/**
 * Splits bytes into lines. A line from a single read is a view of it; one that spans reads is assembled in a reused buffer: a
 * line is valid until the next call.
 */
export const makeLineCutter = (maxBytes: number = MAX_LINE_BYTES) => {
  let begun = new Uint8Array(0)
  // The spare buffer: the line that was assembled last is still in use.
  let other = new Uint8Array(0)
  let size = 0
  const add = (part: Uint8Array) => {
    const total = size + part.length
    if (total <= maxBytes) {
      if (total > begun.length) {
        const roomier = new Uint8Array(Math.min(maxBytes, Math.max(total, begun.length * 2, FIRST_ROOM)))
        roomier.set(begun.subarray(0, size))
        begun = roomier
      }
      begun.set(part, size)
    }
    size = total
  }
  const end = (last: Uint8Array): Line => {
    if (size === 0) return last.length > maxBytes ? undefined : last
    add(last)
    const line = size > maxBytes ? undefined : begun.subarray(0, size)
    size = 0
    ;[begun, other] = [other, begun]
    return line
  }
  return {
    /** The lines that these bytes complete; blank ones are left out. */
    push: (bytes: Uint8Array): Array<Line> => {
      const lines: Array<Line> = []
      let from = 0
      for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
        const line = end(bytes.subarray(from, at))
        from = at + 1
        if (!isBlank(line)) lines.push(line)
      }
      add(bytes.subarray(from))
      return lines
    },
    /** What is left after the last newline. */
    rest: (): Array<Line> => {
      const line = end(new Uint8Array(0))
      return isBlank(line) ? [] : [line]
    }
  }
}

/** The lines of an object, one by one; memory holds one of them. A piece is consumed before the next is requested. */
export const eachLine = <E, R, E2, R2>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  use: (line: Line) => Effect.Effect<void, E2, R2>
): Effect.Effect<void, E | E2, R | R2> =>
  Effect.gen(function* () {
    const cutter = makeLineCutter()
    yield* Stream.runForEach(bytes, (part) => Effect.forEach(cutter.push(part), use, { discard: true }))
    yield* Effect.forEach(cutter.rest(), use, { discard: true })
  })
