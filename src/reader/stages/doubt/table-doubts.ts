import { type Block, type Cell, type Table, textOfSpans } from "../../model/block.ts"

/** Fewest figures below one another in cells of a row from which on these are rows themselves. */
const FEWEST_STACKED = 3
/** Part of a column's cells that have words below an empty head. */
const FULL = 0.67
const FEWEST_ROWS = 3

const FIGURE = /^[-−+]?[\d.,]{1,15}%?$/

const textsOf = (blocks: ReadonlyArray<Block>): ReadonlyArray<string> =>
  blocks.flatMap((block) => (block.kind === "paragraph" ? textOfSpans(block.spans).split(/\s/) : []))

const isStacked = ({ blocks }: Cell): boolean => {
  const texts = textsOf(blocks).filter((text) => text !== "")
  return texts.length >= FEWEST_STACKED && texts.every((text) => FIGURE.test(text))
}

/** Whether several cells of a row hold as many figures each: rows that were taken for one. */
const hasStackedRow = ({ headRows, rows }: Table): boolean =>
  rows.slice(headRows).some((row) => {
    const counts = row.filter(isStacked).map(({ blocks }) => textsOf(blocks).length)
    return counts.length > 1 && new Set(counts).size === 1
  })

/** The cells of each row by column, as far as no cell spans rows; undefined where one does. */
const byColumn = ({ rows }: Table): ReadonlyArray<ReadonlyArray<Cell>> | undefined =>
  rows.some((row) => row.some(({ rowSpan }) => rowSpan > 1))
    ? undefined
    : rows.map((row) => row.flatMap((cell) => Array.from({ length: cell.colSpan }, () => cell)))

/** Whether rows differ in length, or a column of values has no name though the others have one. */
const hasLeftOver = (table: Table): boolean => {
  const rows = byColumn(table)
  const [first] = rows ?? []
  if (rows === undefined || first === undefined) return false
  if (rows.some(({ length }) => length !== first.length)) return true
  const head = rows[table.headRows - 1]
  const body = rows.slice(table.headRows)
  if (head === undefined || body.length < FEWEST_ROWS || head.length < FEWEST_ROWS) return false
  return head.some(
    ({ blocks }, at) =>
      at > 0 &&
      blocks.length === 0 &&
      body.filter((row) => (row[at]?.blocks.length ?? 0) > 0).length >= FULL * body.length
  )
}

const tablesIn = (blocks: ReadonlyArray<Block>): ReadonlyArray<Table> =>
  blocks.filter((block): block is Table => block.kind === "table")

/** Whether a table has values that fit none of its rows or columns. */
export const hasCellsLeftOver = (blocks: ReadonlyArray<Block>): boolean =>
  tablesIn(blocks).some((table) => hasStackedRow(table) || hasLeftOver(table))
