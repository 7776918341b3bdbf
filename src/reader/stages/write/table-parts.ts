import type { Cell, Table } from "../../model/block.ts"

type Rows = ReadonlyArray<ReadonlyArray<Cell>>

/** Cells end with their part of the table at the latest. */
const clipped = (rows: Rows): Rows =>
  rows.map((row, at) => row.map((cell) => ({ ...cell, rowSpan: Math.min(cell.rowSpan, rows.length - at) })))

/**
 * The head and the body. HTML ends each cell with its part of the table: where one of the head reaches down into the body, all is body,
 * or the rows below would move. Its header cells say themselves that they are some.
 */
export const tableParts = ({ headRows, rows }: Pick<Table, "headRows" | "rows">): readonly [Rows, Rows] => {
  const reachesDown = rows
    .slice(0, headRows)
    .some((row, at) => row.some(({ rowSpan }) => at + rowSpan > headRows))
  const head = reachesDown ? 0 : headRows
  return [rows.slice(0, head), clipped(rows.slice(head))]
}
