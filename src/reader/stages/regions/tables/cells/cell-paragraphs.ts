import { least } from "../../../../model/lists.ts"
import type { Line } from "../../../lines/line.ts"
import { markerOf } from "../../../lines/markers.ts"
import { gapsIn, piecesOf } from "../../../lines/segment.ts"
import { wordsIn } from "./narrow-columns.ts"
import type { RawCell } from "./table-cells.ts"
import { OVERLAPPING } from "./table-extent.ts"

/** Lines of one paragraph are not further apart than the nearest ones of their cell, by this factor; of two lines, in font sizes. */
const APART = 1.35
const ALONE = 2.2
/** The space before a word, and what a line may be short of its cell though no word was kept for the next, in font sizes. */
const SPACE = 0.4
const SHORT = 1

/** Number of words from which on a line is text, which continues unless it ends in a closing sign. */
const TEXT = 4
const CLOSES = /[.:;!?)\]}"”’»。：；！？]$/u
/** White between words, in font sizes, that parts of one word have not. */
const WITHIN = 0.15

/** Width of a line's first word, which may be set in several faces. */
const firstWord = ({ segments, size }: Line): number => {
  const [first, ...more] = wordsIn(piecesOf(segments))
  let end = first?.x1 ?? Infinity
  for (const { x0, x1 } of more) {
    if (x0 - end > WITHIN * size) break
    end = x1
  }
  return end - (first?.x0 ?? 0)
}

/** True when a line's first word had room on the line above: a deliberate new line, unless a text continues there. */
const hadRoom = (above: Line, line: Line, right: number): boolean => {
  const text = above.text.trim()
  // Letters above others are not a line.
  if (line.baseline - above.baseline < OVERLAPPING * line.size) return false
  const isOpen = text.split(/\s+/).length >= TEXT && !CLOSES.test(text)
  if (isOpen || above.segments.at(-1)?.hyphenated === true || /[-‐–]$/u.test(text)) return false
  return above.x1 + (SPACE + SHORT) * above.size + firstWord(line) < right
}

/** White space between two cells of a table within a cell, in font sizes. */
const CELLS_APART = 1.6

/** Whether a line is cells of a table within a cell. */
const inCells = ({ segments, size }: Line): boolean =>
  gapsIn(segments).some((gap) => gap > CELLS_APART * size)

/**
 * The lines of each paragraph of a cell: items of a list, lines with space above, and new lines where the next word had
 * room on the last. `right`: greatest right edge of lines, where rules show it.
 */
export const paragraphsIn = (
  lines: ReadonlyArray<Line>,
  right: number | undefined
): ReadonlyArray<ReadonlyArray<Line>> => {
  const steps = lines.slice(1).map(({ baseline }, at) => baseline - (lines[at]?.baseline ?? 0))
  const nearest = least(steps)
  const most = (size: number): number => (steps.length > 1 ? APART * Math.max(size, nearest) : ALONE * size)
  const groups: Array<Array<Line>> = []
  for (const [at, line] of lines.entries()) {
    const [above, marker] = [lines[at - 1], markerOf(line.text)]
    const begins =
      above === undefined ||
      (marker !== undefined && !marker.ordered) ||
      (inCells(line) && inCells(above)) ||
      line.baseline - above.baseline > most(line.size) ||
      (right !== undefined && hadRoom(above, line, right))
    if (begins) groups.push([line])
    else groups.at(-1)?.push(line)
  }
  return groups
}

/** Cells that a grid's rows have, with where their lines may end: as far before the border behind them as words of their column begin behind theirs. */
export const withRoom = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  xs: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<RawCell>> => {
  const below = new Map<number, number>()
  const placed = rows.map((row, at) => {
    let column = 0
    return row.map((cell) => {
      while ((below.get(column) ?? 0) > at) column += 1
      const from = column
      column += cell.colSpan
      for (let over = from; over < column; over++) below.set(over, at + cell.rowSpan)
      return { cell, from, to: column }
    })
  })
  const margins = xs.map(() => Infinity)
  for (const { cell, from } of placed.flat())
    for (const { x0 } of cell.segments)
      margins[from] = Math.min(margins[from] ?? Infinity, Math.max(0, x0 - (xs[from] ?? 0)))
  return placed.map((row) =>
    row.map(({ cell, from, to }) => ({ ...cell, right: (xs[to] ?? Infinity) - (margins[from] ?? 0) }))
  )
}
