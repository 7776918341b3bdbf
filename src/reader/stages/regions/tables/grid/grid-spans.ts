import { NEAR, slotOf } from "./grid-cells.ts"
import { placesOf, type Rule, type Rules } from "./rules.ts"

const MAX_ROWS = 400
const MAX_COLUMNS = 60

/** A cell of a grid: where it begins, and over how much it goes. */
export interface GridCell {
  readonly row: number
  readonly column: number
  readonly colSpan: number
  readonly rowSpan: number
}

/** The rules of a grid, and the cells between them. */
export interface Grid {
  readonly xs: ReadonlyArray<number>
  readonly ys: ReadonlyArray<number>
  /** Which upright borders are drawn: `upright[place][row]`. */
  readonly upright: ReadonlyArray<ReadonlyArray<boolean>>
  /** The cells that begin in each row. */
  readonly rows: ReadonlyArray<ReadonlyArray<GridCell>>
  /** The cell at each place. */
  readonly bySlot: ReadonlyMap<number, GridCell>
}

/** Names one place of a grid. */
export const slotAt = (row: number, column: number): number => row * MAX_COLUMNS + column

/** All places of a cell. */
export const slotsOf = ({ colSpan, column, row, rowSpan }: GridCell): ReadonlyArray<number> =>
  Array.from({ length: rowSpan * colSpan }, (_, at) =>
    slotAt(row + Math.floor(at / colSpan), column + (at % colSpan))
  )

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

/** The grid of some rules, if they make one: cells continue where no border is drawn. */
export const gridOf = ({ across, down }: Rules): Grid | undefined => {
  if (across.length < 2 || down.length < 2) return undefined
  const [xs, ys] = [placesOf(down), placesOf(across)]
  const [columns, count] = [xs.length - 1, ys.length - 1]
  if (columns < 2 || count < 2 || columns > MAX_COLUMNS || count > MAX_ROWS) return undefined
  const upright = wallsOf(down, xs, ys)
  const level = wallsOf(across, ys, xs)
  const bySlot = new Map<number, GridCell>()
  const rows = Array.from({ length: count }, (_, row) => {
    const cells: Array<GridCell> = []
    for (let column = 0; column < columns; column++) {
      if (bySlot.has(slotAt(row, column))) continue
      let colSpan = 1
      while (
        column + colSpan < columns &&
        upright[column + colSpan]?.[row] !== true &&
        !bySlot.has(slotAt(row, column + colSpan))
      )
        colSpan += 1
      const isOpenAt = (at: number): boolean =>
        level[at]?.slice(column, column + colSpan).includes(true) === false
      let rowSpan = 1
      while (row + rowSpan < count && isOpenAt(row + rowSpan)) rowSpan += 1
      const cell = { row, column, colSpan, rowSpan }
      for (const slot of slotsOf(cell)) bySlot.set(slot, cell)
      cells.push(cell)
    }
    return cells
  })
  return { xs, ys, upright, rows, bySlot }
}
