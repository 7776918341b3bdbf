import { acrossOf, overlapAcross } from "../../model/geometry.ts"
import { greatest, least } from "../../model/lists.ts"
import { hasFromRight } from "../lines/script-direction.ts"
import type { PlacedCell, Row } from "./tagged-spans.ts"

/** How far words of neighbouring cells may overlap, points. */
const SLACK = 1

/** A cell with words, and their place. */
interface Shown {
  readonly placed: PlacedCell
  readonly x0: number
  readonly x1: number
  readonly top: number
  readonly bottom: number
}

const shownOf = (placed: PlacedCell): Shown => ({
  placed,
  ...acrossOf(placed.lines),
  top: least(placed.lines.map(({ baseline, size }) => baseline - size)),
  bottom: greatest(placed.lines.map(({ baseline }) => baseline))
})

/** The cells of a row that have words, from left to right; undefined where they are not beside one another. */
const acrossIn = (row: Row): ReadonlyArray<Shown> | undefined => {
  const shown = row.filter(({ lines }) => lines.length > 0).map(shownOf)
  const sorted = shown.toSorted((a, b) => a.x0 - b.x0)
  const areBeside = sorted.every(({ x0 }, at) => x0 >= (sorted[at - 1]?.x1 ?? -Infinity) - SLACK)
  const areLevel = greatest(shown.map(({ top }) => top)) < least(shown.map(({ bottom }) => bottom))
  return areBeside && areLevel ? sorted : undefined
}

type Across = ReturnType<typeof acrossOf>

/** From where to where the columns go, of the rows in which every cell has words. */
const columnsOf = (
  rows: ReadonlyArray<Row>,
  across: ReadonlyArray<ReadonlyArray<Shown> | undefined>
): ReadonlyArray<Across> => {
  const count = greatest(rows.map(({ length }) => length))
  const full = across.filter((row) => row !== undefined && row.length === count)
  return full.length === 0
    ? []
    : Array.from({ length: count }, (_, at) => acrossOf(full.flatMap((row) => row?.[at] ?? [])))
}

/** A cell that is not tagged. */
const UNTAGGED: PlacedCell = {
  cell: { blocks: [], header: undefined, colSpan: 1, rowSpan: 1 },
  lines: []
}

/** Whether a row has fewer cells than there are columns, and none reaches over several or down into it. */
const isShort = (row: Row, at: number, rows: ReadonlyArray<Row>, count: number): boolean =>
  row.length < count &&
  row.every(({ cell }) => cell.colSpan === 1) &&
  !rows.slice(0, at + 1).some((above) => above.some(({ cell }) => cell.rowSpan > 1))

/** A row whose empty cells are not tagged: each cell is in the column that it is drawn in, and in no other's. */
const withUntagged = (
  row: Row,
  sorted: ReadonlyArray<Shown>,
  columns: ReadonlyArray<Across>
): Row | undefined => {
  if (sorted.length !== row.length) return undefined
  const places = sorted.map((one) =>
    columns.flatMap((column, at) => (overlapAcross(column, one) ? [at] : []))
  )
  const isPlaced = places.every(
    ([at, more], index) => at !== undefined && more === undefined && at > (places[index - 1]?.[0] ?? -1)
  )
  if (!isPlaced) return undefined
  return columns.map((_, at) => sorted[places.findIndex(([place]) => place === at)]?.placed ?? UNTAGGED)
}

/** A row that is tagged in another order, as it is drawn; empty cells are where no words are. */
const asDrawn = (row: Row, sorted: ReadonlyArray<Shown>, columns: ReadonlyArray<Across>): Row | undefined => {
  if (sorted.length === row.length) return sorted.map(({ placed }) => placed)
  if (row.length !== columns.length || row.some(({ cell }) => cell.colSpan > 1)) return undefined
  const empty = row.filter(({ lines }) => lines.length === 0)
  const left = [...sorted]
  const made = columns.flatMap((column) => {
    const [next] = left
    const own = next !== undefined && overlapAcross(column, next) ? left.shift()?.placed : empty.shift()
    return own ?? []
  })
  return left.length === 0 && made.length === row.length ? made : undefined
}

/**
 * Rows of a table with their cells as they are drawn, where tags put those of some rows in another order or leave empty ones out:
 * programs tag what is drawn last, and leave it at the end. Where all rows go from right to left, so does the table.
 */
export const rowsAsDrawn = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const across = rows.map(acrossIn)
  const isInOrder = (row: Row, sorted: ReadonlyArray<Shown> | undefined): boolean => {
    const shown = row.filter(({ lines }) => lines.length > 0)
    return sorted === undefined || sorted.every(({ placed }, at) => placed === shown[at])
  }
  const columns = columnsOf(rows, across)
  const disordered = rows.flatMap((row, at) => (isInOrder(row, across[at]) ? [] : [at]))
  const short = new Set(rows.flatMap((row, at) => (isShort(row, at, rows, columns.length) ? [at] : [])))
  if (disordered.length + short.size === 0) return rows
  const isFromRight = rows.every((row, at) => {
    const shown = row.filter(({ lines }) => lines.length > 0)
    return across[at]?.every(({ placed }, place) => placed === shown.at(-1 - place)) ?? true
  })
  if (isFromRight || rows.flat().some(({ lines }) => lines.some(({ text }) => hasFromRight(text))))
    return rows
  const moved = new Set(disordered)
  return rows.map((row, at) => {
    const shown = across[at] ?? []
    if (short.has(at)) return withUntagged(row, shown, columns) ?? row
    return moved.has(at) ? (asDrawn(row, shown, columns) ?? row) : row
  })
}
