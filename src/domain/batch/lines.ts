import { Effect, Stream } from "effect"

/**
 * Longest line, bytes. The echo of the largest record has some 6 MB; beyond this a line is no answer, and is not kept.
 */
export const MAX_LINE_BYTES = 64 * 1024 * 1024

const NEWLINE = 10

/** A line of an object, decoded; `undefined` for one that is too long. */
export type Line = string | undefined

/** Cuts bytes into lines. A line is put together and decoded once, however many reads it came in. */
export const makeLineCutter = (maxBytes: number = MAX_LINE_BYTES) => {
  const decoder = new TextDecoder()
  let parts: Array<Uint8Array> = []
  let size = 0
  const end = (): Line => {
    const kept = parts
    const total = size
    parts = []
    size = 0
    if (total > maxBytes) return undefined
    if (kept.length === 1 && kept[0] !== undefined) return decoder.decode(kept[0])
    const whole = new Uint8Array(total)
    let at = 0
    for (const part of kept) {
      whole.set(part, at)
      at += part.length
    }
    return decoder.decode(whole)
  }
  const add = (part: Uint8Array) => {
    if (part.length === 0) return
    size += part.length
    if (size > maxBytes) parts = []
    else parts.push(part)
  }
  return {
    /** The lines that these bytes end; blank ones are left out. */
    push: (bytes: Uint8Array): Array<Line> => {
      const lines: Array<Line> = []
      let from = 0
      for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
        add(bytes.subarray(from, at))
        from = at + 1
        const line = size === 0 ? "" : end()
        if (line === undefined || line.trim() !== "") lines.push(line)
      }
      add(bytes.subarray(from))
      return lines
    },
    /** What is left after the last newline. */
    rest: (): Array<Line> => {
      if (size === 0) return []
      const line = end()
      return line === undefined || line.trim() !== "" ? [line] : []
    }
  }
}

/** The lines of an object, one by one; memory holds one of them. */
export const eachLine = <E, R, E2, R2>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  use: (line: Line) => Effect.Effect<void, E2, R2>
): Effect.Effect<void, E | E2, R | R2> =>
  Effect.gen(function* () {
    const cutter = makeLineCutter()
    yield* Stream.runForEach(bytes, (part) => Effect.forEach(cutter.push(part), use, { discard: true }))
    yield* Effect.forEach(cutter.rest(), use, { discard: true })
  })
