import { countUp } from "../../model/lists.ts"
import { isBoldLine, isCode, type Line } from "./line.ts"

/** Range of line steps that are examined, in font sizes. */
const NEAREST = 0.8
const FURTHEST = 3
/** Greatest step within a paragraph, in font sizes; such wide spacing separates no paragraphs. */
const WITHIN = 1.75
/** By how much paragraphs are further apart than their lines, as a factor. */
const MAX_STEP = 1.3
/** Steps that differ by less count as the same, in font sizes. */
const SAME = 0.0625
/** Occurrences that make a step the usual one. */
const USUAL = 2

/** The most frequent step, the smaller of two; undefined where none occurs twice. */
const mostUsual = (counts: ReadonlyMap<number, number>, from: number, to: number): number | undefined => {
  let usual: number | undefined
  let most = USUAL - 1
  for (const [slot, count] of counts)
    if (
      slot * SAME > from &&
      slot * SAME < to &&
      (count > most || (count === most && usual !== undefined && slot < usual))
    ) {
      usual = slot
      most = count
    }
  return usual === undefined ? undefined : usual * SAME
}

/**
 * The usual step of baselines between paragraphs, in font sizes; undefined where white space does not separate them, or there are
 * too few.
 */
export const paragraphStep = (lines: ReadonlyArray<Line>, bodySize: number): number | undefined => {
  const counts = new Map<number, number>()
  let above: Line | undefined
  for (const line of lines) {
    const running = Math.abs(line.size - bodySize) < 0.06 * bodySize && !isBoldLine(line) && !isCode(line)
    if (running && above !== undefined) {
      const step = (line.baseline - above.baseline) / bodySize
      if (step > NEAREST && step < FURTHEST) countUp(counts, Math.round(step / SAME))
    }
    above = running ? line : undefined
  }
  const leading = mostUsual(counts, 0, WITHIN)
  return leading === undefined ? undefined : mostUsual(counts, leading * MAX_STEP, Infinity)
}
