import { acrossOf, middleX } from "../../../../model/geometry.ts"
import { append, least } from "../../../../model/lists.ts"
import { segmentText } from "../../../lines/segment.ts"
import { groupNames } from "../cells/group-names.ts"
import { type GrowingCell, sharedCells } from "../cells/shared-cells.ts"
import {
  type Column,
  NUMERIC,
  overlaps,
  type RawCell,
  type Row,
  wordsOf,
  columnsUnder,
  filled
} from "../cells/table-cells.ts"
import { CELL_STEP, OVERLAPPING } from "../cells/table-extent.ts"
import type { Rule } from "../grid/rules.ts"
import { ruledOver } from "../grid/spanning-rules.ts"

/** A row's cells, and the baseline of its first line. */
interface PlacedRow {
  readonly cells: Array<GrowingCell>
  readonly top: number
}

/** Steps of lines in one cell may differ by this factor. */
const SAME_STEP = 1.12
/** Least step between rows of wrapped cells, as a factor of the step between their lines. */
const ROW_APART = 1.18

/** Fewest cells in the same columns that show two rows. */
const FEWEST_ALIKE = 3

/** Greatest offset of a spanning name from the middle of its columns, in font sizes. */
const OFF_CENTRE = 0.4
/** Names are looked for over no more columns. */
const MOST_NAMED = 40

/**
 * The columns under a name that spans several, which it need not reach: it is centred on them, and not aligned with the
 * cells of the one column below it. `taken`: columns of other names.
 */
export const centredOver = (
  cell: Column,
  at: number,
  columns: ReadonlyArray<Column>,
  size: number,
  taken: ReadonlyArray<Column> = []
): { readonly from: number; readonly to: number } => {
  const own = columns[at]
  const middle = middleX(cell)
  const off = (x0: number, x1: number) => Math.abs((x0 + x1) / 2 - middle)
  const alone = { from: at, to: at }
  if (own === undefined || columns.length > MOST_NAMED || taken.length > MOST_NAMED) return alone
  if (Math.abs(own.x0 - cell.x0) < 1 || Math.abs(own.x1 - cell.x1) < 1) return alone
  const isFree = (column: Column): boolean => !taken.some((other) => overlaps(other, column))
  let [first, last] = [at, at]
  for (let left = columns[first - 1]; left !== undefined && isFree(left); left = columns[first - 1])
    first -= 1
  for (let right = columns[last + 1]; right !== undefined && isFree(right); right = columns[last + 1])
    last += 1
  let best = { ...alone, off: Math.min(OFF_CENTRE * size, off(own.x0, own.x1)) }
  for (const [before, { x0 }] of columns.slice(first, at + 1).entries())
    for (const [after, { x1 }] of columns.slice(at, last + 1).entries())
      if (off(x0, x1) < best.off) best = { from: first + before, to: at + after, off: off(x0, x1) }
  return best
}

/** Widest space between two words, in font sizes. */
const SPACE = 0.4

/** The columns of a line's cells. `names`: cells may be names of several columns. */
const inColumns = (
  { bounds, cells, line }: Row,
  columns: ReadonlyArray<Column>,
  names: boolean,
  ruled: (name: Column) => Pick<GrowingCell, "from" | "to"> | undefined
): Array<GrowingCell> =>
  cells.map((segments, index) => {
    const cell = bounds[index] ?? acrossOf(segments)
    const known = names ? ruled(cell) : undefined
    if (known !== undefined) return { segments: [...segments], ...known }
    const { from, over, to } = columnsUnder(cell, columns)
    if (names && over.length < 2) {
      const others = bounds.length > MOST_NAMED ? bounds : bounds.filter((_, other) => other !== index)
      return { segments: [...segments], ...centredOver(cell, from, columns, line.size, others) }
    }
    // A group's name is the only one that goes over columns on its own: it is above all of them.
    if (cells.length === 1 && over.length > 1)
      return { segments: [...segments], from: 0, to: columns.length - 1 }
    return { segments: [...segments], from, to }
  })

/** Words of one column that justification sets far apart are one cell. */
const oneEach = (cells: ReadonlyArray<GrowingCell>): Array<GrowingCell> => {
  const merged: Array<GrowingCell> = []
  for (const cell of cells) {
    const last = merged.at(-1)
    if (last !== undefined && last.from === cell.from && last.to === cell.to)
      append(last.segments, cell.segments)
    else merged.push(cell)
  }
  return merged
}

/** Whether a line's cells continue numbers with numbers: those are never wrapped. */
const hasNumbersBelow = (cells: ReadonlyArray<GrowingCell>, above: ReadonlyArray<GrowingCell>): boolean =>
  cells.some(({ from, segments }) => {
    const over = above.find((cell) => cell.from === from)
    return (
      over !== undefined && NUMERIC.test(wordsOf(segments)) && NUMERIC.test(wordsOf(over.segments.slice(-1)))
    )
  })

/**
 * Lines that make up one row where cells are wrapped: recognised by rows that are further apart than lines, and by lines that
 * fill some columns only. Returns the row of each line; each its own where nothing is wrapped.
 */
const rowNumbers = (
  rows: ReadonlyArray<Row>,
  placed: ReadonlyArray<ReadonlyArray<GrowingCell>>,
  columns: number
): ReadonlyArray<number> => {
  const last = new Map<number, number>()
  const steps: Array<{
    readonly from: number
    readonly to: number
    readonly step: number
    readonly numbers: boolean
  }> = []
  for (const [at, cells] of placed.entries()) {
    // A group's name continues no cell, and none continues it.
    if (cells.some(({ from, to }) => from < to)) last.clear()
    else
      for (const cell of cells) {
        const above = last.get(cell.from)
        const [line, before] = [rows[at]?.line, above === undefined ? undefined : rows[above]?.line]
        if (above !== undefined && line !== undefined && before !== undefined) {
          const numbers = hasNumbersBelow([cell], placed[above] ?? [])
          steps.push({ from: above, to: at, step: line.baseline - before.baseline, numbers })
        }
        last.set(cell.from, at)
      }
  }
  const joins = new Set<number>()
  for (const [at, { line }] of rows.entries()) {
    const above = rows[at - 1]?.line
    // Overlapping lines are next to each other: cells with fewer lines, vertically centred in their row.
    if (above !== undefined && line.baseline - above.baseline < OVERLAPPING * line.size) joins.add(at)
  }
  const numbered = (): ReadonlyArray<number> => {
    let number = -1
    return rows.map((_, at) => (joins.has(at) ? number : (number += 1)))
  }
  const narrowest = least(steps.map(({ step }) => step))
  const tight = steps.filter(({ step }) => step <= narrowest * SAME_STEP)
  const full = (at: number) => (placed[at]?.length ?? 0) >= columns
  // Lines of one cell are nearer than rows that each fill the same columns.
  const areRows = (from: number, to: number, step: number): boolean =>
    step > CELL_STEP * (rows[from]?.line.size ?? 0) &&
    (placed[from]?.length ?? 0) >= FEWEST_ALIKE &&
    placed[from]?.length === placed[to]?.length &&
    placed[from]?.every((cell, at) => cell.from === placed[to]?.[at]?.from) === true
  const wholeRows = tight.filter(
    ({ from, numbers, step, to }) =>
      to === from + 1 && (numbers || (full(from) && full(to)) || areRows(from, to, step))
  ).length
  // Cells of a column may be rows apart where a group of rows shares one: what counts is one line after the other.
  const apart = rows.some(
    ({ line }, at) => line.baseline - (rows[at - 1]?.line.baseline ?? Infinity) > narrowest * ROW_APART
  )
  if (!apart || wholeRows > 0.5 * tight.length) return numbered()
  const begins = new Set(steps.flatMap(({ numbers, to }) => (numbers ? [to] : [])))
  for (const { from, to } of tight) for (let at = from + 1; at <= to; at++) if (!begins.has(at)) joins.add(at)
  return numbered()
}

/** Whether the next line's first word had room on a cell's last line: then that line does not continue it. */
const hadRoom = (above: GrowingCell, cell: GrowingCell, columns: ReadonlyArray<Column>): boolean => {
  const [left, right, last, next] = [
    columns[above.from],
    columns[above.to],
    above.segments.at(-1),
    cell.segments[0]
  ]
  if (left === undefined || right === undefined || last === undefined || next === undefined) return false
  if (last.hyphenated) return false
  const words = segmentText(next).trim()
  const [word = ""] = words.split(" ")
  const part = word.length / Math.max(1, words.length)
  const line = acrossOf(above.segments.filter(({ baseline }) => Math.abs(baseline - last.baseline) < 1))
  const needed = line.x1 - line.x0 + SPACE * last.size + part * (next.x1 - next.x0)
  return needed < right.x1 - left.x0
}

/** What columns are measured in. */
const UNIT = /^(?:\(.*\)|\[.*\])$/

/** Whether a line says below the names of columns what each is measured in: TeX sets those as a row. */
const areUnits = (cells: ReadonlyArray<GrowingCell>): boolean =>
  cells.every(({ segments }) => UNIT.test(wordsOf(segments)))

/** The lines of a table, those of wrapped cells put together. */
const joined = (
  rows: ReadonlyArray<Row>,
  lines: ReadonlyArray<ReadonlyArray<GrowingCell>>,
  columns: ReadonlyArray<Column>,
  isHead: boolean
): ReadonlyArray<PlacedRow> => {
  const numbers = rowNumbers(rows, lines, columns.length)
  const placed: Array<PlacedRow> = []
  let bottom = -Infinity
  for (const [at, cells] of lines.entries()) {
    const line = rows[at]?.line
    const last = placed.at(-1)?.cells
    const wrapped = at > 0 && numbers[at] === numbers[at - 1]
    // A row without a first cell, set tight under another, continues its cells.
    const goesOn =
      last !== undefined &&
      line !== undefined &&
      (wrapped ||
        (cells.every(({ from }) => from > 0) &&
          line.baseline - bottom < CELL_STEP * line.size &&
          !((isHead || placed.length === 1) && areUnits(cells)) &&
          cells.every((cell) => {
            const above = last.find(({ from }) => from === cell.from)
            return above !== undefined && !(isHead && hadRoom(above, cell, columns))
          }) &&
          !hasNumbersBelow(cells, last)))
    if (goesOn)
      for (const cell of cells) {
        const same = last.find(({ from }) => from === cell.from)
        if (same === undefined) last.push(cell)
        else append(same.segments, cell.segments)
      }
    else placed.push({ cells: [...cells], top: line?.baseline ?? bottom })
    bottom = line?.baseline ?? bottom
  }
  return placed
}

/**
 * The rows of a table from its lines, in these columns. `head`: the lower end of the column names, where a rule shows
 * it; `spans`: rules below names of several columns.
 */
export const rowsIn = (
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column>,
  head: number | undefined,
  spans: ReadonlyArray<Rule>
): { readonly rows: ReadonlyArray<ReadonlyArray<RawCell>>; readonly tops: ReadonlyArray<number> } => {
  // Names of several columns are above those of each one.
  const lowest = rows.findLastIndex(({ line }) => head !== undefined && line.baseline < head)
  // Without rules a line in bold may be a heading.
  const names: ReadonlySet<Row> = head === undefined ? new Set() : groupNames(rows)
  const all = rows.map((row, at) => ({
    row,
    cells: names.has(row)
      ? [{ segments: [...row.line.segments], from: 0, to: columns.length - 1 }]
      : oneEach(
          inColumns(row, columns, at < lowest, (name) => {
            const next = rows[at + 1]?.line.baseline ?? 0
            return ruledOver(name, row.line.baseline, next, spans, columns)
          })
        )
  }))
  const shared =
    head === undefined
      ? []
      : sharedCells(
          all.map(({ cells, row }) => ({ line: row.line, cells })),
          head
        )
  const taken = new Set(shared.map(({ cell }) => cell))
  const own = all
    .map(({ cells, row }) => ({ row, cells: cells.filter((cell) => !taken.has(cell)) }))
    .filter(({ cells }) => cells.length > 0)
  // The header rule adds space; ignore that gap when measuring row spacing.
  const placed = [true, false].flatMap((isHead) => {
    const part = own.filter(({ row }) => (head !== undefined && row.line.baseline < head) === isHead)
    return joined(
      part.map(({ row }) => row),
      part.map(({ cells }) => cells),
      columns,
      isHead
    )
  })
  const reaching = shared.map(({ cell, first, last }) => {
    const from = placed.findIndex(({ top }) => top >= first - 1)
    const to = placed.findLastIndex(({ top }) => top <= last + 1)
    return { cell, from, to }
  })
  return {
    rows: placed.map(({ cells }, at) => {
      const span = reaching.find(({ from, to }) => from <= at && at <= to)
      const inOrder = cells.toSorted((a, b) => a.from - b.from)
      // The first column is left out where a cell above reaches down into it.
      const rest = filled(inOrder, columns.length, span === undefined ? 0 : 1)
      return span?.from === at
        ? [{ segments: span.cell.segments, colSpan: 1, rowSpan: span.to - span.from + 1 }, ...rest]
        : rest
    }),
    tops: placed.map(({ top }) => top)
  }
}
