import { type Block, type Cell, type Table, textOfSpans } from "../../model/block.ts"
import { centreIn } from "../../model/geometry.ts"
import type { Drawing } from "../../model/page-content.ts"

/** Fewest figures below one another in cells of a row from which on these are rows themselves. */
const FEWEST_STACKED = 3
const NO_CELL: Cell = { blocks: [], header: undefined, colSpan: 1, rowSpan: 1 }

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

const isEmpty = ({ blocks }: Cell): boolean => blocks.length === 0

/** Where the cells of a row begin that go over several columns and hold words, and over how many they go. */
const spansIn = (row: ReadonlyArray<Cell>): ReadonlyArray<string> => {
  let at = 0
  return row.flatMap((cell) => {
    at += cell.colSpan
    return cell.colSpan > 1 && !isEmpty(cell) ? [`${at - cell.colSpan}:${cell.colSpan}`] : []
  })
}

/**
 * Whether rows differ in length, or a cell of values goes over several columns but not over all. What a name goes over, too, or what
 * `isDrawn` shows in a grid, is one cell.
 */
const hasUneven = (table: Table, isDrawn: boolean): boolean => {
  const rows = byColumn(table)
  const [first] = rows ?? []
  if (rows === undefined || first === undefined) return false
  if (rows.some(({ length }) => length !== first.length)) return true
  if (isDrawn) return false
  const named = new Set(table.rows.slice(0, table.headRows).flatMap(spansIn))
  return table.rows
    .slice(table.headRows)
    .some((row) => row.length > 1 && spansIn(row).some((span) => !named.has(span)))
}

/** Whether a column has no name though others have one. The first one names rows; a name that is alone is that of all that is below. */
const hasNameless = ({ headRows, rows }: Table): boolean => {
  const names = rows[headRows - 1] ?? []
  return names.slice(1).some(isEmpty) && names.filter((name) => !isEmpty(name)).length > 1
}

const textOf = (cell: Cell | undefined): string =>
  cell === undefined ? "" : textsOf(cell.blocks).join(" ").trim()

/** Fewest rows of one cell that are left over, and fewest cells with a capital that show how cells of a column begin. */
const FEWEST_LONE = 2
const FEWEST_CAPITALS = 2

/** Whether a cell continues the one above it, in a row that is not full: two lines of one row were taken for two. */
const continues = (row: ReadonlyArray<Cell>, above: ReadonlyArray<Cell>, body: Table["rows"]): boolean =>
  row.length > 1 &&
  row.some(isEmpty) &&
  row.some((cell, at) => {
    if (!/^\p{Ll}/u.test(textOf(cell)) || !/[\p{L}\p{N},]$/u.test(textOf(above[at]))) return false
    const capitals = body.filter((one) => one.length === row.length && /^\p{Lu}/u.test(textOf(one[at])))
    return capitals.length >= FEWEST_CAPITALS
  })

/** Whether lines of one row were taken for rows: one goes on in the next, or several have a single cell that names nothing. */
const hasTornRow = ({ headRows, rows }: Table): boolean => {
  const body = rows.slice(headRows)
  const below = body.slice(1)
  const lone = below.filter(
    (row) => row.length > 1 && isEmpty(row[0] ?? NO_CELL) && row.filter((cell) => !isEmpty(cell)).length === 1
  )
  return lone.length >= FEWEST_LONE || below.some((row, at) => continues(row, body[at] ?? [], body))
}

const tablesIn = (blocks: ReadonlyArray<Block>): ReadonlyArray<Table> =>
  blocks.filter((block): block is Table => block.kind === "table")

/** Greatest width of an upright rule, its least height, and the fewest that are a grid's, in points: its sides and one between. */
const THIN = 2
const TALL = 6
const FEWEST_UPRIGHT = 3
/** How far a rule is from the words of its table, in points. */
const AROUND = 12

/** Whether upright rules part a table's columns. */
const isDrawn = ({ reason }: Table, drawings: ReadonlyArray<Drawing>): boolean => {
  const [x0, y0, x1, y1] = ["x0", "y0", "x1", "y1"].map((side) => Number(reason?.evidence?.[side]))
  if (x0 === undefined || y0 === undefined || x1 === undefined || y1 === undefined) return false
  const area = { x0: x0 - AROUND, y0: y0 - AROUND, x1: x1 + AROUND, y1: y1 + AROUND }
  const upright = drawings.filter(
    ({ box }) => box.x1 - box.x0 < THIN && box.y1 - box.y0 > TALL && centreIn(box, area)
  )
  return new Set(upright.map(({ box }) => Math.round(box.x0 / THIN))).size >= FEWEST_UPRIGHT
}

/** Whether what goes over several rows says nothing: their name is on another page, or lost. A corner is above the rows. */
const hasUnnamedRows = ({ headRows, rows }: Table): boolean =>
  rows.slice(headRows).some((row) => row.some((cell) => cell.rowSpan > 1 && isEmpty(cell)))

/** Whether a table has values that fit none of its rows or columns. A grid shows its rows and columns. */
export const hasCellsLeftOver = (blocks: ReadonlyArray<Block>, drawings: ReadonlyArray<Drawing>): boolean =>
  tablesIn(blocks).some((table) => {
    const drawn = isDrawn(table, drawings)
    return (
      hasStackedRow(table) ||
      hasUnnamedRows(table) ||
      hasUneven(table, drawn) ||
      (!drawn && (hasNameless(table) || hasTornRow(table)))
    )
  })
