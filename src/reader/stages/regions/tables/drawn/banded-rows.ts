import { addTo } from "../../../../model/lists.ts"
import type { FontFace } from "../../../../model/page-content.ts"
import { isBold, type Segment } from "../../../lines/segment.ts"
import { type Column, columnsOf, columnsUnder, type RawCell, usualCount } from "../cells/table-cells.ts"
import { slotOf } from "../grid/grid-cells.ts"
import { share, stacksNumbers } from "./drawn-evidence.ts"
import { Beginnings, cutBefore, type DrawnRow, rowsOf, usualStep } from "./drawn-rows.ts"
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
  const rows: Array<DrawnRow> = []
  for (let band = 0; band < ys.length - 1; band++) {
    const [row, more] = rowsOf(bands.get(band) ?? [], looks).flat()
    if (more !== undefined || stacksNumbers(row?.cells ?? [])) return undefined
    if (row !== undefined) rows.push(row)
  }
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
