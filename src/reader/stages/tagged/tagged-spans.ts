import type { Cell } from "../../model/block.ts"
import { greatest, least } from "../../model/lists.ts"
import type { Line } from "../lines/line.ts"
import { slotOf } from "../regions/tables/grid/grid-cells.ts"
import { type Grid, type GridCell, slotAt } from "../regions/tables/grid/grid-spans.ts"

/** A cell of the structure tree, and its lines. */
export interface PlacedCell {
  readonly cell: Cell
  readonly lines: ReadonlyArray<Line>
}
export type Row = ReadonlyArray<PlacedCell>

/** Rows with their cells, of which the first ones are the head. */
interface Spanned {
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
  readonly headRows: number
}

/** Whether rows are not as long as each other, which shows that spans of cells are missing. */
const areRagged = (rows: ReadonlyArray<Row>): boolean => {
  const changes = rows.map(() => 0)
  let [first, above] = [-1, 0]
  for (const [at, row] of rows.entries()) {
    above += changes[at] ?? 0
    let own = 0
    for (const { cell } of row) {
      own += cell.colSpan
      const end = at + cell.rowSpan
      if (cell.rowSpan < 2) continue
      changes[at + 1] = (changes[at + 1] ?? 0) + cell.colSpan
      changes[end] = (changes[end] ?? 0) - cell.colSpan
    }
    if (first === -1) first = above + own
    if (above + own !== first) return true
  }
  return false
}

/** Least distance of lines below one another, points: cells of one row may be set a little higher or lower. */
const FULL_LINE = 12

/** The cell of a grid that contains a line. */
const cellUnder = ({ baseline, x0, x1 }: Line, { bySlot, xs, ys }: Grid): GridCell | undefined =>
  bySlot.get(slotAt(slotOf(ys, baseline), slotOf(xs, (x0 + x1) / 2)))

/** The cell of a grid that contains each cell's words, one for each; undefined where a cell has none. */
const cellsIn = (
  rows: ReadonlyArray<Row>,
  grid: Grid,
  astray: boolean
): ReadonlyMap<GridCell, Cell> | undefined => {
  const found = new Map<GridCell, Cell>()
  let above = -1
  for (const row of rows) {
    const begins = new Set<number>()
    for (const { cell, lines } of row) {
      if (cell.blocks.length === 0) continue
      const [at, ...others] = new Set(lines.map((line) => cellUnder(line, grid)))
      if (at === undefined || others.length > 0 || found.has(at)) return undefined
      found.set(at, cell)
      begins.add(at.row)
    }
    const [first, ...more] = begins
    if (first === undefined) continue
    // Each tagged row is one of the grid's, in their order.
    if (!astray && (more.length > 0 || first <= above)) return undefined
    above = first
  }
  return found
}

/** Whether a row has a cell wholly below another one: it is tagged in the wrong row. */
const isAstray = (row: Row): boolean => {
  const lines = row
    .filter((one) => one.lines.length > 0)
    .map((one) => one.lines.map(({ baseline }) => baseline))
  return greatest(lines.map(least)) > least(lines.map(greatest)) + FULL_LINE
}

const NONE: Cell = { blocks: [], header: undefined, colSpan: 1, rowSpan: 1 }
/** A grid has at most so many cells more than are tagged, by this factor: only cells that go on from a page before are not. */
const UNTAGGED = 2

/** The part of a grid that these cells cover. */
const spannedIn = (
  { rows }: Grid,
  found: ReadonlyMap<GridCell, Cell>,
  isHead: (cell: Cell) => boolean
): Spanned => {
  const begins = [...found.keys()].map(({ row }) => row)
  const [from, to] = [least(begins), greatest(begins) + 1]
  const heads = [...found].flatMap(([{ row }, cell]) => (isHead(cell) ? [row] : []))
  return {
    rows: rows.slice(from, to).map((row) =>
      row.map((one): Cell => ({
        ...(found.get(one) ?? NONE),
        colSpan: one.colSpan,
        rowSpan: Math.min(one.rowSpan, to - one.row)
      }))
    ),
    headRows: heads.length === 0 ? 0 : greatest(heads) + 1 - from
  }
}

/**
 * Rows as the rules of the page show them where their tags leave out how far cells span: programs tag a cell that reaches down
 * into the next row once, and say no more. A cell that is tagged in another row than its own is put in its place.
 */
export const withDrawnSpans = (
  rows: ReadonlyArray<Row>,
  headRows: number,
  grids: () => ReadonlyArray<Grid>
): Spanned => {
  const asTagged = { rows: rows.map((row) => row.map(({ cell }) => cell)), headRows }
  const ragged = areRagged(rows)
  const astray = !ragged && rows.some(isAstray)
  if (!astray && !ragged) return asTagged
  const heads = new Set(asTagged.rows.slice(0, headRows).flat())
  for (const grid of grids()) {
    const found = cellsIn(rows, grid, astray)
    if (found === undefined || found.size === 0) continue
    const spanned = spannedIn(grid, found, (cell) => heads.has(cell))
    if (spanned.rows.flat().length <= UNTAGGED * rows.flat().length) return spanned
  }
  return asTagged
}
