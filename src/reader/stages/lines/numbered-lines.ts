import { type Line, lineNumber } from "./line.ts"

/** Steps of an algorithm: numbered lines, with their continuation lines. */
export interface NumberedLines {
  /** First line, and the one after the last. */
  readonly from: number
  readonly to: number
  /** The first number. */
  readonly start: number
  /** Lines of each step, and how many characters its number takes up. */
  readonly steps: ReadonlyArray<{ readonly from: number; readonly to: number; readonly skip: number }>
}

/** Least number of steps of an algorithm. */
const FEWEST = 3
/** Greatest distance between lines of one algorithm, in font sizes. */
const STEP = 2.2
/** Share of code from which on lines are a listing. */
const LISTING = 0.5

const COUNTED = /^\s*(\d{1,3})(:?)\s+(?=\S)/

/** The number that a line begins with as a step of an algorithm does: `3:`, or a small `3`. */
const numberOf = ({ monospace, segments, text }: Line): { number: number; skip: number } | undefined => {
  const match = monospace > LISTING ? null : COUNTED.exec(text)
  if (match === null) return undefined
  return match[2] === ":" || lineNumber(segments) !== undefined
    ? { number: Number(match[1]), skip: match[0].length }
    : undefined
}

/** The algorithms among lines: steps that count on from line to line. */
export const numberedLines = (lines: ReadonlyArray<Line>): ReadonlyArray<NumberedLines> => {
  const found: Array<NumberedLines> = []
  for (let at = 0; at < lines.length;) {
    const first = lines[at]
    const opened = first === undefined ? undefined : numberOf(first)
    if (first === undefined || opened === undefined) {
      at += 1
      continue
    }
    const steps = [{ from: at, to: at + 1, skip: opened.skip }]
    let to = at + 1
    for (; to < lines.length; to++) {
      const [line, above] = [lines[to], lines[to - 1]]
      if (line === undefined || above === undefined) break
      if (line.baseline - above.baseline > STEP * line.size) break
      const next = numberOf(line)
      const last = steps.at(-1)
      if (next?.number === opened.number + steps.length) steps.push({ from: to, to: to + 1, skip: next.skip })
      else if (last !== undefined && line.x0 > first.x0 + line.size) last.to = to + 1
      else break
    }
    if (steps.length >= FEWEST) found.push({ from: at, to, start: opened.number, steps })
    at = to
  }
  return found
}
