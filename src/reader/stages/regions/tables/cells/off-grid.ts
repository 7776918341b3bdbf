import { type Segment, piecesOf } from "../../../lines/segment.ts"
import { NUMERIC, wordsOf } from "./table-cells.ts"

type Cells = ReadonlyArray<ReadonlyArray<Segment>>

/** Marks of a word processor's ruler, points: a quarter of an inch, half a centimetre, 1.25. Rounding sets words this far off. */
const MARKS = [18, 14.173, 35.433]
const OFF_MARK = 0.2

/** True when this distance, in points, may come from a tabulator: it ends at a mark of the ruler. */
export const isAtMark = (apart: number): boolean =>
  MARKS.some((mark) => Math.abs(apart - mark * Math.round(apart / mark)) < OFF_MARK)

/** How far from the grid of letters something begins that is not on it, in letters. */
const OFF_GRID = 0.2

/**
 * True when cells of code are in columns: the letters of a listing's line are on one grid, including spaces, but for a
 * line number before it and words behind a tabulator.
 */
export const isOffGrid = (cells: Cells): boolean => {
  const [first, ...others] = cells.flatMap((cell) => {
    const words = piecesOf(cell).find(({ text }) => !NUMERIC.test(text))
    return words === undefined ? [] : [words]
  })
  if (first === undefined) return false
  const letter = (first.x1 - first.x0) / first.text.trimEnd().length
  return others.some(({ x0 }) => {
    const steps = (x0 - first.x0) / letter
    return Math.abs(steps - Math.round(steps)) > OFF_GRID && !isAtMark(x0 - first.x0)
  })
}

/** Part of the characters that are signs, from which on they are a program's. */
const SIGNS = 0.15

/**
 * True when rows in a face of code are words in columns, and not lines of a listing, which may have comments anywhere.
 */
export const areWordsInColumns = (rows: ReadonlyArray<Cells>): boolean => {
  const filled = rows.map((row) => row.filter(({ length }) => length > 0))
  const several = filled.filter(({ length }) => length > 1)
  const text = filled.flatMap((row) => row.map(wordsOf)).join("")
  const signs = text.match(/[^\p{L}\p{N}\s]/gu)?.length ?? 0
  return 2 * several.filter(isOffGrid).length > several.length && signs < SIGNS * text.length
}
