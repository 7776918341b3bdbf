import { greatest, least } from "../../../lists.ts"
import type { Piece, Segment } from "../lines/segment.ts"

/** From where to where something reaches along the width, points. */
export interface Column {
  readonly x0: number
  readonly x1: number
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
 * The columns below as many names, where these are set in the middle of columns whose words stand at their sides. `most`: how many
 * there are if no name belongs to the words below it.
 */
const named = (
  [head, ...rows]: ReadonlyArray<ReadonlyArray<Column>>,
  most: number
): ReadonlyArray<Column> | undefined => {
  const below = columnsOf(rows.flat())
  if (head === undefined || head.length < 2 || head.length >= most || head.length !== below.length)
    return undefined
  const columns = head.map(({ x0, x1 }, at) => ({
    x0: Math.min(x0, below[at]?.x0 ?? x0),
    x1: Math.max(x1, below[at]?.x1 ?? x1)
  }))
  return columns.every(({ x0 }, at) => x0 > (columns[at - 1]?.x1 ?? -Infinity)) ? columns : undefined
}

/** More columns are a drawing's; keeps the search linear on a page of nothing but short words. */
const MOST = 40
/** Part of the rows that have as many cells as those by which columns are found. */
const FULL = 0.15

/**
 * The columns of rows, some of whose cells go over several: they are found by rows with as many cells as some others have, and by
 * what stands beside these. `usual`: how many most rows have.
 */
export const columnsOfRows = (
  rows: ReadonlyArray<ReadonlyArray<Column>>,
  usual: number
): ReadonlyArray<Column> => {
  const cells = rows.flat()
  const byLength = Map.groupBy(rows, ({ length }) => length)
  let columns = columnsOf(cells)
  for (const [length, full] of byLength) {
    if (length < usual || (length > usual && full.length < Math.max(2, FULL * rows.length))) continue
    const own = columnsOf(full.flat())
    if (own.length > MOST) continue
    const isOver = (cell: Column) => own.filter((column) => overlaps(column, cell)).length > 1
    const beside = columnsOf([...own, ...cells.filter((cell) => !isOver(cell))])
    for (const found of [own, beside]) if (found.length > columns.length) columns = found
  }
  return named(rows, columns.length) ?? columns
}

/** A part of a segment. */
export const partOf = (segment: Segment, pieces: ReadonlyArray<Piece>): Segment => ({
  ...segment,
  pieces,
  x0: least(pieces.map(({ x0 }) => x0)),
  x1: greatest(pieces.map(({ x1 }) => x1)),
  characters: pieces.reduce((sum, { text }) => sum + text.length, 0)
})

/**
 * The words of a cell that goes over several columns by these, where each piece stands in one; undefined where some do not, or stand
 * nearer to each other than `apart`.
 */
export const partsInColumns = (
  segments: ReadonlyArray<Segment>,
  columns: ReadonlyArray<Column>,
  apart = 0
): ReadonlyArray<readonly [column: number, segments: Array<Segment>]> | undefined => {
  const parts = new Map<number, Array<Segment>>()
  for (const segment of segments) {
    const inColumns = Map.groupBy(segment.pieces, (piece) => {
      const over = columns.flatMap((column, at) => (overlaps(column, piece) ? [at] : []))
      return over.length === 1 ? (over[0] ?? -1) : -1
    })
    if (inColumns.has(-1)) return undefined
    for (const [column, pieces] of inColumns) {
      const same = parts.get(column)
      if (same === undefined) parts.set(column, [partOf(segment, pieces)])
      else same.push(partOf(segment, pieces))
    }
  }
  const sorted = [...parts].sort(([a], [b]) => a - b)
  const ends = sorted.map(([, of]) => greatest(of.map(({ x1 }) => x1)))
  const isNear = ([, of]: (typeof sorted)[number], at: number): boolean =>
    at > 0 && least(of.map(({ x0 }) => x0)) - (ends[at - 1] ?? 0) < apart
  return sorted.some(isNear) ? undefined : sorted
}
