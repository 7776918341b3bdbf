import { acrossOf } from "../../model/geometry.ts"
import { firstNotBefore, greatest, least } from "../../model/lists.ts"
import type { TextRun } from "../../model/page-content.ts"
import { isComment } from "./comments.ts"
import type { Line } from "./line.ts"
import { SEGMENT_GAP, segmentText, charactersOf } from "./segment.ts"

/** Fewest numbers in a column: of every line, of every line between two columns of text, and of every few lines. */
const MIN_NUMBERS = 5
const MIN_BETWEEN = 15
const MIN_OF_FEW = 4
/** A page has no more columns of them: what counts in more places is a table. */
const MAX_COLUMNS = 4
/** Edges within this many points are one column's. */
const SAME_EDGE = 2
/** Baselines within this many points are one line's. */
const SAME_LINE = 1.5
/** Share of the steps that are others than the usual one, where one may be in any case. */
const MAX_BREAKS = 0.15
/** A gap that separates cells, in font sizes. */
const CELL_GAP = 1.5
/** Least width of a line of text, as a share of the page's. */
const TEXT_WIDTH = 0.25
/**
 * Least share of numbers at lines that continue a sentence from the line above: list items and table rows do not
 * continue one.
 */
const GOING_ON = 0.3
/** Share of the numbers that are separated from their line, as cells are. */
const MOSTLY = 0.5
/** Least length of a line that continues below, as a share of the longest. */
const FULL = 0.75
/**
 * Greatest difference between the left edges of two lines, in font sizes, and how many other lines (scripts, another
 * column) may come between them.
 */
const INDENT = 4
const ABOVE = 3
/**
 * Lines that begin elsewhere than most, by at least this many font sizes: a title, a paragraph's first line. Items and
 * cells begin below one another.
 */
const ELSEWHERE = 1.5
const MIN_ELSEWHERE = 0.2
/** Fewest sentences that go on, and fewest numbers without a line in a column of so many, where lines begin anywhere. */
const MIN_GOING_ON = 2
const MIN_EMPTY = 3
const MIN_NUMBERED_PAPER = 20
/** Greatest size of numbers between two columns of text, as a share of the text's size. */
const SMALLER = 0.85

const NUMBER = /^\d{1,5}$/

const numberOf = ({ text }: TextRun): number => Number(text)

/** Numbers below each other, from top to bottom. */
interface NumberColumn {
  readonly numbers: ReadonlyArray<TextRun>
  /** Lines from one number to the next. */
  readonly step: number
  readonly x0: number
  readonly x1: number
}

/** By what numbers, from top to bottom, count lines: each is ahead of the one above by the same 1, 2, 5 or 10. */
const stepOf = (numbers: ReadonlyArray<TextRun>): number | undefined => {
  const steps = numbers.slice(1).map((one, at) => numberOf(one) - numberOf(numbers[at] ?? one))
  const breaks = Math.max(1, MAX_BREAKS * steps.length)
  return [1, 2, 5, 10].find((step) => steps.filter((one) => one !== step).length <= breaks)
}

/** Columns of numbers that count, from left to right. */
const columnsIn = (runs: ReadonlyArray<TextRun>): ReadonlyArray<NumberColumn> => {
  const numbers = runs
    .filter(({ text }) => text.length <= 6 && NUMBER.test(text.trim()))
    .sort((a, b) => a.box.x1 - b.box.x1)
  const columns: Array<Array<TextRun>> = []
  for (const one of numbers) {
    const column = columns.at(-1)
    if (column !== undefined && one.box.x1 - (column[0]?.box.x1 ?? 0) < SAME_EDGE) column.push(one)
    else columns.push([one])
  }
  return columns.flatMap((column) => {
    if (column.length < MIN_OF_FEW) return []
    column.sort((a, b) => a.baseline - b.baseline)
    const step = stepOf(column)
    if (step === undefined || (step === 1 && column.length < MIN_NUMBERS)) return []
    return [
      {
        numbers: column,
        step,
        ...acrossOf(column.map(({ box }) => box))
      }
    ]
  })
}

/** The first words of a line, up to the first gap. */
interface TextLine {
  readonly baseline: number
  readonly first: TextRun
  readonly width: number
}

const textLine = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextLine> => {
  const [first, ...rest] = runs.toSorted((a, b) => a.box.x0 - b.box.x0)
  if (first === undefined) return []
  let { x1 } = first.box
  for (const { box, size } of rest) if (box.x0 - x1 < CELL_GAP * size) x1 = Math.max(x1, box.x1)
  return [{ baseline: first.baseline, first, width: x1 - first.box.x0 }]
}

/** Lines from top to bottom; raised and lowered pieces, such as scripts, may form separate ones. */
const textLines = (text: ReadonlyArray<TextRun>): ReadonlyArray<TextLine> => {
  const lines: Array<Array<TextRun>> = []
  for (const run of text.toSorted((a, b) => a.baseline - b.baseline)) {
    const line = lines.at(-1)
    if (line === undefined || run.baseline - (line[0]?.baseline ?? 0) > SAME_LINE) lines.push([run])
    else line.push(run)
  }
  return lines.flatMap(textLine)
}

/**
 * The text that a column of numbers may count the lines of: the column is outside of it, or between two columns of it.
 */
const textBeside = (
  { numbers, step, x0, x1 }: NumberColumn,
  text: ReadonlyArray<TextRun>
): { readonly text: ReadonlyArray<TextRun>; readonly outside: boolean } => {
  if (!text.some(({ box }) => box.x1 > x0)) return { text, outside: true }
  const after = text.filter(({ box }) => box.x0 > x1)
  if (!text.some(({ box }) => box.x0 < x1)) return { text: after, outside: true }
  const [top, bottom] = [numbers[0]?.baseline ?? 0, numbers.at(-1)?.baseline ?? 0]
  const crosses = ({ baseline, box }: TextRun): boolean =>
    baseline >= top && baseline <= bottom && box.x0 < x1 && box.x1 > x0
  const size = greatest(numbers.map((one) => one.size))
  const between = step > 1 || (numbers.length >= MIN_BETWEEN && !text.some(crosses))
  return { text: between ? after.filter((run) => size < SMALLER * run.size) : [], outside: false }
}

/** True when the numbered lines belong to paragraphs, or are separated from them. */
const countsLines = (column: NumberColumn, all: ReadonlyArray<TextRun>, pageWidth: number): boolean => {
  const { outside, text } = textBeside(column, all)
  const { numbers } = column
  const lines = textLines(text)
  const beside = numbers.flatMap(({ baseline }) => {
    const at = firstNotBefore(lines, (line) => line.baseline < baseline - SAME_LINE)
    const line = lines[at]
    if (line === undefined || line.baseline > baseline + SAME_LINE) return []
    const above = lines
      .slice(Math.max(0, at - ABOVE), at)
      .findLast(({ first }) => Math.abs(first.box.x0 - line.first.box.x0) < INDENT * line.first.size)
    return [{ line, above: above?.width ?? 0 }]
  })
  const longest = greatest(beside.map(({ line }) => line.width))
  const wide = beside.filter(({ line }) => line.width > TEXT_WIDTH * pageWidth)
  const goingOn = wide.filter(
    ({ above, line }) => above > FULL * longest && /^\s*[\p{Ll}\p{Lo}]/u.test(line.first.text)
  )
  const apart = wide.filter(({ line: { first, width } }) => {
    const gap = Math.max(first.box.x0 - column.x1, column.x0 - (first.box.x0 + width))
    return outside && gap > SEGMENT_GAP * first.size
  })
  if (goingOn.length >= GOING_ON * numbers.length || apart.length >= MOSTLY * numbers.length) return true
  // Printed paper numbers its empty lines, too.
  const isPaper = numbers.length >= MIN_NUMBERED_PAPER && numbers.length - beside.length >= MIN_EMPTY
  return (
    outside && (isPaper || goingOn.length >= MIN_GOING_ON) && beginAnywhere(beside.map(({ line }) => line))
  )
}

/** True when some lines begin elsewhere than most: items, cells and lines of a list do not. */
const beginAnywhere = (lines: ReadonlyArray<TextLine>): boolean => {
  const starts = lines.map(({ first }) => first.box.x0)
  const away = (from: number): number =>
    lines.filter(({ first }) => Math.abs(first.box.x0 - from) > ELSEWHERE * first.size).length
  return starts.length > 0 && least(starts.map(away)) >= MIN_ELSEWHERE * starts.length
}

/** The columns that number the lines of a page. */
const numbering = (runs: ReadonlyArray<TextRun>, pageWidth: number): ReadonlyArray<NumberColumn> => {
  const columns = columnsIn(runs)
  if (columns.length === 0 || columns.length > MAX_COLUMNS) return []
  const counting = new Set(columns.flatMap(({ numbers }) => numbers))
  const text = runs.filter((run) => !counting.has(run))
  return columns.filter((column) => countsLines(column, text, pageWidth))
}

/** Right edges of the numbers of a page's lines, for its document's pages with few lines. */
export const lineNumberEdges = (runs: ReadonlyArray<TextRun>, pageWidth: number): ReadonlyArray<number> =>
  numbering(runs, pageWidth).map(({ x1 }) => x1)

/**
 * Removes line numbers: a separate column outside of the text, or, in small type, between two columns of it. Numbers of
 * a table's rows, of list items and of a listing's lines stay: no sentence continues from one of these to the next.
 * `edges` are those of other pages: a number there is one, however few there are. Linear but for sorting.
 */
export const withoutLineNumbers = (
  runs: ReadonlyArray<TextRun>,
  pageWidth: number,
  edges: ReadonlyArray<number> = []
): ReadonlyArray<TextRun> => {
  const found = new Set(numbering(runs, pageWidth).flatMap(({ numbers }) => numbers))
  const isNumber = (run: TextRun): boolean =>
    found.has(run) ||
    (NUMBER.test(run.text.trim()) && edges.some((edge) => Math.abs(edge - run.box.x1) < SAME_EDGE))
  return found.size === 0 && edges.length === 0 ? runs : runs.filter((run) => !isNumber(run))
}

/** Part of a line that is monospaced, its number aside, where it is one of a listing. */
const LISTING = 0.9

/** Whether lines are those of a listing: monospaced, but for numbers before them and comments after them. */
export const areListed = (lines: ReadonlyArray<Line>): boolean => {
  const own = lines.map(({ segments: [first, ...rest] }) => {
    const isNumber = first !== undefined && NUMBER.test(segmentText(first).trim())
    const comment = rest.findIndex((segment) => isComment(segmentText(segment)))
    const code = comment === -1 ? rest : rest.slice(0, comment)
    return charactersOf(first === undefined || isNumber ? code : [first, ...code])
  })
  return (
    own.some((letters) => letters > 0) &&
    lines.every(
      ({ monospace, segments }, at) => monospace * charactersOf(segments) >= LISTING * (own[at] ?? 0)
    )
  )
}
