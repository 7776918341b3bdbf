import { append, greatest } from "../../../lists.ts"
import type { Drawing } from "../../page-content.ts"
import type { Placed } from "../gutters.ts"
import type { InlineContext } from "../lines/inline.ts"
import { partOf, type Segment } from "../lines/segment.ts"
import { brokenWords } from "./broken-words.ts"
import { withRoom } from "./cell-paragraphs.ts"
import { NEAR, slotOf, stripeCells, unruledCells } from "./grid-cells.ts"
import { withColumns } from "./grid-columns.ts"
import { withHead } from "./grid-head.ts"
import { openTables, type RuledTable } from "./open-tables.ts"
import { withPaddedGrounds } from "./padded-grounds.ts"
import { rowGrids } from "./row-rules.ts"
import {
  barsOf,
  borders,
  closedByEdge,
  closedByEnds,
  closedBySides,
  networks,
  placesOf,
  type Rule,
  type Rules,
  rulesOf,
  withRowEnds
} from "./rules.ts"
import { type RawCell } from "./table-cells.ts"
import { tableOf } from "./table-of.ts"
import { withoutWordGrounds } from "./word-grounds.ts"

/** Part of the segments that may go over a border; where more do the lines are a drawing's. */
const OVER_BORDERS = 0.1
const MAX_ROWS = 400
const MAX_COLUMNS = 60
/** Columns a cell that has words, in the row that has most of those: boxes and bars within a frame stand in no columns. */
const MOST_SPANNED = 2
/** Part of the cells that hold words in a table; fewer are a diagram or a form. */
const FILLED = 0.35

/** Which borders between neighbouring cells are drawn: `walls[place][slot]`. */
const wallsOf = (
  rules: ReadonlyArray<Rule>,
  places: ReadonlyArray<number>,
  slots: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<boolean>> => {
  const walls = places.map(() => Array.from({ length: Math.max(0, slots.length - 1) }, () => false))
  for (const rule of rules) {
    const wall = walls[slotOf(places, rule.at + NEAR)]
    if (wall === undefined) continue
    for (let slot = 0; slot < wall.length; slot++) {
      const middle = ((slots[slot] ?? 0) + (slots[slot + 1] ?? 0)) / 2
      if (rule.from <= middle && middle <= rule.to) wall[slot] = true
    }
  }
  return walls
}

/** Segments that were cut where a border goes on in other rows, but not in this cell, as they were. */
const uncut = (parts: ReadonlyArray<Segment>): ReadonlyArray<Segment> =>
  [...Map.groupBy(parts, ({ field, order }) => field ?? order).values()]
    .map(([first, ...more]) =>
      first === undefined || more.length === 0
        ? first
        : partOf(
            first,
            [first, ...more].flatMap(({ pieces }) => pieces)
          )
    )
    .filter((segment) => segment !== undefined)

/** Assigns segments to the cells of a grid; a segment over a border is cut between its pieces. */
const fill = (
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  ys: ReadonlyArray<number>
): Map<number, Array<Segment>> => {
  const cells = new Map<number, Array<Segment>>()
  for (const segment of segments) {
    const row = slotOf(ys, (segment.y0 + segment.y1) / 2)
    if (segment.field !== undefined) {
      const key = row * MAX_COLUMNS + slotOf(xs, (segment.x0 + segment.x1) / 2)
      cells.set(key, [...(cells.get(key) ?? []), segment])
      continue
    }
    const parts = new Map<number, Array<Segment["pieces"][number]>>()
    for (const piece of segment.pieces) {
      // What stands out over a side is in the cell beside it.
      const column = Math.min(Math.max(0, slotOf(xs, (piece.x0 + piece.x1) / 2)), xs.length - 2)
      const same = parts.get(column)
      if (same === undefined) parts.set(column, [piece])
      else same.push(piece)
    }
    for (const [column, pieces] of parts) {
      const key = row * MAX_COLUMNS + column
      const same = cells.get(key) ?? []
      cells.set(key, same)
      same.push(partOf(segment, pieces))
    }
  }
  return cells
}

/** Whether words go over an upright border, or stand out over a side. */
const isOverBorder = (
  { pieces, y0, y1 }: Segment,
  xs: ReadonlyArray<number>,
  ys: ReadonlyArray<number>,
  upright: ReturnType<typeof wallsOf>
): boolean => {
  const row = slotOf(ys, (y0 + y1) / 2)
  return pieces.some(({ x0, x1 }) => {
    const column = slotOf(xs, (x0 + x1) / 2)
    const isOut = column < 0 || column > xs.length - 2
    return isOut || xs.some((x, place) => x > x0 + NEAR && x < x1 - NEAR && upright[place]?.[row] === true)
  })
}

/** Rows whose broken words go on in the next line. `single`: what the cells of each column alone hold. */
const withBroken = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  single: ReadonlyArray<ReadonlyArray<ReadonlyArray<Segment>>>,
  xs: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<RawCell>> => {
  const found = single.flatMap((cells, at) => brokenWords(cells, xs[at] ?? 0, xs[at + 1] ?? 0))
  if (found.length === 0) return rows
  const broken = new Set(found)
  const marked = (one: Segment): Segment =>
    broken.has(one) ? { ...one, hyphenated: true, broken: true } : one
  return rows.map((row) => row.map((cell) => ({ ...cell, segments: cell.segments.map(marked) })))
}

const finished = (
  ...[rows, single, xs]: Parameters<typeof withBroken>
): ReadonlyArray<ReadonlyArray<RawCell>> => withRoom(withBroken(rows, single, xs), xs)

/** A table of a grid of rules, with the segments in it. */
const gridTable = (
  { across, down }: Rules,
  segments: ReadonlyArray<Segment>,
  context: InlineContext
): RuledTable | undefined => {
  if (across.length < 2 || down.length < 2) return undefined
  const xs = placesOf(down)
  const ys = placesOf(across)
  const [columns, rows] = [xs.length - 1, ys.length - 1]
  if (columns < 2 || rows < 2 || columns > MAX_COLUMNS || rows > MAX_ROWS) return undefined
  const box = { x0: xs[0] ?? 0, y0: ys[0] ?? 0, x1: xs.at(-1) ?? 0, y1: ys.at(-1) ?? 0 }
  const taken = segments.filter(({ x0, x1, y0, y1 }) => {
    const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2]
    return x > box.x0 && x < box.x1 && y > box.y0 && y < box.y1
  })
  const cells = fill(taken, xs, ys)
  const upright = wallsOf(down, xs, ys)
  const level = wallsOf(across, ys, xs)
  const overBorders = taken.filter((one) => isOverBorder(one, xs, ys, upright))
  if (overBorders.length > OVER_BORDERS * taken.length) return undefined
  const used = new Set<number>()
  const single = xs.slice(1).map((): Array<ReadonlyArray<Segment>> => [])
  let filled = 0
  let all = 0
  const tableRows = Array.from({ length: rows }, (_, row) => {
    const made: Array<RawCell> = []
    for (let column = 0; column < columns; column++) {
      if (used.has(row * MAX_COLUMNS + column)) continue
      let colSpan = 1
      while (
        column + colSpan < columns &&
        upright[column + colSpan]?.[row] !== true &&
        !used.has(row * MAX_COLUMNS + column + colSpan)
      )
        colSpan += 1
      let rowSpan = 1
      const opensBelow = (at: number): boolean => {
        for (let c = column; c < column + colSpan; c++) if (level[at]?.[c] === true) return false
        return true
      }
      while (row + rowSpan < rows && opensBelow(row + rowSpan)) rowSpan += 1
      const inside: Array<Segment> = []
      for (let r = row; r < row + rowSpan; r++)
        for (let c = column; c < column + colSpan; c++) {
          used.add(r * MAX_COLUMNS + c)
          append(inside, cells.get(r * MAX_COLUMNS + c) ?? [])
        }
      all += 1
      if (inside.some(({ field }) => field === undefined)) filled += 1
      const words = uncut(inside)
      if (colSpan === 1) single[column]?.push(words)
      const striped = rowSpan === 1 && colSpan === columns ? stripeCells(words, xs) : undefined
      if (striped !== undefined) append(made, striped)
      else if (rowSpan === 1 && colSpan > 1) append(made, unruledCells(words, xs, column, colSpan))
      else made.push({ segments: words, colSpan, rowSpan })
    }
    return made
  }).filter((row) => row.length > 0)
  const several = tableRows.filter((row) => row.length > 1).length
  if (all < 4 || filled < FILLED * all || filled < 3 || several < 2) return undefined
  const most = greatest(tableRows.map((row) => row.filter((cell) => cell.segments.length > 0).length))
  if (columns > MOST_SPANNED * most) return undefined
  return { placed: { block: tableOf(finished(tableRows, single, xs), context, undefined), ...box }, taken }
}

/** Whether there is one rule each way: below the names of columns and right of those of rows. All else stands between white. */
const isCross = ({ across, down }: Rules): boolean =>
  placesOf(across).length === 1 && placesOf(down).length === 1

/** The page's tables that rules show, and the segments that they hold. */
export const ruledTables = (
  page: { readonly drawings: ReadonlyArray<Drawing>; readonly width: number; readonly height: number },
  segments: ReadonlyArray<Segment>,
  context: InlineContext
): { readonly placed: ReadonlyArray<Placed>; readonly taken: ReadonlySet<Segment> } => {
  const drawings = withPaddedGrounds(withoutWordGrounds(page.drawings, segments))
  const rules = rulesOf(drawings, page.width, page.height)
  const placed: Array<Placed> = []
  const taken = new Set<Segment>()
  const accept = (found: RuledTable | undefined) => {
    if (found === undefined || found.taken.some((segment) => taken.has(segment))) return
    placed.push(found.placed)
    for (const segment of found.taken) taken.add(segment)
  }
  for (const network of networks(rules)) {
    if (isCross(network)) continue
    const drawn = closedByEnds(closedByEdge(withRowEnds(network), page.width))
    const closed = closedBySides(drawn)
    const grid = withHead(borders(closed), rules, segments)
    // Who draws a table's sides draws its columns, too.
    const isOpen = closed.down.length > drawn.down.length
    accept(gridTable(isOpen ? withColumns(grid, segments) : grid, segments, context))
  }
  const words = segments.filter(({ field }) => field === undefined)
  const level = [...rules.across, ...barsOf(drawings)]
  for (const grid of rowGrids(level, words)) accept(gridTable(grid, words, context))
  const open = { across: rules.across, segments: words, context, height: page.height }
  for (const found of openTables(open)) accept(found)
  return { placed, taken }
}
