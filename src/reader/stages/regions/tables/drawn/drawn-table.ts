import { acrossOf, hull, middleX, middleY } from "../../../../model/geometry.ts"
import { addTo } from "../../../../model/lists.ts"
import type { FontFace, Box } from "../../../../model/page-content.ts"
import { CAPTION } from "../../../lines/markers.ts"
import { isBold, partOf, type Segment, charactersOf } from "../../../lines/segment.ts"
import { isBracketPart } from "../../formulas/zones.ts"
import {
  type Column,
  columnsOf,
  overlaps,
  type RawCell,
  columnsUnder,
  filled,
  wordsOf
} from "../cells/table-cells.ts"
import { OVERLAPPING, SAME_ROWS_APART } from "../cells/table-extent.ts"
import { ALIGNED, share, isSection, hasNames, columnsIn, isTable } from "./drawn-evidence.ts"
import { Beginnings, cutBefore, type Drawn, type DrawnRow, rowsOf, usualStep } from "./drawn-rows.ts"
import { withoutTitle } from "./row-titles.ts"

/**
 * Tables without rules, by drawing order: programs draw one cell after the other, all lines of a cell together, and row
 * after row. The order shows which lines make up a cell, however cells are aligned and however near they are.
 */
export interface DrawnTable extends Box {
  readonly segments: ReadonlyArray<Segment>
  readonly rows: ReadonlyArray<ReadonlyArray<RawCell>>
}

/** White between rows, in font sizes, that a table does not have, unless cells begin where those above do. */
const ROWS_APART = 5
/** Margin around a table within which words belong to it, in font sizes: lines are further apart. */
const NEARLY = 0.4
/** Most tables of a page, and most rows of one. */
const MAX_TABLES = 60
const MAX_ROWS = 400
/** Limit on visited rows per page, repeated visits included. Above it, the search for drawn tables ends. */
const MAX_VISITS = 20_000
/** Cuts cells that are as near as words between columns, unless words span both. */
const cutAtColumns = (cell: Drawn, columns: ReadonlyArray<Column>): ReadonlyArray<Drawn> => {
  if (columns.filter((column) => overlaps(column, cell)).length < 2) return [cell]
  const parts = new Map<number, Array<Segment>>()
  for (const segment of cell.segments) {
    const inColumns = Map.groupBy(segment.pieces, (piece) => {
      const over = columns.flatMap((column, at) => (overlaps(column, piece) ? [at] : []))
      return over.length === 1 ? (over[0] ?? -1) : -1
    })
    if (inColumns.has(-1)) return [cell]
    for (const [column, pieces] of inColumns) addTo(parts, column, partOf(segment, pieces))
  }
  return [...parts]
    .sort(([a], [b]) => a - b)
    .map(([, segments]) => ({
      ...cell,
      segments,
      ...acrossOf(segments)
    }))
}

/** The cells of a row in their columns. */
export const placedIn = ({ cells }: DrawnRow, columns: ReadonlyArray<Column>): ReadonlyArray<RawCell> =>
  filled(
    cells
      .flatMap((one) => cutAtColumns(one, columns))
      .map((cell) => ({ segments: cell.segments, ...columnsUnder(cell, columns) })),
    columns.length
  )

/** Ratio of sizes to the first row from which on a line is a heading. */
const LARGER = 1.15

const isCaption = ({ segments }: Drawn): boolean =>
  CAPTION.exec(wordsOf(segments))?.groups?.["number"] !== undefined

/** True when a row of one cell may belong to a table: it is in one of its columns, and is no heading and no caption. */
const isPartly = (
  { cells: [cell] }: DrawnRow,
  columns: ReadonlyArray<Column>,
  first: DrawnRow,
  fonts: ReadonlyArray<FontFace>
): boolean =>
  cell !== undefined &&
  columns.filter((column) => overlaps(column, cell)).length <= 1 &&
  cell.size <= LARGER * (first.cells[0]?.size ?? 0) &&
  share([cell], fonts, isBold) < 1 &&
  !isCaption(cell)

/** True when at least three cells of a row begin where columns do. */
const continuesColumns = ({ cells }: DrawnRow, columns: ReadonlyArray<Column>): boolean =>
  cells.filter(({ x0 }) => columns.some((column) => Math.abs(column.x0 - x0) < ALIGNED)).length > 2

/** Whether a row is a section's heading, bold or larger than the row that a table begins with. */
const isHeading = (row: DrawnRow, first: DrawnRow, fonts: ReadonlyArray<FontFace>): boolean =>
  isSection(row) &&
  (share(row.cells, fonts, isBold) === 1 || (row.cells[0]?.size ?? 0) > LARGER * (first.cells[0]?.size ?? 0))

/** The row after the last that may belong to the table which begins with a row. */
const endOf = (rows: ReadonlyArray<DrawnRow>, from: number, fonts: ReadonlyArray<FontFace>): number => {
  const first = rows[from]
  if (first === undefined) return from
  let columns = columnsOf(first.cells)
  const headed = hasNames(rows.slice(from, from + 2), fonts)
  let [to, several] = [from + 1, from + 1]
  for (; to < Math.min(rows.length, from + MAX_ROWS); to++) {
    const [row, above] = [rows[to], rows[to - 1]]
    if (row === undefined || above === undefined) break
    const apart = continuesColumns(row, columns) ? SAME_ROWS_APART : ROWS_APART
    if (row.top - above.bottom > apart * (row.cells[0]?.size ?? 0) || isHeading(row, first, fonts)) break
    // A second row of names begins another table.
    if (headed && row.cells.length > 1 && share(row.cells, fonts, isBold) === 1) break
    if (row.cells.length > 1) {
      columns = columnsOf([...columns, ...row.cells])
      several = to + 1
    } else if (!isPartly(row, columns, first, fonts)) break
  }
  return several
}

/**
 * True when a row has column names. Names that are as near as words form one cell at first, with each word over one of
 * the columns.
 */
const areNames = (row: DrawnRow | undefined, columns: ReadonlyArray<Column>, below: DrawnRow): boolean => {
  const [cell, more] = row?.cells ?? []
  return (
    row !== undefined &&
    cell !== undefined &&
    more === undefined &&
    below.top - row.bottom < ROWS_APART * cell.size &&
    cell.first === cell.last &&
    columns.length > 2 &&
    cutAtColumns(cell, columns).length === columns.length
  )
}

/** Undefined where a part of a cut segment is outside. */
const tableOfRows = (
  rows: ReadonlyArray<DrawnRow>,
  columns: ReadonlyArray<Column>,
  origins: ReadonlyMap<Segment, Segment>
): DrawnTable | undefined => {
  const parts = rows.flatMap(({ cells }) => cells.flatMap((cell) => cell.segments))
  const segments = [...new Set(parts.map((part) => origins.get(part) ?? part))]
  if (charactersOf(segments) !== charactersOf(parts)) return undefined
  return {
    rows: rows.map((row) => placedIn(row, columns)),
    segments,
    ...hull(parts)
  }
}

/** True when no row overlaps the one above it. An overlap shows that lines are drawn in order, and not cells. */
const isInOrder = (rows: ReadonlyArray<DrawnRow>, from: number, to: number): boolean => {
  for (let at = Math.max(1, from); at <= Math.min(to, rows.length - 1); at++) {
    const [row, above] = [rows[at], rows[at - 1]]
    if (row === undefined || above === undefined) continue
    if (row.top - above.bottom < OVERLAPPING * (row.cells[0]?.size ?? 0)) return false
  }
  return true
}

/** Rows up to the first one, apart from the header, with words across columns. */
const withoutText = (
  rows: ReadonlyArray<DrawnRow>,
  columns: ReadonlyArray<Column>
): ReadonlyArray<DrawnRow> => {
  const text = rows.findIndex(
    ({ cells }, at) =>
      at > 1 &&
      cells.some((cell) => {
        const over = columns.filter((column) => overlaps(column, cell)).length
        return over > 1 && cutAtColumns(cell, columns).length < over
      })
  )
  return text === -1 ? rows : rows.slice(0, text)
}

/** The table of rows, if they make up one. */
const madeOf = (
  rows: ReadonlyArray<DrawnRow>,
  from: number,
  to: number,
  {
    fonts,
    origins
  }: { readonly fonts: ReadonlyArray<FontFace>; readonly origins: ReadonlyMap<Segment, Segment> }
): { readonly table: DrawnTable; readonly to: number } | undefined => {
  const all = rows.slice(from, to)
  const [first, before] = [rows[from], rows[from - 1]]
  const found = columnsIn(all, fonts)
  const of = found === undefined ? all : withoutText(all, found)
  const columns = of.length === all.length ? found : columnsIn(of, fonts)
  if (first === undefined || columns === undefined || !isTable(of, columns, fonts)) return undefined
  const named = before !== undefined && areNames(before, columns, first)
  const table = tableOfRows(named ? [before, ...of] : of, columns, origins)
  return table === undefined ? undefined : { table, to: from + of.length }
}

/**
 * True when a table holds all segments within it: segments that were drawn at another time show that cells are not
 * drawn in order.
 */
const isWhole = ({ segments, x0, x1, y0, y1 }: DrawnTable, all: ReadonlyArray<Segment>): boolean => {
  const own = new Set(segments)
  return !all.some((segment) => {
    const [x, y] = [middleX(segment), middleY(segment)]
    const near = NEARLY * segment.size
    return x > x0 && x < x1 && y > y0 - near && y < y1 + near && !own.has(segment)
  })
}

/** Greatest distance of a bracket from the rows of its matrix, in font sizes: wider rows may be between them. */
const BESIDE = 2

/** True when rows are right behind a bracket that is drawn in parts, at the same height: a matrix. */
const isMatrix = ({ x0, y0, y1 }: DrawnTable, all: ReadonlyArray<Segment>): boolean =>
  all.some(
    ({ baseline, pieces, size }) =>
      baseline > y0 &&
      baseline < y1 &&
      pieces.some((piece) => isBracketPart(piece.text) && Math.abs(piece.x0 - x0) < BESIDE * size)
  )

/** The page's tables that the order of drawing shows. Linear in the segments, but for sorting. */
export const drawnTables = (
  segments: ReadonlyArray<Segment>,
  fonts: ReadonlyArray<FontFace>
): ReadonlyArray<DrawnTable> => {
  const places = new Beginnings(segments, fonts)
  const origins = new Map<Segment, Segment>()
  for (const segment of segments) for (const part of cutBefore(segment, places)) origins.set(part, segment)
  const tables: Array<DrawnTable> = []
  let visits = MAX_VISITS
  const sequences = rowsOf([...origins.keys()], { fonts, places, step: usualStep(segments) })
  for (const rows of sequences.map((all) => all.flatMap((row) => withoutTitle(row, fonts))))
    for (let at = 0; at < rows.length && visits > 0;) {
      const first = rows[at]
      if (first === undefined || first.cells.length < 2 || isHeading(first, rows[at + 1] ?? first, fonts)) {
        at += 1
        continue
      }
      const to = endOf(rows, at, fonts)
      visits -= to - at
      const inOrder = isInOrder(rows, at, to)
      const made = inOrder ? madeOf(rows, at, to, { fonts, origins }) : undefined
      if (made !== undefined && tables.length < MAX_TABLES && isWhole(made.table, segments))
        if (!isMatrix(made.table, segments)) tables.push(made.table)
      // Rows like the first one are not a table either.
      let next = inOrder && made === undefined ? at + 1 : (made?.to ?? to)
      while (made === undefined && next < to && rows[next]?.cells.length === first.cells.length) next += 1
      at = next
    }
  return tables
}
