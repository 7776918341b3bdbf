/** Several rows between two rules: their cells have as many lines each, on the same baselines, and figures in some of them. */
import { SAME_LINE } from "../../../lines/line.ts"
import { hasWords } from "../../../lines/segment.ts"
import { NUMERIC, type RawCell } from "./table-cells.ts"
import type { Looks } from "./table-head.ts"

/** Most lines between two rules that are rows; more are a page of text beside another one. */
const MOST_LINES = 40
/** Longest line of words that is a cell of its own, characters. */
const MAX_WORDS = 60

/** A line that goes on from the one above: its words begin small, or with a sign that no cell begins with. */
const GOES_ON = /^[\p{Ll}&)\]/–—]/u

const isCellOf = (text: string): boolean => text.length <= MAX_WORDS && !GOES_ON.test(text)

/** Into how many rows the cells of one row fall; 1 where they are one. */
const rowsIn = (row: ReadonlyArray<RawCell>, looks: ReadonlyArray<Looks>): number => {
  const filled = looks.filter(({ lines }) => lines.length > 0)
  const [first] = filled
  const count = first?.lines.length ?? 0
  if (first === undefined || filled.length < 2 || count < 2 || count > MOST_LINES) return 1
  const isSimple = row.every(
    ({ colSpan, rowSpan, segments }) => colSpan === 1 && rowSpan === 1 && segments.every(hasWords)
  )
  if (!isSimple || filled.some(({ lines }) => lines.length !== count)) return 1
  const isLevel = first.lines.every((line, at) =>
    filled.every(({ lines }) => {
      const other = lines[at]
      return (
        other !== undefined &&
        Math.abs(other.baseline - line.baseline) <= SAME_LINE * Math.max(other.size, line.size)
      )
    })
  )
  const isOfFigures = ({ lines }: Looks) => lines.every(({ text }) => NUMERIC.test(text.trim()))
  const isOfCells = ({ lines }: Looks) =>
    lines.every(({ hyphenated, text }) => !hyphenated && isCellOf(text.trim()))
  return isLevel && filled.some(isOfFigures) && filled.every(isOfCells) ? count : 1
}

/** The rows, each of those apart that stand between the same two rules; `first`: rows before it are a known head. */
export const bandRows = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  looks: ReadonlyArray<ReadonlyArray<Looks>>,
  first: number
): ReadonlyArray<ReadonlyArray<RawCell>> => {
  let below = first
  return rows.flatMap((row, at) => {
    const isFree = at >= below
    for (const { rowSpan } of row) if (rowSpan > 1) below = Math.max(below, at + rowSpan)
    const count = isFree ? rowsIn(row, looks[at] ?? []) : 1
    if (count === 1) return [row]
    return Array.from({ length: count }, (_, line) =>
      row.map((cell, column) => ({ ...cell, segments: looks[at]?.[column]?.lines[line]?.segments ?? [] }))
    )
  })
}
