import type { Line } from "./line.ts"
import type { Segment } from "./segment.ts"

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
  /** Some of its cells are told by the columns of its neighbours alone. */
  readonly near: boolean
}

/** White between rows, in font sizes, that a table does not have. */
export const ROW_STEP = 3.6

/** Gap between cells, in font sizes: wider than justified text sets its words. */
const CELL_GAP = 1.1

/** Cuts a segment where columns begin. */
const cutAt = (segment: Segment, starts: ReadonlyArray<number>): ReadonlyArray<Segment> => {
  if (!starts.some((x) => segment.x0 < x - 1 && segment.x1 > x + 1)) return [segment]
  const parts = new Map<number, Array<Segment["pieces"][number]>>()
  for (const piece of segment.pieces) {
    const column = starts.filter((x) => x <= piece.x0 + 1).length
    const same = parts.get(column)
    if (same === undefined) parts.set(column, [piece])
    else same.push(piece)
  }
  return [...parts.values()].map((pieces) => ({
    ...segment,
    pieces,
    x0: pieces.reduce((least, { x0 }) => Math.min(least, x0), Infinity),
    x1: pieces.reduce((most, { x1 }) => Math.max(most, x1), -Infinity),
    characters: pieces.reduce((sum, { text }) => sum + text.length, 0)
  }))
}

/** A line's cells: segments, those that stand near to one another taken together, unless a column begins there. */
export const cellsOf = (
  { segments, size }: Line,
  starts: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<Segment>> => {
  const cells: Array<Array<Segment>> = []
  let x1 = -Infinity
  for (const segment of starts.length === 0 ? segments : segments.flatMap((one) => cutAt(one, starts))) {
    const begins = starts.some((x) => x <= segment.x0 + 1 && x >= x1 - 1)
    if (segment.x0 - x1 > CELL_GAP * size || begins || cells.length === 0) cells.push([segment])
    else cells.at(-1)?.push(segment)
    x1 = Math.max(x1, segment.x1)
  }
  return cells
}

/** What cells take up of the width. */
export const boundsOf = (cell: ReadonlyArray<Segment>): Column =>
  cell.reduce((sum, { x0, x1 }) => ({ x0: Math.min(sum.x0, x0), x1: Math.max(sum.x1, x1) }), {
    x0: Infinity,
    x1: -Infinity
  })
