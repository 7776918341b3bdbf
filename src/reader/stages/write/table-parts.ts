import type { Cell, Table } from "../../model/block.ts"

type Rows = ReadonlyArray<ReadonlyArray<Cell>>

/** Cells end with their part of the table at the latest. */
const clipped = (rows: Rows): Rows =>
  rows.map((row, at) => row.map((cell) => ({ ...cell, rowSpan: Math.min(cell.rowSpan, rows.length - at) })))

/** More places of a table are not looked at one by one. */
const MOST_PLACES = 100_000

/** The column in which each cell begins, row by row. */
const beginningsIn = (rows: Rows): ReadonlyArray<ReadonlyArray<number>> => {
  const taken: Array<number> = []
  return rows.map((row, at) => {
    let column = 0
    return row.map(({ colSpan, rowSpan }) => {
      while ((taken[column] ?? 0) > at) column += 1
      const from = column
      for (; column < from + colSpan; column++) taken[column] = at + rowSpan
      return from
    })
  })
}

/** Rows without the columns in which no cell begins: two cells over the same two columns are in one. */
const withoutHollow = (rows: Rows): Rows => {
  const cells = rows.flat()
  const places = cells.reduce((sum, { colSpan }) => sum + colSpan, 0)
  if (places > MOST_PLACES || !cells.some(({ colSpan }) => colSpan > 1)) return rows
  const begins = beginningsIn(rows)
  const used = new Set(begins.flat())
  return rows.map((row, at) =>
    row.map((cell, place) => {
      const from = begins[at]?.[place] ?? 0
      const own = Array.from({ length: cell.colSpan }, (_, next) => from + next).filter((one) =>
        used.has(one)
      )
      return cell.colSpan === own.length ? cell : { ...cell, colSpan: own.length }
    })
  )
}

/**
 * The head and the body. HTML ends each cell with its part of the table: where one of the head reaches down into the body, all is body,
 * or the rows below would move. Its header cells say themselves that they are some.
 */
export const tableParts = (table: Pick<Table, "headRows" | "rows">): readonly [Rows, Rows] => {
  const { headRows } = table
  const rows = withoutHollow(table.rows)
  const reachesDown = rows
    .slice(0, headRows)
    .some((row, at) => row.some(({ rowSpan }) => at + rowSpan > headRows))
  const head = reachesDown ? 0 : headRows
  return [rows.slice(0, head), clipped(rows.slice(head))]
}
