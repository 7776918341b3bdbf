import { greatest, least } from "../../../lists.ts"
import type { Column } from "./columns.ts"

/** How far widths of white, and ends of lines, differ at most, points. */
const EVEN = 1

const areEven = (places: ReadonlyArray<number>): boolean => greatest(places) - least(places) < EVEN

/**
 * Whether most rows are lines of few words that are justified all the same, as those are which end at a break: all white in a line
 * is as wide, that of one line is not as wide as that of another, and all reach from one margin to the other.
 */
export const areJustified = (rows: ReadonlyArray<ReadonlyArray<Column>>): boolean => {
  const lines = rows.filter(({ length }) => length > 2)
  const whites = lines.map((row) => row.slice(1).map(({ x0 }, at) => x0 - (row[at]?.x1 ?? x0)))
  const even = whites.filter(areEven).map(least)
  return (
    even.length > 0.5 * lines.length &&
    !areEven(even) &&
    areEven(lines.map(([first]) => first?.x0 ?? 0)) &&
    areEven(lines.map((row) => row.at(-1)?.x1 ?? 0))
  )
}
