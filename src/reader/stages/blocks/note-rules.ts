import { overlapAcross } from "../../model/geometry.ts"
import { append } from "../../model/lists.ts"
import type { Box } from "../../model/page-content.ts"
import type { Line } from "../lines/line.ts"
import type { Segment } from "../lines/segment.ts"
import { noteMark } from "./footnotes.ts"

/** The rule above notes: its shortest length, points, and its longest as a share of the page's width. */
const SHORT = 30
const LONG = 0.45
/**
 * Greatest distance of the first note below the rule, and least distance of the text above it, in font sizes of the
 * text.
 */
const BELOW = 2.5
const ABOVE = 0.8
/** Rules that begin and end alike are a table's. */
const ALIKE = 3
/** Limit on rules that are examined: one for each column. */
const MOST_RULES = 6
/** How far from the rule's beginning notes begin, in font sizes of the text. */
const INDENT = 2

/** The notes below one rule; none where it is another's: of a table, of a fraction. */
const notesBelow = (rule: Box, rows: ReadonlyArray<Line>, bodySize: number): ReadonlyArray<Segment> => {
  const [above, below] = [
    rows.filter(({ y1 }) => y1 <= rule.y0 + 1),
    rows.filter(({ y0 }) => y0 >= rule.y0 - 1)
  ]
  const nearest = above.findLast(({ segments }) => segments.some((segment) => overlapAcross(segment, rule)))
  if (nearest !== undefined && rule.y0 - nearest.baseline < ABOVE * bodySize) return []
  const notes: Array<Segment> = []
  for (const row of below) {
    // Segments outside of the rule belong to other columns.
    const own = row.segments.filter(({ x0 }) => x0 > rule.x0 - ALIKE && x0 < rule.x1)
    const [first] = own
    if (first === undefined) continue
    if (
      notes.length === 0 &&
      (row.y0 - rule.y1 > BELOW * bodySize ||
        first.x0 - rule.x0 > INDENT * bodySize ||
        noteMark({ ...row, segments: own }, bodySize) === undefined)
    )
      return []
    if (row.size >= bodySize) break
    append(notes, own)
  }
  return notes
}

/** Notes below a short rule in the lower part of a page: they are rows of no table, whatever is above the rule. */
export const notesBelowRules = (
  rows: ReadonlyArray<Line>,
  bars: ReadonlyArray<Box>,
  {
    bodySize,
    lowerPart,
    width
  }: { readonly bodySize: number; readonly lowerPart: number; readonly width: number }
): ReadonlySet<Segment> => {
  const low = bars.filter(({ x0, x1, y0 }) => y0 > lowerPart && x1 - x0 > SHORT && x1 - x0 < LONG * width)
  const rules = low.filter(
    (rule) =>
      !bars.some(
        (other) =>
          other !== rule && Math.abs(other.x0 - rule.x0) < ALIKE && Math.abs(other.x1 - rule.x1) < ALIKE
      )
  )
  return new Set(rules.slice(0, MOST_RULES).flatMap((rule) => notesBelow(rule, rows, bodySize)))
}
