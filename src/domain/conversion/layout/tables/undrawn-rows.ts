import { addTo, greatest, least } from "../../../lists.ts"
import { middleX } from "../geometry.ts"
import { SAME_LINE } from "../lines/line.ts"
import type { Segment } from "../lines/segment.ts"
import { isOver, slotOf } from "./grid-cells.ts"
import { placesOf, type Rules } from "./rules.ts"
import { CELL_GAP } from "./table-cells.ts"

/** Fewest rows: a title and what stands below it make two. */
const FEWEST = 3
/** Most columns and rows of a grid that is looked at. */
const MAX_COLUMNS = 60
const MAX_ROWS = 400

/** Cells that are drawn from left to right. */
interface Row {
  readonly cells: Map<number, Array<Segment>>
  last: Segment
  bottom: number
}

/**
 * The rows that words between two level rules are drawn in, cell by cell: each begins below the one before. Undefined where words go
 * back elsewhere, or where cells stand beside one another without a rule between.
 */
const drawnIn = (
  words: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>
): ReadonlyArray<Row> | undefined => {
  const rows: Array<Row> = []
  const columnOf = (one: Segment): number => slotOf(xs, middleX(one))
  for (const one of words) {
    const { baseline, size, x0 } = one
    const [above, row] = rows.slice(-2).length > 1 ? rows.slice(-2) : [undefined, rows.at(-1)]
    const moved = row === undefined ? 0 : columnOf(one) - columnOf(row.last)
    const isBelow = row === undefined || baseline > row.bottom + SAME_LINE * size
    if (row === undefined || (isBelow && moved !== 0)) {
      rows.push({ cells: new Map([[columnOf(one), [one]]]), last: one, bottom: baseline })
      continue
    }
    const isBeside = moved === 0 && !isBelow && x0 - row.last.x1 > CELL_GAP * size
    if (moved < 0 || isBeside || baseline <= (above?.bottom ?? -Infinity)) return undefined
    addTo(row.cells, columnOf(one), one)
    row.last = one
    row.bottom = Math.max(row.bottom, baseline)
  }
  return rows
}

/** Whether a cell follows one of several lines in its row, beside these: cells are drawn one after the other. */
const wraps = ({ cells }: Row): boolean =>
  [...cells.values()].slice(0, -1).some((cell) => {
    const baselines = cell.map(({ baseline }) => baseline)
    return greatest(baselines) - least(baselines) > SAME_LINE * greatest(cell.map(({ size }) => size))
  })

/**
 * A grid with a rule between rows that have none, as where upright rules part columns and a level one the head: words are drawn cell by
 * cell and row by row.
 */
export const withUndrawnRows = (grid: Rules, segments: ReadonlyArray<Segment>): Rules => {
  const [xs, ys] = [placesOf(grid.down), placesOf(grid.across)]
  if (xs.length > MAX_COLUMNS || ys.length > MAX_ROWS) return grid
  const [left, right] = [xs[0] ?? 0, xs.at(-1) ?? 0]
  const inside = segments.filter((one) => middleX(one) > left && middleX(one) < right)
  const bands = Map.groupBy(inside, (one) => slotOf(ys, one.baseline))
  const level = ys.slice(0, -1).flatMap((from, band) => {
    const words = bands.get(band) ?? []
    if (words.some((one) => isOver(one, xs))) return []
    const rows = drawnIn(words, xs)
    if (rows === undefined || rows.length < FEWEST || !rows.some(wraps)) return []
    return rows.slice(1).map(({ cells }, at) => {
      const top = least([...cells.values()].flat().map(({ y0 }) => y0))
      return { at: Math.max(from, (top + (rows[at]?.bottom ?? top)) / 2), from: left, to: right }
    })
  })
  return level.length === 0 ? grid : { across: [...grid.across, ...level], down: grid.down }
}
