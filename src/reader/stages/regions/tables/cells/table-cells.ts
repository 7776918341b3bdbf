import { countUp } from "../../../../model/lists.ts"
import type { Line } from "../../../lines/line.ts"
import { markerOf } from "../../../lines/markers.ts"
import { cutAt, type Segment, segmentText } from "../../../lines/segment.ts"

/** A cell that is being filled. */
export interface RawCell {
  readonly segments: ReadonlyArray<Segment>
  readonly colSpan: number
  readonly rowSpan: number
  /** Greatest right edge of its lines, where rules show it. */
  readonly right?: number
}

/** A cell without words. */
const EMPTY: RawCell = { segments: [], colSpan: 1, rowSpan: 1 }

/** A cell's words, and the columns that it spans. */
export interface PlacedCell {
  readonly segments: ReadonlyArray<Segment>
  readonly from: number
  readonly to: number
}

/** The cells of a row from a column on, including empty ones. Those in one column are merged. */
export const filled = (
  row: ReadonlyArray<PlacedCell>,
  columns: number,
  first = 0
): ReadonlyArray<RawCell> => {
  const cells: Array<RawCell> = []
  let column = first
  for (const { from, segments, to } of row) {
    const before = from < column ? cells.pop() : undefined
    if (before !== undefined) cells.push({ ...before, segments: [...before.segments, ...segments] })
    if (from < column) continue
    for (; column < from; column++) cells.push(EMPTY)
    cells.push({ segments, colSpan: to - from + 1, rowSpan: 1 })
    column = to + 1
  }
  for (; column < columns; column++) cells.push(EMPTY)
  return cells
}

/** The columns under a cell, or next to it where it is between two. */
export const columnsUnder = (
  cell: Column,
  columns: ReadonlyArray<Column>
): { readonly over: ReadonlyArray<number>; readonly from: number; readonly to: number } => {
  const over = columns.flatMap((column, at) => (overlaps(column, cell) ? [at] : []))
  const nearest = columns.findIndex(({ x1 }) => cell.x0 <= x1)
  const from = over[0] ?? (nearest === -1 ? columns.length - 1 : nearest)
  return { over, from, to: over.at(-1) ?? from }
}

/** A value: a number with signs, units of money, tolerance, and marks of notes. */
export const NUMERIC = /^[-+–−±<>≤≥~≈$€£¥%().,:/\s]*\d[-+–−±<>≤≥~≈$€£¥%()\d.,:/\s×xeE∗*†‡]*$/

/** From where to where something reaches along the width, points. */
export interface Column {
  readonly x0: number
  readonly x1: number
}

/** A line and its cells, with what each takes up of the width. */
export interface Row {
  readonly line: Line
  readonly cells: ReadonlyArray<ReadonlyArray<Segment>>
  readonly bounds: ReadonlyArray<Column>
  /** True when some of its cells are recognised only by the columns of their neighbours. */
  readonly near: boolean
}

/** Gap between cells, in font sizes: wider than justified text sets its words. */
export const CELL_GAP = 1.1

/** A line's cells: segments, those nearer than a gap to one another taken together, unless a column begins there. */
export const cellsOf = (
  { segments, size }: Line,
  starts: ReadonlyArray<number>,
  gap = CELL_GAP
): ReadonlyArray<ReadonlyArray<Segment>> => {
  const cells: Array<Array<Segment>> = []
  let x1 = -Infinity
  for (const segment of starts.length === 0 ? segments : segments.flatMap((one) => cutAt(one, starts))) {
    const begins = starts.some((x) => x <= segment.x0 + 1 && x >= x1 - 1)
    if (segment.x0 - x1 > gap * size || begins || cells.length === 0) cells.push([segment])
    else cells.at(-1)?.push(segment)
    x1 = Math.max(x1, segment.x1)
  }
  return cells
}

/** What is left of the width when all cells are laid over one another. */
export const columnsOf = (cells: ReadonlyArray<Column>): ReadonlyArray<Column> => {
  const columns: Array<{ x0: number; x1: number }> = []
  for (const { x0, x1 } of [...cells].sort((a, b) => a.x0 - b.x0)) {
    const last = columns.at(-1)
    if (last === undefined || x0 > last.x1 + 1) columns.push({ x0, x1 })
    else last.x1 = Math.max(last.x1, x1)
  }
  return columns
}

export const overlaps = (column: Column, { x0, x1 }: Column): boolean =>
  column.x0 < x1 - 0.5 && column.x1 > x0 + 0.5

/**
 * Limits of running text: most columns, the longest line that is still a cell, and the shares of a column and of all
 * cells that its lines fill.
 */
const TEXT_COLUMNS = 3
const SHORT = 24
const FULL = 0.8
const MOSTLY_TEXT = 0.6

/** True when cells are lines of running text side by side: most are long, and fill their columns. */
export const areProse = (
  cells: ReadonlyArray<Column & { readonly characters: number }>,
  columns: ReadonlyArray<Column>
): boolean => {
  const long = cells.filter((cell) => {
    const column = cell.characters > SHORT ? columns.find((one) => overlaps(one, cell)) : undefined
    return column !== undefined && cell.x1 - cell.x0 > FULL * (column.x1 - column.x0)
  })
  return columns.length <= TEXT_COLUMNS && long.length > MOSTLY_TEXT * cells.length
}

/** The number of cells that most rows have; the larger of two. */
export const usualCount = (rows: ReadonlyArray<{ readonly cells: ReadonlyArray<unknown> }>): number => {
  const counts = new Map<number, number>()
  for (const { cells } of rows) if (cells.length > 1) countUp(counts, cells.length)
  return [...counts].sort(([a, x], [b, y]) => y - x || b - a)[0]?.[0] ?? 0
}

/** A cell's words, on one line. */
export const wordsOf = (cell: ReadonlyArray<Segment>): string => cell.map(segmentText).join(" ").trim()

/** What a bibliography names its entries by: `[3]`, `[Knu84]`. */
const REFERENCE = /^\[[\p{L}\p{N}+*’'-]{1,16}\]$/u

/** Whether these cells are nothing but names of a bibliography's entries. */
export const areReferences = (cells: ReadonlyArray<ReadonlyArray<Segment>>): boolean =>
  cells.every((cell) => REFERENCE.test(wordsOf(cell)))

/** The number of an equation. */
const EQUATION = /^\((\d{1,3})\)$/

/** True when these cells are consecutive numbers in brackets only: equation numbers. */
export const areEquations = (cells: ReadonlyArray<ReadonlyArray<Segment>>): boolean => {
  const numbers = cells.map((cell) => Number(EQUATION.exec(wordsOf(cell))?.[1] ?? Number.NaN))
  return numbers.every((number, at) => number === (numbers[0] ?? 0) + at)
}

/** Numbers, with a comma behind the last. */
const LISTED = /^[\d\s,–-]*\d,$/

/** Whether most cells with another one behind them are listed numbers: words of one text that justification sets far apart. */
export const areListedOn = (rows: ReadonlyArray<ReadonlyArray<ReadonlyArray<Segment>>>): boolean => {
  const before = rows.flatMap((cells) => cells.slice(0, -1))
  return before.filter((cell) => LISTED.test(wordsOf(cell))).length > 0.5 * before.length
}

/** Whether most of these cells are nothing but the markers of a list's items; numbers, too, where these count. */
export const areMarkers = (cells: ReadonlyArray<ReadonlyArray<Segment>>, numbers = true): boolean => {
  const markers = cells.filter((cell) => {
    const text = wordsOf(cell)
    const marker = markerOf(`${text} `)
    return marker !== undefined && marker.length >= text.length && (numbers || !marker.ordered)
  })
  return markers.length > 0.5 * cells.length
}
