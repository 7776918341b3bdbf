import { type Block, type Cell, type Table, NO_SEAM } from "../blocks/block.ts"
import { isTick } from "../blocks/field-labels.ts"
import { fieldBlock } from "../blocks/fields.ts"
import { type InlineContext, spansOf } from "../lines/inline.ts"
import { type Line, linesOf } from "../lines/line.ts"
import { markerOf } from "../lines/markers.ts"
import { cutAt, type Segment, segmentText } from "../lines/segment.ts"
import { isBoldLine } from "../statistics.ts"
import { headOf, type Looks } from "./table-head.ts"

/** A cell that is being filled. */
export interface RawCell {
  readonly segments: ReadonlyArray<Segment>
  readonly colSpan: number
  readonly rowSpan: number
}

/** A value: a number with its signs and units of money, with what it may vary by, and with the marks of its notes. */
export const NUMERIC = /^[-+–−±<>≤≥~≈$€£¥%().,:/\s]*\d[-+–−±<>≤≥~≈$€£¥%()\d.,:/\s×xeE∗*†‡]*$/

const looksOf = ({ segments }: RawCell, context: InlineContext): Looks => {
  const words = segments.some(({ field }) => field !== undefined)
    ? segments.filter(({ field }) => field === undefined)
    : segments
  const lines = linesOf(words, context.fonts)
  const text = lines.map((line) => line.text).join(" ")
  return { lines, text, bold: lines.length > 0 && lines.every(isBoldLine), numeric: NUMERIC.test(text) }
}

/** A cell's words; items of a list in it stay apart. */
const blocksOf = ({ lines }: Looks, context: InlineContext, ignoreBold: boolean): ReadonlyArray<Block> => {
  if (lines.length === 0) return []
  const groups: Array<Array<Line>> = []
  for (const line of lines) {
    const marker = markerOf(line.text)
    if (groups.length === 0 || (marker !== undefined && !marker.ordered)) groups.push([line])
    else groups.at(-1)?.push(line)
  }
  return groups.map((group) => ({
    kind: "paragraph",
    spans: spansOf(group, { ...context, ignoreBold: context.ignoreBold || ignoreBold }),
    seam: NO_SEAM,
    lang: undefined
  }))
}

/** Whether the first cells name their rows: bold where the others are not, or words before figures. */
const namesRows = (body: ReadonlyArray<ReadonlyArray<Looks>>): boolean => {
  if (body.length < 2 || body.some((row) => row.length < 2)) return false
  const firsts = body.map((row) => row[0])
  const others = body.flatMap((row) => row.slice(1)).filter(({ text }) => text !== "")
  if (others.length === 0) return false
  if (firsts.every((cell) => cell?.text !== "" && cell?.bold === true) && others.some(({ bold }) => !bold))
    return true
  const words = firsts.filter((cell) => cell !== undefined && cell.text !== "" && !cell.numeric).length
  return words >= 0.8 * firsts.length && others.filter(({ numeric }) => numeric).length >= 0.6 * others.length
}

/** The fields in a cell, named by the words in it, else by those that begin its row and head its column. */
const fieldsIn = (cell: RawCell, own: string, names: ReadonlyArray<string>): ReadonlyArray<Block> =>
  cell.segments.flatMap(({ field }): ReadonlyArray<Block> => {
    if (field === undefined) return []
    const label = field.label?.trim() || own || names.filter((name) => name !== "").join(", ")
    return [{ ...fieldBlock(field, label), spoken: (label !== "" && !isTick(field)) || own === label }]
  })

/** Whether each row begins with a cell of its own, and not beside one that reaches down from a row above. */
const ownFirsts = (rows: ReadonlyArray<ReadonlyArray<RawCell>>): ReadonlyArray<boolean> => {
  let below = 0
  return rows.map(([first], at) => {
    if (at < below) return false
    below = at + (first?.rowSpan ?? 1)
    return true
  })
}

/** Makes a table of filled cells. `headRows`: how many are known to be its head; else the cells' looks decide. */
export const tableOf = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  context: InlineContext,
  headRows: number | undefined
): Table => {
  const looks = rows.map((row) => row.map((cell) => looksOf(cell, context)))
  const head = headRows ?? headOf(rows, looks)
  const guessed =
    headRows === undefined && head > 0 && !looks[0]?.every(({ bold, text }) => bold || text === "")
  const rowHeaders = namesRows(looks.slice(head))
  const owns = ownFirsts(rows)
  const cells = rows.map((row, at) =>
    row.map((cell, column): Cell => {
      const isName = rowHeaders && column === 0 && owns[at] === true
      const header = at < head ? "column" : isName ? "row" : undefined
      const known = looks[at]?.[column]
      const names = [
        looks[at]?.[0]?.text ?? "",
        looks[0]?.length === row.length ? (looks[0][column]?.text ?? "") : ""
      ]
      const words = known === undefined ? [] : blocksOf(known, context, header !== undefined)
      const fields = fieldsIn(cell, known?.text ?? "", names)
      return {
        blocks: fields.length === 0 ? words : [...words, ...fields],
        header,
        colSpan: cell.colSpan,
        rowSpan: cell.rowSpan
      }
    })
  )
  return { kind: "table", caption: [], rows: cells, headRows: head, seam: { ...NO_SEAM, open: guessed } }
}

/** From where to where something reaches along the width, points. */
export interface Column {
  readonly x0: number
  readonly x1: number
}

/** A line and its cells, with what each takes up of the width. */
export interface Row {
  readonly line: Line
  readonly cells: ReadonlyArray<ReadonlyArray<Segment>>
  readonly bounds: ReadonlyArray<Column>
  /** Some of its cells are recognised only by the columns of its neighbours. */
  readonly near: boolean
}

/** White space between rows, in font sizes, that a table does not have. */
export const ROW_STEP = 3.6

/** Gap between cells, in font sizes: wider than justified text sets its words. */
export const CELL_GAP = 1.1

/** A line's cells: segments, those nearer than a gap to one another taken together, unless a column begins there. */
export const cellsOf = (
  { segments, size }: Line,
  starts: ReadonlyArray<number>,
  gap = CELL_GAP
): ReadonlyArray<ReadonlyArray<Segment>> => {
  const cells: Array<Array<Segment>> = []
  let x1 = -Infinity
  for (const segment of starts.length === 0 ? segments : segments.flatMap((one) => cutAt(one, starts))) {
    const begins = starts.some((x) => x <= segment.x0 + 1 && x >= x1 - 1)
    if (segment.x0 - x1 > gap * size || begins || cells.length === 0) cells.push([segment])
    else cells.at(-1)?.push(segment)
    x1 = Math.max(x1, segment.x1)
  }
  return cells
}

/** What cells take up of the width. */
export const boundsOf = (cell: ReadonlyArray<Segment>): Column =>
  cell.reduce((sum, { x0, x1 }) => ({ x0: Math.min(sum.x0, x0), x1: Math.max(sum.x1, x1) }), {
    x0: Infinity,
    x1: -Infinity
  })

/** What is left of the width when all cells are laid over one another. */
export const columnsOf = (cells: ReadonlyArray<Column>): ReadonlyArray<Column> => {
  const columns: Array<{ x0: number; x1: number }> = []
  for (const { x0, x1 } of [...cells].sort((a, b) => a.x0 - b.x0)) {
    const last = columns.at(-1)
    if (last === undefined || x0 > last.x1 + 1) columns.push({ x0, x1 })
    else last.x1 = Math.max(last.x1, x1)
  }
  return columns
}

export const overlaps = (column: Column, { x0, x1 }: Column): boolean =>
  column.x0 < x1 - 0.5 && column.x1 > x0 + 0.5

/** The number of cells that most rows have; the larger of two. */
export const usualCount = (rows: ReadonlyArray<{ readonly cells: ReadonlyArray<unknown> }>): number => {
  const counts = new Map<number, number>()
  for (const { cells } of rows)
    if (cells.length > 1) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || b - a)[0]?.[0] ?? 0
}

/** A cell's words, on one line. */
export const wordsOf = (cell: ReadonlyArray<Segment>): string => cell.map(segmentText).join(" ").trim()

/** What a bibliography names its entries by: `[3]`, `[Knu84]`. */
const REFERENCE = /^\[[\p{L}\p{N}+*’'-]{1,16}\]$/u

/** Whether these cells are nothing but names of a bibliography's entries. */
export const areReferences = (cells: ReadonlyArray<ReadonlyArray<Segment>>): boolean =>
  cells.length > 0 && cells.every((cell) => REFERENCE.test(wordsOf(cell)))

/** The number of an equation. */
const EQUATION = /^\((\d{1,3})\)$/

/** Whether these cells are nothing but numbers in brackets, each by one greater than the one before: equations have such beside them. */
export const areEquations = (cells: ReadonlyArray<ReadonlyArray<Segment>>): boolean => {
  const numbers = cells.map((cell) => Number(EQUATION.exec(wordsOf(cell))?.[1] ?? Number.NaN))
  return numbers.length > 1 && numbers.every((number, at) => number === (numbers[0] ?? 0) + at)
}

/** Numbers, with a comma behind the last. */
const LISTED = /^[\d\s,–-]*\d,$/

/** Whether most cells with another one behind them are listed numbers: words of one text that justification sets far apart. */
export const areListedOn = (rows: ReadonlyArray<ReadonlyArray<ReadonlyArray<Segment>>>): boolean => {
  const before = rows.flatMap((cells) => cells.slice(0, -1))
  return before.filter((cell) => LISTED.test(wordsOf(cell))).length > 0.5 * before.length
}

/** Whether most of these cells are nothing but the markers of a list's items; numbers, too, where these count. */
export const areMarkers = (cells: ReadonlyArray<ReadonlyArray<Segment>>, numbers = true): boolean => {
  const markers = cells.filter((cell) => {
    const text = wordsOf(cell)
    const marker = markerOf(`${text} `)
    return marker !== undefined && marker.length >= text.length && (numbers || !marker.ordered)
  })
  return markers.length > 0.5 * cells.length
}
