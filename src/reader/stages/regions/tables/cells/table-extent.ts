import { greatest, least } from "../../../../model/lists.ts"
import { isLabel } from "../../../lines/heading-words.ts"
import { isBoldLine, isCode, type Line, ROW_STEP } from "../../../lines/line.ts"
import { CAPTION, leadsToPages } from "../../../lines/markers.ts"
import { segmentText } from "../../../lines/segment.ts"
import { isOffGrid } from "./off-grid.ts"
import type { Column, Row } from "./table-cells.ts"

/** Most lines of one table: keeps the search linear on a page of nothing but short words. */
const MAX_LINES = 300

/** Baselines nearer than this, in font sizes, cannot be two rows. */
export const OVERLAPPING = 0.85

/**
 * A line this much larger than a table's first one is a heading; so is a bold line with this white space above, in font sizes.
 */
const LARGER = 1.15
const HEADING_STEP = 2

/**
 * True when a line between rows is a heading: it is alone at their left, and larger than they are, or bold with space
 * around it.
 */
const isHeading = ({ cells, line }: Row, above: Line, first: Row): boolean =>
  cells.length === 1 &&
  line.x0 < (first.bounds[1]?.x0 ?? Infinity) - 1 &&
  (line.size > LARGER * first.line.size ||
    (isBoldLine(line) && !isLabel(line.text) && line.baseline - above.baseline > HEADING_STEP * line.size))

/** Whether a line is the caption of what follows or ends here. */
const isCaption = ({ cells, line }: Row): boolean =>
  cells.length === 1 && CAPTION.exec(line.text)?.groups?.["number"] !== undefined

/** True when a line overlaps the one above: cells with fewer lines may be vertically centred in a row. */
const isBeside = ({ line }: Row, above: Row | undefined): boolean =>
  above !== undefined && line.baseline - above.line.baseline < OVERLAPPING * line.size

/** Whether a line is a cell of the row in which the line above is another. */
const isNextCell = (row: Row, above: Row | undefined): boolean =>
  above !== undefined && isBeside(row, above) && (row.line.x0 > above.line.x1 || row.line.x1 < above.line.x0)

/** Whether a line is of a listing: code throughout, and not in a row of words, nor below names of columns. */
const isListing = (row: Row, [above, below]: ReadonlyArray<Row | undefined>, first: Row): boolean => {
  const { cells, line } = row
  if (!isCode(line)) return false
  const listing =
    isCode(first.line) && (first.cells.length < 2 || (!isBoldLine(first.line) && !isOffGrid(first.cells)))
  const beside = isBeside(row, above) || (below !== undefined && isBeside(below, row))
  return listing || (cells.length < 2 && line.x0 <= first.line.x0 + 1 && !beside)
}

/** Greatest difference between the steps of evenly spaced rows, as a part of the step. */
const EVEN = 0.04
/** Most rows at a table's end of which only the first cell is filled. */
const MOST_LAST = 2

/** How many rows follow with nothing but a first cell: as far apart as all others, and white below them. */
export const lastRows = (
  lines: ReadonlyArray<Row>,
  to: number,
  kept: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column>
): number => {
  const steps = kept.slice(1).map(({ line }, at) => line.baseline - (kept[at]?.line.baseline ?? 0))
  const [step, next] = [least(steps), columns[1]?.x0 ?? 0]
  const first = kept.at(-1)?.line.x0 ?? 0
  const isEven = (at: number): boolean => {
    const [row, above] = [lines[at], lines[at - 1]]
    return (
      row !== undefined && above !== undefined && row.line.baseline - above.line.baseline <= step * (1 + EVEN)
    )
  }
  if (steps.length < 3 || greatest(steps) > step * (1 + EVEN)) return 0
  for (let count = 0; count <= MOST_LAST; count++) {
    const row = lines[to + count]
    if (!isEven(to + count)) return count
    if (row === undefined || row.cells.length > 1 || isBoldLine(row.line)) return 0
    if (Math.abs(row.line.x0 - first) > 1 || row.line.x1 > next - row.line.size) return 0
  }
  return 0
}

/** White space between rows, in font sizes, that a table may have where cells begin below those above. */
export const SAME_ROWS_APART = 9
/** How many do, one below the other within this many points. */
const SAME_COLUMNS = 3
const SAME_EDGE = 1

/** True when a row has cells below those of a table's first one: pictures in others may be between them. */
const continuesColumns = ({ bounds }: Row, first: Row): boolean =>
  bounds.length === first.bounds.length &&
  bounds.filter(({ x0 }, at) => Math.abs(x0 - (first.bounds[at]?.x0 ?? 0)) < SAME_EDGE).length >= SAME_COLUMNS

/** Greatest step between lines of one cell, in font sizes. */
export const CELL_STEP = 1.35

/** Most lines with one cell, one below the other, within a table. */
const MAX_SINGLE = 3

/**
 * Number of lines behind a table's last row that continue one of its cells other than the first: they begin at its left
 * edge, at the step of a cell's lines. Where text begins there, too, they belong to the text.
 */
const linesBelow = (lines: ReadonlyArray<Row>, to: number): number => {
  const cells = lines[to - 1]?.bounds.slice(1) ?? []
  const isBelow = (row: Row | undefined): boolean =>
    row?.cells.length === 1 && cells.some(({ x0 }) => Math.abs(row.line.x0 - x0) < SAME_EDGE)
  const far = lines.slice(to, to + MAX_SINGLE + 1).findIndex((row, at) => {
    const step = row.line.baseline - (lines[to + at - 1]?.line.baseline ?? 0)
    return !isBelow(row) || step >= CELL_STEP * row.line.size
  })
  const count = far === -1 ? lines.length - to : far
  return count > MAX_SINGLE || isBelow(lines[to + count]) ? 0 : count
}

/** The line after the last that may belong to a table: as far as lines have several cells, with some between that could be the rest of one. */
export const endOf = (lines: ReadonlyArray<Row>, from: number, first: Row): number => {
  let end = from
  let several = from
  let single = 0
  for (; end < Math.min(lines.length, from + MAX_LINES); end++) {
    const row = lines[end]
    const above = lines[end - 1]
    if (row === undefined) break
    const most = continuesColumns(row, first) ? SAME_ROWS_APART : ROW_STEP
    if (end > from && above !== undefined && row.line.baseline - above.line.baseline > most * row.line.size)
      break
    if (end > from && above !== undefined && (isHeading(row, above.line, first) || isCaption(row))) break
    if (isListing(row, [above, lines[end + 1]], first) || leadsToPages(row.line.segments.map(segmentText)))
      break
    if (row.cells.length > 1 || isNextCell(row, above)) several = end + 1
    single = several > end ? 0 : isBeside(row, above) ? single : single + 1
    if (single > MAX_SINGLE) break
  }
  // The last lines of a wrapped cell are below those of its neighbours.
  for (; several < end; several++) {
    const row = lines[several]
    if (row === undefined || !isBeside(row, lines[several - 1])) break
  }
  return several + linesBelow(lines, several)
}
