import { acrossOf } from "../../../../model/geometry.ts"
import { greatest, least } from "../../../../model/lists.ts"
import { isBoldLine, isCode, type Line } from "../../../lines/line.ts"
import { isPrototype } from "../../../lines/markers.ts"
import { sectionNumber } from "../../../lines/section-number.ts"
import { segmentText, charactersOf, gapsIn } from "../../../lines/segment.ts"
import { areJustified } from "../cells/justified-rows.ts"
import { areWordsInColumns } from "../cells/off-grid.ts"
import {
  areEquations,
  areListedOn,
  areMarkers,
  areReferences,
  CELL_GAP,
  cellsOf,
  type Column,
  columnsOf,
  overlaps,
  type RawCell,
  type Row,
  usualCount,
  areProse
} from "../cells/table-cells.ts"
import { endOf, lastRows, OVERLAPPING } from "../cells/table-extent.ts"
import type { Rule } from "../grid/rules.ts"
import { rowsIn } from "./aligned-rows.ts"
import { areClosings, areCounted, areSections } from "./listed-rows.ts"
import { flowsOn, nearColumns } from "./near-columns.ts"
import { toldApart } from "./run-together.ts"

/** Rows of a table that is recognised by its alignment alone, and the lines that they take up. */
export interface AlignedTable {
  /** First line, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly rows: ReadonlyArray<ReadonlyArray<RawCell>>
  /** Baseline of each row's first line. */
  readonly tops: ReadonlyArray<number>
  readonly columns: ReadonlyArray<Column>
}

/** The rules around lines, as far as they describe the table. */
interface Frame {
  /** Where the rule below the names of the columns is drawn, if one is. */
  readonly head: number | undefined
  /** True when that rule is the only one between the first and the last: two rows are enough. */
  readonly headed: boolean
  /** True when the rules are lines, and not sides of a box: everything between them belongs to the table. */
  readonly lines: boolean
  /** Rules below names of several columns. */
  readonly spans: ReadonlyArray<Rule>
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

/**
 * Widest gaps of a justified line, in font sizes, the most words that it has, and how far it is set in, in font sizes, at most: further
 * where more than two gaps are alike.
 */
const JUSTIFIED_GAP = 5
const JUSTIFIED_WORDS = 12
const SET_IN = 3
const SET_IN_FAR = 6

/** Whether a line's white is dealt out evenly between the margins: a justified line of few words, not cells. */
const isJustified = (
  line: Line,
  near: ReadonlyArray<Line | undefined>,
  left: number,
  right: number
): boolean => {
  const { segments, size, x0, x1 } = line
  const setIn = segments.length > 3 ? SET_IN_FAR : SET_IN
  if (segments.length < 3 || segments.length > JUSTIFIED_WORDS) return false
  if (x0 - left > setIn * size || right - x1 > size) return false
  const gaps = gapsIn(segments)
  const most = greatest(gaps)
  return (
    most < JUSTIFIED_GAP * size &&
    most - least(gaps) < Math.max(1, 0.15 * most) &&
    !near.some((other) => areAligned(line, other))
  )
}

/** How much larger a section's title is than the lines around it. */
const TITLE = 1.1

/**
 * True when a line is a section title with a separated number: bold, and larger than the lines around it but for a
 * title above.
 */
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

/** True when two columns have all lines filled: running text. */
const isProse = (rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column>): boolean =>
  areProse(
    rows.flatMap(({ cells }) => cells.map((cell) => ({ ...acrossOf(cell), characters: charactersOf(cell) }))),
    columns
  )

/** How often the search for a table's end is repeated. */
const MAX_ROUNDS = 3

/** The columns of rows that make up a table; undefined where they do not. `ruled`: rules show that there is one. */
const columnsIn = (rows: ReadonlyArray<Row>, ruled: boolean): ReadonlyArray<Column> | undefined => {
  const usual = usualCount(rows)
  const full = rows.filter(({ cells }) => cells.length === usual)
  if (full.length < (usual >= 3 || ruled ? 2 : 3)) return undefined
  // Wrapped cells leave lines with fewer cells than there are columns: all lines together show the columns best, unless some
  // span.
  const boundsIn = (of: ReadonlyArray<Row>) =>
    columnsOf(of.flatMap(({ bounds, cells }) => (cells.length > 1 ? bounds : [])))
  const [together, body] = [boundsIn(rows), boundsIn(rows.slice(1))]
  // Names of columns may be as near as words.
  const whole =
    together.length > 1 &&
    body.length > together.length &&
    rows[0] !== undefined &&
    toldApart(rows[0], body).cells.length >= body.length
      ? body
      : together
  const columns = whole.length >= Math.max(2, usual) ? whole : columnsOf(full.flatMap(({ bounds }) => bounds))
  return columns.length < 2 || columns.length < usual || isProse(rows, columns) ? undefined : columns
}

/** True when a line is one cell across columns. */
const isAcross = ({ bounds, cells }: Row, columns: ReadonlyArray<Column>): boolean =>
  cells.length === 1 && columns.filter((column) => bounds.some((cell) => overlaps(column, cell))).length > 1

/** Greatest share of the lines between rules that span columns: each names a group of the rows below it. */
const GROUP_NAMES = 0.4

/** By how much the steps around a group's name may be wider than those of rows without one. */
const GROUP_STEP = 1.3

/** The widest step around a group's name: as rows are apart. */
const groupStep = (rows: ReadonlyArray<Row>): number => {
  const steps = rows.slice(1).flatMap(({ cells, line }, at) => {
    const above = rows[at]
    return cells.length > 1 && above !== undefined && above.cells.length > 1
      ? [line.baseline - above.line.baseline]
      : []
  })
  return GROUP_STEP * least(steps)
}

/**
 * True when a line across columns names the group of rows below it, without a rule: a row is right above and below,
 * each cell of the latter in a separate column, all at row distance. A text's lines would continue across columns, or
 * be further apart; lines before dates make two columns.
 */
const namesGroup = (
  [above, row, below]: ReadonlyArray<Row | undefined>,
  columns: ReadonlyArray<Column>,
  step: number
): boolean =>
  above !== undefined &&
  row !== undefined &&
  below !== undefined &&
  columns.length > 2 &&
  above.cells.length > 1 &&
  below.cells.length > 1 &&
  row.line.baseline - above.line.baseline < step &&
  below.line.baseline - row.line.baseline < step &&
  below.bounds.every((cell) => columns.filter((one) => overlaps(one, cell)).length === 1)

/** Lines before a table that rules hold, at most. */
export const MOST_BEFORE = 2

/** True when lines across columns name groups of rows: rows are below each of them. */
const areGroups = (lines: ReadonlyArray<Row>, columns: ReadonlyArray<Column>): boolean => {
  const across = lines.map((line) => isAcross(line, columns))
  return (
    across.filter(Boolean).length <= GROUP_NAMES * lines.length &&
    across.every((is, at) => !is || (lines[at + 1]?.cells.length ?? 0) > 1)
  )
}

/** The lines of a table and its columns. */
interface Extent {
  readonly kept: ReadonlyArray<Row>
  readonly columns: ReadonlyArray<Column>
}

/** The lines of the table that begins with one, and its columns; rules end it. */
const extentOf = (lines: ReadonlyArray<Row>, from: number, frame: Frame | undefined): Extent | undefined => {
  const first = lines[from]
  if (first === undefined) return undefined
  if (frame?.head !== undefined && frame.lines && from <= MOST_BEFORE) {
    const kept = lines.slice(from)
    const columns = columnsIn(kept, frame.headed)
    if (columns !== undefined && areGroups(kept, columns)) return { kept, columns }
  }
  let kept = lines.slice(from, endOf(lines, from, first))
  let columns: ReadonlyArray<Column> = []
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = columnsIn(kept, frame?.headed === true)
    if (found === undefined) return undefined
    columns = found
    // Lines that cross columns are text: the table ends before the first of them.
    const step = groupStep(kept)
    const stop = kept.findIndex(
      (row, index) =>
        index > 0 &&
        isAcross(row, columns) &&
        !namesGroup([kept[index - 1], row, kept[index + 1]], columns, step)
    )
    if (stop === -1) break
    kept = kept.slice(0, stop)
  }
  return { kept, columns }
}

const tableAt = (
  lines: ReadonlyArray<Row>,
  from: number,
  frame: Frame | undefined
): AlignedTable | undefined => {
  const extent = extentOf(lines, from, frame)
  if (extent === undefined) return undefined
  const { columns } = extent
  let kept: ReadonlyArray<Row> = extent.kept.map((row) => toldApart(row, columns))
  // Lines with one cell continue the row above.
  const firsts = kept.flatMap(({ cells }) => (cells.length > 1 ? [cells[0] ?? []] : []))
  // Rows of three columns may have numbers.
  if (areMarkers(firsts, columns.length === 2) || areReferences(firsts)) return undefined
  const lasts = kept.flatMap(({ cells }) => (cells.length > 1 ? cells.slice(-1) : []))
  if (areEquations(lasts) || areClosings(lasts) || areCounted(kept)) return undefined
  if (columns.length === 2 && areSections(firsts)) return undefined
  const isListing = kept.every(({ line }) => isCode(line) && !isBoldLine(line))
  if (isListing && !areWordsInColumns(kept.map(({ cells }) => cells))) return undefined
  if (areListedOn(kept.map(({ cells }) => cells))) return undefined
  const cut = kept.flatMap(({ cells, line }) => (cells.length > 1 ? [line.segments] : []))
  if (areJustified(cut)) return undefined
  if (kept.some(({ near }) => near) && columns.length <= 3 && flowsOn(kept, columns)) return undefined
  const to = from + kept.length
  kept = [...kept, ...lines.slice(to, to + lastRows(lines, to, kept, columns))]
  const table = rowsIn(kept, columns, frame?.head, frame?.spans ?? [])
  return table.rows.length < 2 ? undefined : { ...table, from, to: from + kept.length, columns }
}

/** Lines of a column that are tried as a table's first, and begin none: a page of nothing but short words has thousands. */
const MOST_TRIED = 250

/**
 * Tables among the lines of a column, recognised by alignment. Linear but for sorting. `frame`: rules around them show that there
 * is one, which begins with the first lines.
 */
export const alignedTables = (lines: ReadonlyArray<Line>, frame?: Frame): ReadonlyArray<AlignedTable> => {
  const left = least(lines.map(({ x0 }) => x0))
  const right = greatest(lines.map(({ x1 }) => x1))
  const near = nearColumns(lines)
  const rows = lines.map((line, at): Row => {
    const starts = near[at] ?? []
    const around = [lines[at - 1], lines[at + 1]]
    const whole =
      isTitle(line, around) ||
      isPrototype(line) ||
      (starts.length === 0 && frame?.head === undefined && isJustified(line, around, left, right))
    const cells = whole ? [line.segments] : cellsOf(line, starts, frame?.head === undefined ? CELL_GAP : 0)
    return { line, cells, bounds: cells.map(acrossOf), near: starts.length > 0 }
  })
  const tables: Array<AlignedTable> = []
  let missed = 0
  const last = frame === undefined ? rows.length : Math.min(rows.length, MOST_BEFORE + 2)
  for (let at = 0; at < last && missed < MOST_TRIED;) {
    const tries = (rows[at]?.cells.length ?? 0) > 1
    const table = tries ? tableAt(rows, at, frame) : undefined
    if (table === undefined) {
      if (tries) missed += 1
      at += 1
    } else {
      // The first line of a wrapped header is above those of its neighbours.
      const above = rows[at - 1]
      const first = rows[at]
      const before =
        above !== undefined &&
        first !== undefined &&
        at > (tables.at(-1)?.to ?? 0) &&
        above.cells.length === 1 &&
        first.line.baseline - above.line.baseline < OVERLAPPING * first.line.size
      tables.push((before ? tableAt(rows, at - 1, frame) : undefined) ?? table)
      at = table.to
    }
  }
  return tables
}
