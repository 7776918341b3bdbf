import type { PageContent } from "../../page-content.ts"
import { crosses } from "../geometry.ts"
import type { Line } from "../lines/line.ts"
import { isBoldLine } from "../statistics.ts"
import { NEAR } from "./grid-cells.ts"
import { rulesOf } from "./rules.ts"

/** How near a table's first row stands to the names of its columns, in font sizes, and how many columns are sure to be a table's. */
const NAMES_STEP = 3.6
const NAMES = 3

/** Whether bold words in columns stand right above a row of others. */
const standAboveRow = (row: Line, below: Line): boolean =>
  row.segments.length >= NAMES &&
  below.segments.length > 1 &&
  isBoldLine(row) &&
  !isBoldLine(below) &&
  below.baseline - row.baseline < NAMES_STEP * row.size

/**
 * Whether an upright rule goes through the white between a row's words and past those of the row below, and on beyond the margin: a
 * table's, where one that stands in the margin as a whole ends with it. The row below may fill one column alone.
 */
const standInGrid = (row: Line, below: Line, page: PageContent, margin: number): boolean => {
  const isOver = ({ segments }: Line, x: number) => segments.some((segment) => crosses(segment, x, NEAR))
  const between = ({ segments }: Line, x: number) =>
    segments.some(({ x1 }) => x1 < x + NEAR) && segments.some(({ x0 }) => x0 > x - NEAR)
  return rulesOf(page.drawings, page.width, page.height).down.some(
    ({ at, from, to }) =>
      from < row.baseline && to > Math.max(margin, below.baseline) && between(row, at) && !isOver(below, at)
  )
}

/** Whether a line that stands on top of every page names the columns of a table which goes on below it, down from a margin's end. */
export const namesColumns = (
  row: Line,
  below: Line | undefined,
  page: PageContent,
  margin: number
): boolean => below !== undefined && (standAboveRow(row, below) || standInGrid(row, below, page, margin))
