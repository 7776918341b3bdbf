import { hull, middleX } from "../../../../model/geometry.ts"
import { append, greatest, least } from "../../../../model/lists.ts"
import type { FontFace } from "../../../../model/page-content.ts"
import { CAPTION } from "../../../lines/markers.ts"
import { charactersOf, isBoldThroughout, type Segment } from "../../../lines/segment.ts"
import { filled, NUMERIC, type RawCell, wordsOf } from "../cells/table-cells.ts"
import { OVERLAPPING } from "../cells/table-extent.ts"
import type { DrawnTable } from "./drawn-table.ts"

/** Fewest columns of a table that grows: two columns are aligned by chance. */
const FEWEST_COLUMNS = 3
/** How far cells of one column begin, end or have their middle apart, points. */
const ALIGNED = 1.5
/** Greatest step to a row of several cells, and to a line of one, in font sizes. */
const ROW_STEP = 4
const LINE_STEP = 2.4
/** Most lines of one cell in a row, and the longest of them: they name the rows below, or remark on those above. */
const MOST_SINGLE = 2
const LONGEST = 80
/** How much larger than the table's words a heading is, and how far to the right of the first column a remark begins, in font sizes. */
const LARGER = 1.1
const SET_IN = 3
/** Limit on lines that are tried for a page's tables. */
const MOST_LINES = 4000

/** How the cells of a column are aligned. */
interface Aligned {
  readonly left: number | undefined
  readonly right: number | undefined
  readonly middle: number | undefined
}

type Unit =
  | {
      readonly kind: "line"
      readonly segments: ReadonlyArray<Segment>
      readonly top: number
      readonly bottom: number
    }
  | { readonly kind: "table"; readonly table: DrawnTable; readonly top: number; readonly bottom: number }

const shared = (places: ReadonlyArray<number>): number | undefined =>
  places.length > 1 && greatest(places) - least(places) < ALIGNED ? places[0] : undefined

const columnsIn = ({ rows }: DrawnTable): ReadonlyArray<Aligned> => {
  const columns: Array<Array<ReadonlyArray<Segment>>> = []
  for (const row of rows) {
    let at = 0
    for (const { colSpan, segments } of row) {
      columns[at] ??= []
      if (colSpan === 1 && segments.length > 0) columns[at]?.push(segments)
      at += colSpan
    }
  }
  return columns.map((cells) => {
    const boxes = cells.map((segments) => hull(segments))
    return {
      left: shared(boxes.map(({ x0 }) => x0)),
      right: shared(boxes.map(({ x1 }) => x1)),
      middle: shared(boxes.map((box) => middleX(box)))
    }
  })
}

/** The column that a cell is aligned with. */
const columnOf = (segment: Segment, columns: ReadonlyArray<Aligned>): number =>
  columns.findIndex(({ left, middle, right }) =>
    [
      [left, segment.x0],
      [right, segment.x1],
      [middle, middleX(segment)]
    ].some(([of, at]) => of !== undefined && at !== undefined && Math.abs(of - at) < ALIGNED)
  )

/** A line as a row of a table: each of its cells is aligned with another column. */
const rowOf = (
  segments: ReadonlyArray<Segment>,
  columns: ReadonlyArray<Aligned>
): ReadonlyArray<RawCell> | undefined => {
  const cells = segments.map((segment) => {
    const at = columnOf(segment, columns)
    return { segments: [segment], from: at, to: at }
  })
  const isRow = cells.length > 1 && cells.every(({ from }, at) => from > (cells[at - 1]?.from ?? -1))
  return isRow ? filled(cells, columns.length) : undefined
}

/** The lines of a table's width. */
const linesIn = (segments: ReadonlyArray<Segment>): ReadonlyArray<Unit> => {
  const lines: Array<Array<Segment>> = []
  for (const one of segments.toSorted((a, b) => a.baseline - b.baseline)) {
    const line = lines.at(-1)
    if (line === undefined || one.baseline - (line[0]?.baseline ?? 0) > OVERLAPPING * one.size)
      lines.push([one])
    else line.push(one)
  }
  return lines.map((line) => ({
    kind: "line",
    segments: line.toSorted((a, b) => a.x0 - b.x0),
    top: least(line.map(({ baseline }) => baseline)),
    bottom: greatest(line.map(({ baseline }) => baseline))
  }))
}

const baselinesOf = ({ segments }: DrawnTable): ReadonlyArray<number> =>
  segments.map(({ baseline }) => baseline)

/** What a table is grown with. */
interface Growing {
  readonly table: DrawnTable
  readonly columns: ReadonlyArray<Aligned>
  readonly size: number
  readonly fonts: ReadonlyArray<FontFace>
}

/** Rows that a unit adds; undefined where it is no part of the table. */
const rowsOf = (unit: Unit, { columns }: Growing): ReadonlyArray<ReadonlyArray<RawCell>> | undefined => {
  if (unit.kind === "line") {
    const row = rowOf(unit.segments, columns)
    return row === undefined ? undefined : [row]
  }
  const rows = unit.table.rows.map((row) => {
    const cells = row.filter(({ segments }) => segments.length > 0)
    const first = cells.flatMap(({ segments }) => segments.slice(0, 1))
    const placed = rowOf(first, columns)
    let at = -1
    return cells.length === row.length || placed !== undefined
      ? placed?.map((cell) =>
          cell.segments.length === 0 ? cell : { ...cell, segments: cells[(at += 1)]?.segments ?? [] }
        )
      : undefined
  })
  return rows.every((row) => row !== undefined) ? rows : undefined
}

/** Whether a line names rows or remarks on them. */
const isSingle = (unit: Unit, { size, table }: Growing): boolean => {
  if (unit.kind === "table" || unit.segments.length > 1) return false
  const [only] = unit.segments
  return (
    only !== undefined &&
    only.size <= LARGER * size &&
    only.x0 > table.x0 - 1 &&
    only.x0 < table.x0 + SET_IN * size &&
    charactersOf([only]) <= LONGEST &&
    !CAPTION.test(wordsOf([only]))
  )
}

/** Whether a row is names of columns: another table begins with it. */
const areNames = (rows: ReadonlyArray<ReadonlyArray<RawCell>>, fonts: ReadonlyArray<FontFace>): boolean =>
  rows[0]?.every(
    ({ segments }) =>
      segments.every((one) => isBoldThroughout(one, fonts)) &&
      !(segments.length > 0 && NUMERIC.test(wordsOf(segments)))
  ) === true

/** The units of a table in one direction, with the rows that each adds. */
const grow = (
  units: ReadonlyArray<Unit>,
  way: 1 | -1,
  growing: Growing
): ReadonlyArray<{ readonly unit: Unit; readonly rows: ReadonlyArray<ReadonlyArray<RawCell>> }> => {
  const { columns, fonts, size, table } = growing
  const found: Array<{ unit: Unit; rows: ReadonlyArray<ReadonlyArray<RawCell>> }> = []
  let pending: typeof found = []
  let edge = way > 0 ? greatest(baselinesOf(table)) : least(baselinesOf(table))
  for (const unit of units) {
    const step = way > 0 ? unit.top - edge : edge - unit.bottom
    const rows = step > ROW_STEP * size ? undefined : rowsOf(unit, growing)
    if (rows !== undefined) {
      if (way > 0 && areNames(rows, fonts)) break
      append(found, [...pending, { unit, rows }])
      pending = []
      if (way < 0 && areNames(rows, fonts)) break
    } else {
      if (step > LINE_STEP * size || pending.length >= MOST_SINGLE || !isSingle(unit, growing)) break
      const segments = unit.kind === "line" ? unit.segments : []
      pending.push({ unit, rows: [[{ segments, colSpan: columns.length, rowSpan: 1 }]] })
    }
    edge = way > 0 ? unit.bottom : unit.top
  }
  return found
}

/**
 * Joins the parts of one table with the aligned lines around them: a head that is set apart, and rows in groups, each
 * below its name.
 */
export const grownTables = (
  tables: ReadonlyArray<DrawnTable>,
  segments: ReadonlyArray<Segment>,
  fonts: ReadonlyArray<FontFace>
): ReadonlyArray<DrawnTable> => {
  const inTables = new Set(tables.flatMap((table) => table.segments))
  const loose = segments.filter((one) => !inTables.has(one))
  if (tables.length === 0 || loose.length > MOST_LINES) return tables
  const taken = new Set<DrawnTable>()
  const grown: Array<DrawnTable> = []
  const used = new Set<Segment>()
  for (const table of tables.toSorted((a, b) => a.y0 - b.y0)) {
    const columns = columnsIn(table)
    if (taken.has(table) || columns.length < FEWEST_COLUMNS) continue
    const isIn = ({ x0, x1 }: { x0: number; x1: number }): boolean => x0 < table.x1 && x1 > table.x0
    const others = tables.filter((other) => other !== table && !taken.has(other) && isIn(other))
    const units: ReadonlyArray<Unit> = [
      ...linesIn(loose.filter((one) => !used.has(one) && isIn(one))),
      ...others.map((other): Unit => {
        const baselines = baselinesOf(other)
        return { kind: "table", table: other, top: least(baselines), bottom: greatest(baselines) }
      })
    ].sort((a, b) => a.top - b.top)
    const size = table.segments[0]?.size ?? 0
    const growing = { table, columns, size, fonts }
    const [top, bottom] = [least(baselinesOf(table)), greatest(baselinesOf(table))]
    const above = grow(units.filter((unit) => unit.bottom < top).toReversed(), -1, growing).toReversed()
    const below = grow(
      units.filter((unit) => unit.top > bottom),
      1,
      growing
    )
    if (above.length + below.length === 0) continue
    const added = [...above, ...below].flatMap(({ unit }) =>
      unit.kind === "line" ? unit.segments : unit.table.segments
    )
    for (const { unit } of [...above, ...below]) if (unit.kind === "table") taken.add(unit.table)
    for (const one of added) used.add(one)
    taken.add(table)
    const all = [...table.segments, ...added]
    grown.push({
      segments: all,
      rows: [...above.flatMap(({ rows }) => rows), ...table.rows, ...below.flatMap(({ rows }) => rows)],
      ...hull(all)
    })
  }
  return [...tables.filter((table) => !taken.has(table)), ...grown]
}
