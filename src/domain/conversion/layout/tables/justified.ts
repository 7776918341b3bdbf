import { greatest, least } from "../../../lists.ts"
import type { Column } from "./columns.ts"

/** How far the widths of white in a justified line differ at most, points; lines of a table have the same white, not each its own. */
const EVEN = 1

/**
 * Whether most rows are lines of few words that are justified all the same, as those are which end at a break: all white in a line
 * is as wide, and that of one line is not as wide as that of another.
 */
export const areJustified = (rows: ReadonlyArray<ReadonlyArray<Column>>): boolean => {
  const whites = rows
    .filter(({ length }) => length > 2)
    .map((row) => row.slice(1).map(({ x0 }, at) => x0 - (row[at]?.x1 ?? x0)))
  const even = whites.filter((white) => greatest(white) - least(white) < EVEN).map(least)
  return even.length > 0.5 * whites.length && greatest(even) - least(even) > EVEN
}
