import type { PageContent } from "../../model/page-content.ts"
import { isBoldLine, type Line } from "../lines/line.ts"
import { NEAR } from "../regions/tables/grid/grid-cells.ts"
import { rulesOf } from "../regions/tables/grid/rules.ts"

/**
 * Greatest distance of a table's first row from the column names, in font sizes, and the number of columns that is
 * certainly a table.
 */
const NAMES_STEP = 3.6
const NAMES = 3

/** True when bold words in columns are right above a row of others. */
const standAboveRow = (row: Line, below: Line): boolean =>
  row.segments.length >= NAMES &&
  below.segments.length > 1 &&
  isBoldLine(row) &&
  !isBoldLine(below) &&
  below.baseline - row.baseline < NAMES_STEP * row.size

/**
 * True when an upright rule goes through the gap between a row's words, past the row below, and on beyond the margin: a
 * table's rule. A rule within the margin ends with it. The row below may fill one column alone.
 */
const standInGrid = ({ baseline, segments }: Line, below: Line, page: PageContent, margin: number): boolean =>
  rulesOf(page.drawings, page.width, page.height).down.some(
    ({ at, from, to }) =>
      from < baseline &&
      to > Math.max(margin, below.baseline) &&
      segments.some(({ x1 }) => x1 < at + NEAR) &&
      segments.some(({ x0 }) => x0 > at - NEAR)
  )

/**
 * True when a line on top of every page names the columns of a table that continues below it, down from the margin's
 * end.
 */
export const namesColumns = (
  row: Line,
  below: Line | undefined,
  page: PageContent,
  margin: number
): boolean => below !== undefined && (standAboveRow(row, below) || standInGrid(row, below, page, margin))
