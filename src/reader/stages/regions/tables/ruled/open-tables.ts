import { greatest, least, median } from "../../../../model/lists.ts"
import type { Placed } from "../../../../model/placed.ts"
import type { InlineContext } from "../../../lines/inline.ts"
import { areListed } from "../../../lines/line-numbers.ts"
import { type Line, linesOf } from "../../../lines/line.ts"
import { numberedLines } from "../../../lines/numbered-lines.ts"
import { isBoldThroughout, type Segment, segmentText } from "../../../lines/segment.ts"
import { centredOver } from "../aligned/aligned-rows.ts"
import { alignedTables, MOST_BEFORE } from "../aligned/aligned-table.ts"
import { cutInColumns } from "../cells/narrow-columns.ts"
import {
  type Column,
  columnsOf,
  columnsUnder,
  NUMERIC,
  overlaps,
  type RawCell,
  wordsOf,
  filled
} from "../cells/table-cells.ts"
import { tableOf } from "../cells/table-of.ts"
import { bandedRows } from "../drawn/banded-rows.ts"
import { drawnTables } from "../drawn/drawn-table.ts"
import { alikeRules, placesOf, type Rule } from "../grid/rules.ts"
import { ruledOver, spanningRules } from "../grid/spanning-rules.ts"
import { rowsBelow } from "./rows-below.ts"

/** A table that rules show, and the segments that it holds. */
export interface RuledTable {
  readonly placed: Placed
  readonly taken: ReadonlyArray<Segment>
}

/** The words of a page, its level rules, its height in points, and the number of words that may still be examined. */
interface OfPage {
  readonly left: { words: number }
  readonly height: number
  readonly across: ReadonlyArray<Rule>
  readonly segments: ReadonlyArray<Segment>
  readonly context: InlineContext
}

/** Shortest rule of a table, and greatest length of words beyond its ends, in points. */
const SHORTEST = 60
const BESIDE = 12
/** Part of the lines between rules that belong to the table. */
const WHOLE = 0.8
/** Most rules of one width on a page of which each is tried as a table's last; of more the first ones are tried as its first. */
const MAX_TRIED = 16
/**
 * Limit on words that are examined per page, since thousands of rules may each hold a whole page: 30 times what 260
 * real documents took.
 */
const MOST_LOOKS = 100_000

const topOf = (row: ReadonlyArray<RawCell>): number =>
  least(row.flatMap(({ segments }) => segments.map(({ baseline }) => baseline)))

/** Ratio of sizes to most words from which on words are a heading. */
const HEADING = 1.12
/** Part of the lines that are code from which on a frame holds a listing. */
const LISTING = 0.5

/** True when words between lines may be a table's: none is larger than most, and they are not a listing. */
const mayBeCells = (words: ReadonlyArray<Segment>, { fonts }: InlineContext): boolean => {
  const sizes = words.map(({ size }) => size)
  const lines = linesOf(words, fonts)
  const code = lines.filter(({ monospace }) => monospace > LISTING).length
  return greatest(sizes) <= HEADING * (median(sizes) ?? 0) && code <= LISTING * lines.length
}

/** A line before or after a table's rows: its words are in one of the columns, centred on some, or across all. */
const looseRow = (
  line: Line,
  columns: ReadonlyArray<Column>,
  ruled: { readonly from: number; readonly to: number } | undefined
): ReadonlyArray<RawCell> => {
  const over = columns.flatMap((column, at) => (overlaps(column, line) ? [at] : []))
  // In the white between two columns it may be in the middle of both.
  const at = over[0] ?? columns.findIndex(({ x1 }) => line.x0 <= x1)
  const { from, to } = ruled ?? centredOver(line, at, columns, line.size)
  if (ruled === undefined && (over.length > 1 || (over.length === 0 && from === to)))
    return [{ segments: line.segments, colSpan: columns.length, rowSpan: 1 }]
  return filled([{ segments: line.segments, from, to }], columns.length)
}

/** Whether lines before a table's rows may be the names of its columns: one line, or each in a column, as what that is measured in. */
const areNames = (lines: ReadonlyArray<Line>, columns: ReadonlyArray<Column>): boolean =>
  lines.length < 2 ||
  (lines.length <= MOST_BEFORE &&
    lines.every((line) => columns.filter((column) => overlaps(column, line)).length < 2))

/** How far apart the rules below a running head and above a running foot are at least, in parts of the page's height. */
const RUNNING = 0.7

/** Whether these two rules part a page's text from its running head and foot: a line at most is above them, and below. */
const areRunning = (top: number, bottom: number, { height, segments }: OfPage): boolean => {
  const isLine = (words: ReadonlyArray<Segment>): boolean => {
    const baselines = words.map(({ baseline }) => baseline)
    return (
      words.length === 0 || greatest(baselines) - least(baselines) < greatest(words.map(({ size }) => size))
    )
  }
  return (
    bottom - top > RUNNING * height &&
    isLine(segments.filter(({ baseline }) => baseline <= top)) &&
    isLine(segments.filter(({ baseline }) => baseline >= bottom))
  )
}

/** Greatest distance of column names above the first rule, in font sizes, and their least number. */
const NAMED_ABOVE = 1.8
const FEWEST_NAMES = 3

/** Whether words of the cells' size are one above each column, and no figures, which some cells are: they name the columns. */
const nameEach = (names: ReadonlyArray<Segment>, taken: ReadonlyArray<Segment>): boolean => {
  const columns = columnsOf(taken)
  const over = names.map((one) => columnsUnder(one, columns).over)
  const size = median(taken.map((one) => one.size)) ?? 0
  return (
    names.length === columns.length &&
    names.every((one) => one.size < HEADING * size) &&
    over.every(([at, more], index) => at === index && more === undefined) &&
    !names.some((one) => NUMERIC.test(segmentText(one).trim())) &&
    taken.some((one) => NUMERIC.test(segmentText(one).trim()))
  )
}

/** Top of the column names above a table's first rule: bold, or one in each column, and none outside the rule. */
const topOfNames = (
  { placed, taken }: RuledTable,
  { from, to }: Rule,
  { context, segments }: OfPage
): number | undefined => {
  const top = placed.y0
  const above = segments.filter(
    ({ baseline, size }) => baseline <= top + 1 && top - baseline < NAMED_ABOVE * size
  )
  const last = greatest(above.map(({ baseline }) => baseline))
  const names = above.filter(({ baseline }) => last - baseline < 1).toSorted((a, b) => a.x0 - b.x0)
  const areNamed =
    names.length >= FEWEST_NAMES &&
    names.every((one) => one.x0 > from - BESIDE && one.x1 < to + BESIDE) &&
    (names.every((one) => isBoldThroughout(one, context.fonts)) || nameEach(names, taken))
  return areNamed ? least(names.map(({ y0 }) => y0)) : undefined
}

/** Fewest rules above rows that no rule closes: above and below a head, and below a row. */
const RULES_ABOVE = 3

/** Rows of names are no more, where they hold figures. */
const MOST_NAMES = 2

/**
 * Number of header rows above the second rule; undefined where these rows hold figures, since a rule also separates
 * rows of figures from others.
 */
const headIn = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  count: number | undefined
): number | undefined => {
  if (count === undefined || count === 0 || count === rows.length) return undefined
  const figures = rows
    .slice(0, count)
    .filter((row) => row.some(({ segments }) => NUMERIC.test(wordsOf(segments))))
  return count > MOST_NAMES && 2 * figures.length > count ? undefined : count
}

/**
 * The table between the first and the last rule at these places. `lines`: none of them is a box's side. `named`: names
 * are above the second one.
 */
const tableBetween = (
  ys: ReadonlyArray<number>,
  rule: Rule,
  page: OfPage,
  lines: boolean,
  named = false
): RuledTable | undefined => {
  const { across, context, segments } = page
  const { from: x0, to: x1 } = rule
  const [top, second, bottom] = [ys[0], ys[1], ys.at(-1)]
  if (top === undefined || second === undefined || bottom === undefined) return undefined
  if (ys.length === 2 && areRunning(top, bottom, page)) return undefined
  const near = segments.filter(
    (one) => one.baseline > top && one.baseline < bottom && one.x0 < x1 && one.x1 > x0
  )
  const taken = near.filter((one) => one.x0 > x0 - BESIDE && one.x1 < x1 + BESIDE)
  // Text that is wider than the rules is between two tables.
  if (taken.length < near.length || page.left.words < 0) return undefined
  page.left.words -= taken.length
  const box = { x0, y0: top, x1, y1: bottom }
  const headed = ys.length > 2
  const body = named ? taken.filter(({ baseline }) => baseline > second) : taken
  if (lines && !mayBeCells(body, context)) return undefined
  const cells = lines && headed ? cutInColumns(taken, second, context) : taken
  const banded = lines ? bandedRows(ys, taken, context.fonts) : undefined
  if (banded !== undefined) return { placed: { block: tableOf(banded, context, undefined), ...box }, taken }
  const drawn = drawnTables(cells, context.fonts).find(({ segments: of }) => of.length === cells.length)
  if (drawn !== undefined) {
    const head = headed ? drawn.rows.filter((row) => topOf(row) < second).length : undefined
    const headRows = headIn(drawn.rows, head)
    return { placed: { block: tableOf(drawn.rows, context, headRows), ...box }, taken }
  }
  const rowsIn = linesOf(cells, context.fonts)
  // Rules above and below frame a listing as well.
  if (ys.length === 2 && areListed(rowsIn)) return undefined
  if (numberedLines(rowsIn).length > 0) return undefined
  const spans = spanningRules(across, top, headed ? second : bottom, rule)
  const frame = { head: headed ? second : undefined, headed: ys.length === 3, lines, spans }
  const [table] = alignedTables(rowsIn, frame)
  if (table === undefined || !areNames(rowsIn.slice(0, table.from), table.columns)) return undefined
  const inHead = rowsIn.slice(0, table.from).filter(({ baseline }) => headed && baseline < second)
  if (table.to - table.from < WHOLE * (rowsIn.length - inHead.length)) return undefined
  const head = headed ? table.tops.filter((baseline) => baseline < second).length : undefined
  const loose = (from: number, to: number) =>
    rowsIn.slice(from, to).map((line, at) => {
      const next = rowsIn[from + at + 1]?.baseline ?? bottom
      return looseRow(line, table.columns, ruledOver(line, line.baseline, next, spans, table.columns))
    })
  const [rows, rest] = [loose(0, table.from), loose(table.to, rowsIn.length)]
  const all = [...rows, ...table.rows, ...rest]
  const headRows = head === undefined || head >= table.rows.length ? undefined : head + rows.length
  return { placed: { block: tableOf(all, context, headIn(all, headRows)), ...box }, taken }
}

/** The table between the first and the last of rules at these places, with the names above them and the rows below. */
const tableAt = (...[ys, rule, page, lines]: Parameters<typeof tableBetween>): RuledTable | undefined => {
  const table = tableBetween(ys, rule, page, lines)
  if (table === undefined) return undefined
  const names = topOfNames(table, rule, page)
  const isNamed = names !== undefined
  const whole = isNamed ? (tableBetween([names, ...ys], rule, page, lines, true) ?? table) : table
  const all = whole === table ? ys : [names ?? 0, ...ys]
  if (all.length < RULES_ABOVE) return whole
  const below = rowsBelow(whole.taken, whole.placed.y1, rule, page.segments, page.across)
  return below === undefined ? whole : (tableBetween([...all, below], rule, page, lines, all !== ys) ?? whole)
}

/** The tables between lines at these places, each as long as it may be. */
const between = (ys: ReadonlyArray<number>, first: Rule, page: OfPage): ReadonlyArray<RuledTable> => {
  const found: Array<RuledTable> = []
  const many = ys.length > MAX_TRIED
  const fewest = many ? ys.length - 1 : 1
  for (let from = 0; from < (many ? MAX_TRIED : ys.length - 1);) {
    let to = ys.length - 1
    let table = tableAt(ys.slice(from, to + 1), first, page, true)
    while (table === undefined && to - from > fewest) {
      to -= 1
      table = tableAt(ys.slice(from, to + 1), first, page, true)
    }
    if (table === undefined) {
      from += 1
      continue
    }
    found.push(table)
    from = to + 1
  }
  return found
}

/**
 * Tables with rules above, below and under their head, and none between columns. Where rules of one width are those of several
 * tables, each is as long as it may be.
 */
export const openTables = (of: Omit<OfPage, "left">): ReadonlyArray<RuledTable> => {
  const page = { ...of, left: { words: MOST_LOOKS } }
  return alikeRules(page.across).flatMap((rules): ReadonlyArray<RuledTable> => {
    const [first] = rules
    if (first === undefined || first.to - first.from < SHORTEST) return []
    const whole = (): ReadonlyArray<RuledTable> => {
      const table = tableAt(placesOf(rules), first, page, false)
      return table === undefined ? [] : [table]
    }
    const drawn = rules.filter(({ side }) => side !== true)
    // The sides of boxes make a table as a whole only: a listing's ground is below many a heading's line.
    const boxed = drawn.length < rules.length ? whole() : []
    if (boxed.length > 0) return boxed
    const found = between(placesOf(drawn), first, page)
    return found.length > 0 || drawn.length < rules.length ? found : whole()
  })
}
