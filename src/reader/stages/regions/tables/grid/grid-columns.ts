import { middleX, middleY } from "../../../../model/geometry.ts"
import { greatest, least, addTo } from "../../../../model/lists.ts"
import type { Segment } from "../../../lines/segment.ts"
import { CELL_GAP, columnsOf } from "../cells/table-cells.ts"
import { slotOf } from "./grid-cells.ts"
import { placesOf, type Rules } from "./rules.ts"

/** Rows that have words in several columns: so many, and such a part of all. */
const ROWS = 2
const MOSTLY = 0.5
/** Limit on places of a grid. */
const MAX_PLACES = 400

/** Words of a row between two upright rules, all on one line, from left to right. */
type Words = ReadonlyArray<Segment>

const areOneLine = (words: Words): boolean =>
  greatest(words.map(({ baseline }) => baseline)) - least(words.map(({ baseline }) => baseline)) < 1

/** Whether a row has white at a place that is as wide as between columns. */
const isApartAt = (words: Words, x: number): boolean =>
  words.some(({ size, x0 }, at) => {
    const end = words[at - 1]?.x1
    return end !== undefined && end < x && x0 > x && x0 - end > CELL_GAP * size
  })

/** The middles of the white that goes down between words in most rows. */
const whiteIn = (rows: ReadonlyArray<Words>): ReadonlyArray<number> => {
  const several = rows.filter((words) => words.length > 1 && areOneLine(words))
  if (several.length < MOSTLY * rows.length) return []
  const columns = columnsOf(several.flat())
  return columns
    .slice(1)
    .map(({ x0 }, at) => (x0 + (columns[at]?.x1 ?? x0)) / 2)
    .filter((x) => several.filter((words) => isApartAt(words, x)).length >= ROWS)
}

/**
 * A grid with additional columns that are separated only by white space between two of its upright rules: papers draw a
 * rule next to the row names, and around groups of columns. Words across the white space are in a cell over both.
 */
export const withColumns = (grid: Rules, segments: ReadonlyArray<Segment>): Rules => {
  const [xs, ys] = [placesOf(grid.down), placesOf(grid.across)]
  if (xs.length < 3 || xs.length > MAX_PLACES || ys.length < 3 || ys.length > MAX_PLACES) return grid
  const cells = new Map<number, Map<number, Array<Segment>>>()
  for (const segment of [...segments].sort((a, b) => a.x0 - b.x0)) {
    const [column, row] = [slotOf(xs, middleX(segment)), slotOf(ys, middleY(segment))]
    if (column < 0 || row < 0 || column > xs.length - 2 || row > ys.length - 2) continue
    const rows = cells.get(column) ?? new Map<number, Array<Segment>>()
    cells.set(column, rows)
    addTo(rows, row, segment)
  }
  const upright = [...cells.values()].flatMap((rows) =>
    whiteIn([...rows.values()]).flatMap((at) =>
      ys.slice(0, -1).flatMap((from, row) => {
        const isOver = rows.get(row)?.some(({ x0, x1 }) => x0 < at && x1 > at) === true
        return isOver ? [] : [{ at, from, to: ys[row + 1] ?? from, joints: [] }]
      })
    )
  )
  return upright.length === 0 ? grid : { across: grid.across, down: [...grid.down, ...upright] }
}
