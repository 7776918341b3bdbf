import { append, greatest, least } from "../../../lists.ts"
import type { Line } from "../lines/line.ts"
import { isPrototype } from "../lines/markers.ts"
import { sectionNumber } from "../lines/section-number.ts"
import { type Segment, segmentText } from "../lines/segment.ts"
import { isBoldLine } from "../statistics.ts"
import { flowsOn, nearColumns } from "./near-columns.ts"
import {
  areMarkers,
  areReferences,
  boundsOf,
  cellsOf,
  type Column,
  columnsOf,
  overlaps,
  type RawCell,
  type Row,
  usualCount
} from "./table-cells.ts"
import { endOf, lastRows, OVERLAPPING } from "./table-extent.ts"

/** Rows of a table that is recognised by its alignment alone, and the lines that they take up. */
export interface AlignedTable {
  /** First line, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly rows: ReadonlyArray<ReadonlyArray<RawCell>>
  /** Baseline of each row's first line. */
  readonly tops: ReadonlyArray<number>
}

/** Whether cells of two lines begin or end below one another, the first's beginning and the last's end left out. */
const areAligned = (a: Line, b: Line | undefined): boolean =>
  b !== undefined &&
  b.segments.length > 1 &&
  a.segments.some((one, at) =>
    b.segments.some(
      (other, below) =>
        (at > 0 && below > 0 && Math.abs(one.x0 - other.x0) < 1) ||
        (at < a.segments.length - 1 && below < b.segments.length - 1 && Math.abs(one.x1 - other.x1) < 1)
    )
  )

/** Widest gaps of a justified line, in font sizes, and the most words that it has. */
const JUSTIFIED_GAP = 5
const JUSTIFIED_WORDS = 12

/** Whether a line's white is dealt out evenly between the margins: a justified line of few words, not cells. */
const isJustified = (
  line: Line,
  near: ReadonlyArray<Line | undefined>,
  left: number,
  right: number
): boolean => {
  const { segments, size, x0, x1 } = line
  if (segments.length < 3 || segments.length > JUSTIFIED_WORDS || x0 - left > 3 * size || right - x1 > size)
    return false
  const gaps = segments.slice(1).map((segment, at) => segment.x0 - (segments[at]?.x1 ?? 0))
  const most = greatest(gaps)
  return (
    most < JUSTIFIED_GAP * size &&
    most - least(gaps) < Math.max(1, 0.15 * most) &&
    !near.some((other) => areAligned(line, other))
  )
}

/** How much larger a section's title is than the lines around it. */
const TITLE = 1.1

/** Whether a line is a section's title whose number stands apart: in bold, larger than the lines around it but for a title above. */
const isTitle = (line: Line, [above, below]: ReadonlyArray<Line | undefined>): boolean => {
  const [number, words] = line.segments
  if (number === undefined || words === undefined || line.segments.length > 2 || !isBoldLine(line))
    return false
  const found = sectionNumber(line.text)
  const isSmaller = (other: Line | undefined): boolean =>
    other === undefined || line.size > TITLE * other.size
  return (
    (found?.scheme === "parts" || found?.scheme === "figure") &&
    segmentText(number).trim().length === line.text.slice(0, found.length).trim().length &&
    isSmaller(below) &&
    (isSmaller(above) || (above !== undefined && above.size >= line.size && isBoldLine(above)))
  )
}

/** Steps of lines in one cell may differ by this factor. */
const SAME_STEP = 1.12
/** How much further apart rows of wrapped cells stand than their lines. */
const ROW_APART = 1.18

interface PlacedCell {
  readonly segments: Array<Segment>
  readonly from: number
  readonly to: number
}

/** The columns of a line's cells. */
const inColumns = ({ bounds, cells }: Row, columns: ReadonlyArray<Column>): Array<PlacedCell> =>
  cells.map((segments, index) => {
    const cell = bounds[index] ?? boundsOf(segments)
    const over = columns.flatMap((column, number) => (overlaps(column, cell) ? [number] : []))
    const nearest = columns.findIndex(({ x1 }) => cell.x0 <= x1)
    const from = over[0] ?? (nearest === -1 ? columns.length - 1 : nearest)
    return { segments: [...segments], from, to: over.at(-1) ?? from }
  })

/**
 * Lines that make up one row where cells are wrapped: recognised by rows that are further apart than lines, and by lines that
 * fill some columns only. Returns the row of each line; each its own where nothing is wrapped.
 */
const rowNumbers = (
  rows: ReadonlyArray<Row>,
  placed: ReadonlyArray<ReadonlyArray<PlacedCell>>,
  columns: number
): ReadonlyArray<number> => {
  const last = new Map<number, number>()
  const steps: Array<{ readonly from: number; readonly to: number; readonly step: number }> = []
  for (const [at, cells] of placed.entries())
    for (const { from } of cells) {
      const above = last.get(from)
      const [line, before] = [rows[at]?.line, above === undefined ? undefined : rows[above]?.line]
      if (above !== undefined && line !== undefined && before !== undefined)
        steps.push({ from: above, to: at, step: line.baseline - before.baseline })
      last.set(from, at)
    }
  const joins = new Set<number>()
  for (const [at, { line }] of rows.entries()) {
    const above = rows[at - 1]?.line
    // Lines that overlap stand beside one another: cells with fewer lines, set in the middle of their row.
    if (above !== undefined && line.baseline - above.baseline < OVERLAPPING * line.size) joins.add(at)
  }
  const numbered = (): ReadonlyArray<number> => {
    let number = -1
    return rows.map((_, at) => (joins.has(at) ? number : (number += 1)))
  }
  const narrowest = least(steps.map(({ step }) => step))
  const tight = steps.filter(({ step }) => step <= narrowest * SAME_STEP)
  const full = (at: number) => (placed[at]?.length ?? 0) >= columns
  const wholeRows = tight.filter(({ from, to }) => to === from + 1 && full(from) && full(to)).length
  // Cells of a column may be rows apart where a group of rows shares one: what counts is one line after the other.
  const apart = rows.some(
    ({ line }, at) => line.baseline - (rows[at - 1]?.line.baseline ?? Infinity) > narrowest * ROW_APART
  )
  if (!apart || wholeRows > 0.5 * tight.length) return numbered()
  for (const { from, to } of tight) for (let at = from + 1; at <= to; at++) joins.add(at)
  return numbered()
}

const place = (rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column>): AlignedTable["rows"] => {
  const lines = rows.map((row) => inColumns(row, columns))
  const numbers = rowNumbers(rows, lines, columns.length)
  const placed: Array<Array<PlacedCell>> = []
  let bottom = -Infinity
  for (const [at, cells] of lines.entries()) {
    const line = rows[at]?.line
    const last = placed.at(-1)
    const wrapped = at > 0 && numbers[at] === numbers[at - 1]
    // A row without a first cell, set tight under another, continues its cells.
    const goesOn =
      last !== undefined &&
      line !== undefined &&
      (wrapped ||
        (cells.every(({ from }) => from > 0) &&
          cells.length < columns.length &&
          line.baseline - bottom < 1.35 * line.size &&
          cells.every(({ from }) => last.some((cell) => cell.from === from))))
    if (goesOn)
      for (const cell of cells) {
        const same = last.find(({ from }) => from === cell.from)
        if (same === undefined) last.push(cell)
        else append(same.segments, cell.segments)
      }
    else placed.push(cells)
    bottom = line?.baseline ?? bottom
  }
  return placed.map((row) => {
    const cells: Array<RawCell> = []
    let column = 0
    for (const { from, segments, to } of row.sort((a, b) => a.from - b.from)) {
      if (from < column) {
        const before = cells.pop()
        if (before !== undefined) cells.push({ ...before, segments: [...before.segments, ...segments] })
        continue
      }
      for (; column < from; column++) cells.push({ segments: [], colSpan: 1, rowSpan: 1 })
      cells.push({ segments, colSpan: to - from + 1, rowSpan: 1 })
      column = to + 1
    }
    for (; column < columns.length; column++) cells.push({ segments: [], colSpan: 1, rowSpan: 1 })
    return cells
  })
}

/** Two columns whose lines are all filled are running text. */
const isProse = (rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column>): boolean => {
  const cells = rows.flatMap(({ bounds, cells: of }) =>
    of.map((segments, at) => ({ segments, box: bounds[at] ?? boundsOf(segments) }))
  )
  const long = cells.filter(({ box, segments }) => {
    const column = columns.find((one) => overlaps(one, box))
    const characters = segments.reduce((sum, segment) => sum + segment.characters, 0)
    return column !== undefined && characters > 24 && box.x1 - box.x0 > 0.8 * (column.x1 - column.x0)
  })
  return columns.length <= 3 && long.length > 0.6 * cells.length
}

/** How often the search for a table's end is repeated. */
const MAX_ROUNDS = 3

/** The columns of rows that make up a table; undefined where they do not. `ruled`: rules show that there is one. */
const columnsIn = (rows: ReadonlyArray<Row>, ruled: boolean): ReadonlyArray<Column> | undefined => {
  const usual = usualCount(rows)
  const full = rows.filter(({ cells }) => cells.length === usual)
  if (full.length < (usual >= 3 || ruled ? 2 : 3)) return undefined
  // Wrapped cells leave lines with fewer cells than there are columns: all lines together show the columns best, unless some
  // span.
  const together = columnsOf(rows.flatMap(({ bounds, cells }) => (cells.length > 1 ? bounds : [])))
  const columns =
    together.length >= Math.max(2, usual) ? together : columnsOf(full.flatMap(({ bounds }) => bounds))
  return columns.length < 2 || columns.length < usual || isProse(rows, columns) ? undefined : columns
}

const tableAt = (lines: ReadonlyArray<Row>, from: number, ruled: boolean): AlignedTable | undefined => {
  const first = lines[from]
  if (first === undefined) return undefined
  let kept = lines.slice(from, endOf(lines, from, first))
  let columns: ReadonlyArray<Column> = []
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = columnsIn(kept, ruled)
    if (found === undefined) return undefined
    columns = found
    // Lines that cross columns are text: the table ends before the first of them.
    const stop = kept.findIndex(
      ({ bounds, cells }, index) =>
        index > 0 &&
        cells.length === 1 &&
        columns.filter((column) => bounds.some((cell) => overlaps(column, cell))).length > 1
    )
    if (stop === -1) break
    kept = kept.slice(0, stop)
  }
  const firsts = kept.map(({ cells }) => cells[0] ?? [])
  // Rows of three columns may have numbers.
  if (areMarkers(firsts, columns.length === 2)) return undefined
  if (areReferences(kept.flatMap(({ cells }) => (cells.length > 1 ? [cells[0] ?? []] : [])))) return undefined
  if (kept.some(({ near }) => near) && columns.length <= 3 && flowsOn(kept, columns)) return undefined
  const to = from + kept.length
  kept = [...kept, ...lines.slice(to, to + lastRows(lines, to, kept, columns))]
  const placed = place(kept, columns)
  if (placed.length < 2) return undefined
  return { from, to: from + kept.length, rows: placed, tops: kept.map(({ line }) => line.baseline) }
}

/** Tables among the lines of a column, recognised by alignment. Linear but for sorting. `ruled`: rules around them show that there is one. */
export const alignedTables = (lines: ReadonlyArray<Line>, ruled = false): ReadonlyArray<AlignedTable> => {
  const left = least(lines.map(({ x0 }) => x0))
  const right = lines.reduce((most, { x1 }) => Math.max(most, x1), -Infinity)
  const near = nearColumns(lines)
  const rows = lines.map((line, at): Row => {
    const starts = near[at] ?? []
    const around = [lines[at - 1], lines[at + 1]]
    const whole =
      isTitle(line, around) ||
      isPrototype(line) ||
      (starts.length === 0 && isJustified(line, around, left, right))
    const cells = whole ? [line.segments] : cellsOf(line, starts)
    return { line, cells, bounds: cells.map(boundsOf), near: starts.length > 0 }
  })
  const tables: Array<AlignedTable> = []
  for (let at = 0; at < rows.length;) {
    const table = (rows[at]?.cells.length ?? 0) > 1 ? tableAt(rows, at, ruled) : undefined
    if (table === undefined) at += 1
    else {
      // The first line of a wrapped head stands above those of its neighbours.
      const above = rows[at - 1]
      const first = rows[at]
      const before =
        above !== undefined &&
        first !== undefined &&
        at > (tables.at(-1)?.to ?? 0) &&
        above.cells.length === 1 &&
        first.line.baseline - above.line.baseline < OVERLAPPING * first.line.size
      tables.push((before ? tableAt(rows, at - 1, ruled) : undefined) ?? table)
      at = table.to
    }
  }
  return tables
}
