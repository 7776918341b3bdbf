import { crosses, middleX } from "../../../../model/geometry.ts"
import { firstNotBefore } from "../../../../model/lists.ts"
import { type Segment, gapsIn } from "../../../lines/segment.ts"
import type { RawCell } from "../cells/table-cells.ts"

/** Lines that nearly meet do, points. */
export const NEAR = 3

/** The place at or before a position. */
export const slotOf = (places: ReadonlyArray<number>, value: number): number =>
  firstNotBefore(places, (place) => place <= value) - 1

/** True when something spans a border at one of these places. */
export const isOver = (one: Pick<Segment, "x0" | "x1">, xs: ReadonlyArray<number>): boolean =>
  xs.some((x) => crosses(one, x, NEAR))

/** White space, in font sizes, that separates words of two columns between which no rule is drawn. */
const APART = 1.1

/**
 * Cells of a grid row without rules between its columns, with words side by side: striped tables draw every second row
 * so. Undefined where it is one cell, as where words span a border of other rows.
 */
export const stripeCells = (
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>
): ReadonlyArray<RawCell> | undefined => {
  if (segments.some((one) => isOver(one, xs))) return undefined
  const columnOf = (segment: Segment) => slotOf(xs, middleX(segment))
  const lines = [...Map.groupBy(segments, ({ baseline }) => Math.round(baseline)).values()]
  if (!lines.some((line) => new Set(line.map(columnOf)).size > 1)) return undefined
  const columns = Map.groupBy(segments, columnOf)
  return xs.slice(1).map((_, column) => ({ segments: columns.get(column) ?? [], colSpan: 1, rowSpan: 1 }))
}

/**
 * Cells without a rule between them after an empty one, in the columns of their words, so that the label and the sum of
 * a total stay apart. Words that span a border, or that are centred in all columns, make one cell.
 */
export const unruledCells = (
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  column: number,
  colSpan: number
): ReadonlyArray<RawCell> => {
  const whole: ReadonlyArray<RawCell> = [{ segments, colSpan, rowSpan: 1 }]
  const baseline = segments[0]?.baseline ?? 0
  const sorted = [...segments].sort((a, b) => a.x0 - b.x0)
  const slots = sorted.map((one) => slotOf(xs, middleX(one)))
  if (segments.some((one) => Math.abs(one.baseline - baseline) > 1 || isOver(one, xs))) return whole
  const isApart = gapsIn(sorted).every((gap, at) => gap > APART * (sorted[at + 1]?.size ?? 0))
  if (slots[0] === column || sorted.length < 2 || !isApart || new Set(slots).size < slots.length) return whole
  const cells: Array<RawCell> = []
  for (let at = column; at < column + colSpan; at++) {
    const segment = sorted[slots.indexOf(at)]
    const last = cells.pop()
    if (last !== undefined && segment === undefined) cells.push({ ...last, colSpan: last.colSpan + 1 })
    else {
      if (last !== undefined) cells.push(last)
      cells.push({ segments: segment === undefined ? [] : [segment], colSpan: 1, rowSpan: 1 })
    }
  }
  return cells
}
