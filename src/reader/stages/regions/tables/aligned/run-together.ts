import { acrossOf } from "../../../../model/geometry.ts"
import { type Segment, piecesOf } from "../../../lines/segment.ts"
import { partsBetween, wordsIn } from "../cells/narrow-columns.ts"
import { type Column, NUMERIC, overlaps, type Row } from "../cells/table-cells.ts"
import { ALIGNED } from "../drawn/drawn-evidence.ts"

/** Cells over more columns are not cut. */
const MOST_COLUMNS = 40

/** Words of a cell that are in one column. */
interface Part extends Column {
  readonly at: number
  readonly text: string
}

/**
 * True when words are aligned with a column's cells: at the left edge, the right edge or the middle; numbers at their
 * decimal points.
 */
const isAligned = (part: Part, columns: ReadonlyArray<Column>): boolean => {
  const column = columns[part.at]
  if (column === undefined) return false
  const [left, right] = [part.x0 - column.x0, part.x1 - column.x1]
  return (
    NUMERIC.test(part.text) ||
    Math.abs(left) < ALIGNED ||
    Math.abs(right) < ALIGNED ||
    Math.abs(left + right) < 2 * ALIGNED
  )
}

/** A cell's words by column; undefined where some span columns, or are in none. */
const partsOf = (
  cell: ReadonlyArray<Segment>,
  columns: ReadonlyArray<Column>
): ReadonlyArray<Part> | undefined => {
  const parts: Array<Part> = []
  for (const { text, x0, x1 } of wordsIn(piecesOf(cell))) {
    const over = columns.flatMap((column, at) => (overlaps(column, { x0, x1 }) ? [at] : []))
    const [at] = over
    const last = parts.at(-1)
    if (at === undefined || over.length > 1 || (last !== undefined && at < last.at)) return undefined
    if (last?.at === at) parts[parts.length - 1] = { at, text: `${last.text} ${text}`, x0: last.x0, x1 }
    else parts.push({ at, text, x0, x1 })
  }
  return parts
}

/**
 * Cuts a cell across several columns into one of each, where the widest words of a column leave no more than a space.
 * None of its words is in the gap between columns, and all are aligned with the cells of other lines.
 */
const startsIn = (cell: ReadonlyArray<Segment>, columns: ReadonlyArray<Column>): ReadonlyArray<number> => {
  const bounds = acrossOf(cell)
  const over = columns.filter((column) => overlaps(column, bounds))
  if (over.length < 2 || over.length > MOST_COLUMNS) return []
  const parts = partsOf(cell, over)
  if (parts === undefined || parts.length < over.length) return []
  if (!parts.every((part) => isAligned(part, over))) return []
  return parts.slice(1).map(({ x0 }, at) => (x0 + (parts[at]?.x1 ?? x0)) / 2)
}

/** A line with one cell for each column, some of them as near as words. */
export const toldApart = (row: Row, columns: ReadonlyArray<Column>): Row => {
  const cells = row.cells.flatMap((cell) => partsBetween(cell, startsIn(cell, columns)))
  return cells.length === row.cells.length ? row : { ...row, cells, bounds: cells.map(acrossOf) }
}
