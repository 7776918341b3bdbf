import { addTo, append, greatest, least } from "../../../../model/lists.ts"
import type { FontFace } from "../../../../model/page-content.ts"
import { isBold, type Segment } from "../../../lines/segment.ts"
import {
  type Column,
  columnsOf,
  columnsUnder,
  overlaps,
  type RawCell,
  usualCount
} from "../cells/table-cells.ts"
import { slotOf } from "../grid/grid-cells.ts"
import { share, stacksNumbers } from "./drawn-evidence.ts"
import { Beginnings, cutBefore, type Drawn, type DrawnRow, rowsOf, usualStep } from "./drawn-rows.ts"
import { placedIn } from "./drawn-table.ts"

/** Fewest rows that show that a rule is below each of them, and the part of them that fill all columns. */
const FEWEST = 3
const MOSTLY = 0.5

/** Whether a row's only cell names the group of rows below it: in bold, or over several columns. */
const isGroupName = (
  { cells: [cell, more] }: DrawnRow,
  columns: ReadonlyArray<Column>,
  fonts: ReadonlyArray<FontFace>
): boolean =>
  cell !== undefined &&
  more === undefined &&
  (share([cell], fonts, isBold) === 1 || columnsUnder(cell, columns).over.length > 1)

/** The lines between two rules as one row: the lines of one column are one cell. */
const joined = (lines: ReadonlyArray<DrawnRow>): DrawnRow => {
  const cells: Array<Drawn> = []
  for (const cell of lines.flatMap((line) => line.cells)) {
    const own = cells.find((one) => overlaps(one, cell))
    if (own === undefined) cells.push({ ...cell, segments: [...cell.segments] })
    else {
      append(own.segments, cell.segments)
      own.x0 = Math.min(own.x0, cell.x0)
      own.x1 = Math.max(own.x1, cell.x1)
      own.last = cell.last
      own.end = cell.end
    }
  }
  return {
    cells: cells.toSorted((a, b) => a.x0 - b.x0),
    top: least(lines.map(({ top }) => top)),
    bottom: greatest(lines.map(({ bottom }) => bottom)),
    right: greatest(lines.map(({ right }) => right))
  }
}

/**
 * Tells one row with wrapped cells from several rows, where the columns between two rules have different numbers of lines: wrapped lines
 * leave the first column empty.
 */
const shownBy = (lines: ReadonlyArray<DrawnRow>): "row" | "rows" | undefined => {
  const [first, ...others] = joined(lines).cells
  const counts = others.map(
    ({ segments }) => new Set(segments.map(({ baseline }) => Math.round(baseline))).size
  )
  if (first === undefined || new Set(counts).size < 2) return undefined
  return lines.every(({ cells }) => cells.some((cell) => overlaps(cell, first))) ? "rows" : "row"
}

/**
 * The rows of a table with a rule below each of them: the cells between two rules are one row, however they wrap.
 * Undefined where several rows are between two rules.
 */
export const bandedRows = (
  ys: ReadonlyArray<number>,
  segments: ReadonlyArray<Segment>,
  fonts: ReadonlyArray<FontFace>
): ReadonlyArray<ReadonlyArray<RawCell>> | undefined => {
  const looks = { fonts, places: new Beginnings(segments, fonts), step: usualStep(segments) }
  const bands = new Map<number, Array<Segment>>()
  for (const segment of segments)
    for (const part of cutBefore(segment, looks.places)) addTo(bands, slotOf(ys, segment.baseline), part)
  const lines = Array.from({ length: ys.length - 1 }, (_, band) =>
    rowsOf(bands.get(band) ?? [], looks).flat()
  )
  const several = lines.filter(({ length }) => length > 1)
  const shown = several.map(shownBy)
  if (shown.includes("rows") || shown.filter((one) => one === "row").length < MOSTLY * several.length)
    return undefined
  const rows = lines.filter(({ length }) => length > 0).map(joined)
  if (rows.some(({ cells }) => stacksNumbers(cells))) return undefined
  const usual = usualCount(rows)
  const full = rows.filter(({ cells }) => cells.length === usual)
  // Names of columns may be as near as words.
  const columns = [full, full.filter((row) => row !== rows[0])]
    .map((of) => columnsOf(of.flatMap(({ cells }) => cells)))
    .find(({ length }) => length === usual)
  if (columns === undefined || rows.length < FEWEST || full.length < MOSTLY * rows.length) return undefined
  return rows.map((row) =>
    isGroupName(row, columns, fonts)
      ? [{ segments: row.cells.flatMap((cell) => cell.segments), colSpan: columns.length, rowSpan: 1 }]
      : placedIn(row, columns)
  )
}
