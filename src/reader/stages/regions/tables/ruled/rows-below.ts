import { greatest, least } from "../../../../model/lists.ts"
import { CAPTION } from "../../../lines/markers.ts"
import { type Segment, segmentText } from "../../../lines/segment.ts"
import { columnsOf, columnsUnder, NUMERIC } from "../cells/table-cells.ts"
import { OVERLAPPING } from "../cells/table-extent.ts"
import type { Rule } from "../grid/rules.ts"

/** Most rows below a table's last rule: a carry-over, or a subtotal, a tax and a total. */
const MOST_BELOW = 4
/** Greatest white space above each of them, in font sizes. */
const APART = 1
/** Fewest words that are a row without a figure at their end, and with one. */
const FEWEST_WORDS = 3
const FEWEST_WITH_FIGURE = 2
/** White space below a row that a rule ends only as the head of another table, in font sizes. */
const RULED = 0.6

/**
 * Bottom of the rows that follow a table's last rule: where no rule closes a table, or where its total is below the
 * closing one. Each of their words is in a column of the table, and the last one is a figure, unless all columns have
 * one. Undefined without such rows.
 */
export const rowsBelow = (
  taken: ReadonlyArray<Segment>,
  bottom: number,
  rule: Rule,
  segments: ReadonlyArray<Segment>,
  across: ReadonlyArray<Rule>
): number | undefined => {
  const columns = columnsOf(taken)
  const isWithin = (one: Segment): boolean => one.x0 > rule.from - 1 && one.x1 < rule.to + 1
  const below = segments
    .filter(({ baseline, x0, x1 }) => baseline > bottom && x0 < rule.to && x1 > rule.from)
    .sort((a, b) => a.baseline - b.baseline)
  let edge = bottom
  for (let row = 0, from = 0; row < MOST_BELOW; row++) {
    const [first] = below.slice(from)
    if (first === undefined) break
    const line = below.slice(from).filter((one) => one.baseline - first.baseline < OVERLAPPING * first.size)
    from += line.length
    const cells = line.map((one) => columnsUnder(one, columns))
    const own = new Set(cells.map((cell) => cell.from))
    const last = line.toSorted((a, b) => a.x1 - b.x1).at(-1)
    const hasFigure = last !== undefined && NUMERIC.test(segmentText(last).trim())
    const isRow =
      least(line.map(({ y0 }) => y0)) - edge <= APART * first.size &&
      line.every(isWithin) &&
      !line.some((one) => CAPTION.test(segmentText(one))) &&
      cells.every((cell) => cell.over.length === 1) &&
      own.size === line.length &&
      line.length >= (hasFigure ? FEWEST_WITH_FIGURE : Math.max(FEWEST_WORDS, columns.length))
    const end = greatest(line.map(({ y1 }) => y1))
    const isHead = across.some(
      ({ at, from: x0, to: x1 }) =>
        at > first.baseline && at - end < RULED * first.size && x0 < rule.to && x1 > rule.from
    )
    if (!isRow || isHead) break
    edge = end
  }
  return edge > bottom ? edge + 1 : undefined
}
