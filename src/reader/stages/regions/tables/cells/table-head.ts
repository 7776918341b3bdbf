import { greatest, least, median } from "../../../../model/lists.ts"
import { isCode, type Line } from "../../../lines/line.ts"

/** What is known of a cell's looks. */
export interface Looks {
  readonly lines: ReadonlyArray<Line>
  readonly text: string
  readonly bold: boolean
  readonly numeric: boolean
}

type Rows = ReadonlyArray<ReadonlyArray<Looks>>

/** How many rows and columns a cell takes up. */
interface Spanning {
  readonly colSpan: number
  readonly rowSpan: number
}

/** Fewest words of a sentence: shorter is "Std. Dev." */
const SENTENCE_WORDS = 3
/** Longest name of a column, in letters, where only the words distinguish it. */
const MAX_NAME = 60

/**
 * Largest length of a name relative to the cells of its column, and the length up to which every text may be a name.
 */
const AS_LONG = 0.6
const MIN_LONG = 20

const isSentence = ({ text }: Looks): boolean =>
  /[.!;。]$/u.test(text) && text.split(/\s+/).length >= SENTENCE_WORDS

/** True when a column next to columns of words is code from its first cell on: that cell is not a name. */
const beginsWithCode = ([first = [], ...rest]: Rows): boolean => {
  const alike = rest.filter((row) => row.length === first.length)
  const code = first.filter(({ text }, at) => {
    const cells = [first, ...alike].flatMap((row) => row[at] ?? []).filter((cell) => cell.text !== "")
    return text !== "" && cells.length > 1 && cells.every(({ lines }) => lines.every(isCode))
  })
  return code.length > 0 && code.length < first.length
}

/** Whether the first cell of the column with the longest words is as long as those: one of them. */
const isAsLong = ([first = [], ...rest]: Rows): boolean => {
  const alike = rest.filter((row) => row.length === first.length)
  const columns = first.map(({ text }, at) => {
    return { own: text.length, usual: median(alike.map((row) => row[at]?.text.length ?? 0)) ?? 0 }
  })
  const [longest] = columns.sort((a, b) => b.usual - a.usual)
  return longest !== undefined && longest.own > MIN_LONG && longest.own > AS_LONG * longest.usual
}

/** Signs that cells of one kind begin with, how many such cells are below the first one, and their part of the column. */
const BEGINNING = 3
const FEWEST_ALIKE = 2
const MOSTLY = 0.7

/** The shape of a cell's text, `a+0` for "U+16" and `0a` for "1.5 g", without a bracket at the end, which column names have. */
const shapeOf = (text: string): string => {
  const bracket = text.endsWith(")") ? text.indexOf("(") : -1
  return (bracket > 0 ? text.slice(0, bracket) : text)
    .replaceAll(/\s/g, "")
    .replaceAll(/\p{L}+/gu, "a")
    .replaceAll(/\d+(?:[.,]\d+)*/g, "0")
    .replaceAll(/\p{So}+/gu, "•")
}

/** Kinds of a cell, by its shape or by a common beginning with the same number of words; empty for a plain word. */
const kindsOf = (text: string): ReadonlyArray<string> => {
  const [shape, words] = [shapeOf(text), text.split(/\s+/).length]
  const isWord = shape === "a"
  const beginning = `${words} ${text.slice(0, BEGINNING)}`
  return [...(isWord ? [] : [shape]), ...(isWord && words === 1 ? [] : [beginning])]
}

/** Whether the first cell of a column is one of those below it: of the kind of most, or the same as some. */
const isOneOfThem = ([first = [], ...rest]: Rows): boolean =>
  first.some(({ text }, at) => {
    if (text.length > MAX_NAME) return false
    const kinds = new Set(kindsOf(text))
    const below = rest.flatMap((row) => (row.length === first.length ? (row[at]?.text ?? "") : ""))
    const filled = below.filter((one) => one !== "")
    const alike = filled.filter((one) =>
      kindsOf(one.slice(0, MAX_NAME)).some((kind) => kinds.has(kind))
    ).length
    return (alike >= FEWEST_ALIKE && alike >= MOSTLY * filled.length) || filled.includes(text)
  })

/** Size of labels above values, as a part of theirs, and the longest one, in letters. */
const SMALLER = 0.9
const LONGEST_LABEL = 40

const sizesOf = (row: ReadonlyArray<Looks>): ReadonlyArray<number> =>
  row.flatMap(({ lines }) => lines.map(({ size }) => size))

/** Whether a row is labels in small print above one row of values, as invoices and forms have them. */
const areLabels = (first: ReadonlyArray<Looks>, rest: Rows): boolean => {
  const [values = [], ...more] = rest
  if (more.length > 0 || first.length < 2 || values.length !== first.length) return false
  if (greatest(sizesOf(first)) > SMALLER * least(sizesOf(values))) return false
  return first.every(({ text }) => /\p{L}/u.test(text) && !/\d/.test(text) && text.length <= LONGEST_LABEL)
}

/** Whether a cell is a figure, and no year: those name columns. */
const isFigure = ({ numeric, text }: Looks): boolean => numeric && !/^(19|20)\d\d$/.test(text)

/** Whether a column of labels is bold in each row, and another in none: the first row has labels and values as the others. */
const areLabelsBeside = ([first = [], ...rest]: Rows): boolean => {
  const rows = [first, ...rest.filter((row) => row.length === first.length)]
  const isThroughout = (at: number, bold: boolean): boolean =>
    rows.every((row) => row[at]?.text !== "" && row[at]?.bold === bold)
  const columns = first.map((_, at) => at)
  return (
    rows.length > 1 &&
    columns.some((at) => isThroughout(at, true)) &&
    columns.some((at) => isThroughout(at, false))
  )
}

/** Whether a row is names in bold: a plain row above it names nothing. */
const areBoldNames = (row: ReadonlyArray<Looks>): boolean =>
  row.length > 1 && row.every(({ bold, numeric, text }) => bold && !numeric && text !== "")

/** Fewest figures that name columns: the numbers of trains, weeks or classes. */
const FEWEST_COUNTED = 3

/** Whether the figures of a bold row count from left to right, and no row below is bold: they name columns, and sum up nothing. */
const areCounted = ([first = [], ...rest]: Rows): boolean => {
  const figures = first.filter(({ text }) => text !== "").filter(isFigure)
  const numbers = figures.map(({ text }) => (/^\d{1,6}$/.test(text.trim()) ? Number(text) : Number.NaN))
  return (
    numbers.length >= FEWEST_COUNTED &&
    numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0)) &&
    !Number.isNaN(numbers[0]) &&
    first.every(({ bold, text }) => bold || text === "") &&
    !rest.some((row) => row.some(({ bold, numeric }) => bold && numeric))
  )
}

/** Whether the first row names the columns: bold, or words above figures, or words throughout in a table of some rows. */
const namesColumns = (rows: Rows): boolean => {
  const [first, ...rest] = rows
  if (first === undefined) return false
  const filled = first.filter(({ text }) => text !== "")
  if (areCounted(rows)) return true
  if (filled.length === 0 || filled.some(isFigure)) return false
  if (filled.every(({ bold }) => bold)) return true
  if (filled.length < Math.min(2, first.length) || filled.some(isSentence) || beginsWithCode(rows))
    return false
  if (isOneOfThem(rows) || areLabelsBeside(rows) || rest.some(areBoldNames)) return false
  const figuresBelow = rest.some((row) => row.some(({ numeric }) => numeric))
  const areShort = filled.every(({ text }) => text.length <= MAX_NAME)
  return figuresBelow || areLabels(first, rest) || (rest.length >= 2 && areShort && !isAsLong(rows))
}

/**
 * How many rows name the columns. Where a name reaches down over several, all of these do, since a head ends at one line: those below
 * are bold as well, or the other names of the first row are over several columns each. Else the cell that reaches down holds a group of rows.
 */
export const headOf = (cells: ReadonlyArray<ReadonlyArray<Spanning>>, looks: Rows): number => {
  if (!namesColumns(looks)) return 0
  const [first = []] = cells
  const reach = greatest(first.map(({ rowSpan }) => rowSpan))
  if (reach >= cells.length) return 0
  const areBold = looks.slice(0, reach).every((row) => row.every(({ bold, text }) => bold || text === ""))
  const areOver = first.every(({ colSpan, rowSpan }) => rowSpan === reach || colSpan > 1)
  return areBold || areOver ? reach : 0
}

/**
 * Whether a row surely names the columns of those below it: bold where the next one is not and most are not, or words above figures in
 * most of them.
 */
const surelyNames = ([first = [], ...rest]: Rows): boolean => {
  const filled = first.filter(({ text }) => text !== "")
  if (filled.length < 2 || filled.length < first.length - 1 || filled.some(isFigure)) return false
  const isBold = (row: ReadonlyArray<Looks>) => row.every(({ bold, text }) => bold || text === "")
  const [next] = rest
  if (isBold(first))
    return next !== undefined && !isBold(next) && rest.filter(isBold).length < rest.length / 2
  const withFigures = rest.filter((row) => row.some(({ numeric }) => numeric))
  return rest.length > 1 && withFigures.length > rest.length / 2
}

/** Whether the first row is the table's title: one cell over all columns, above a row that surely names them. */
export const hasTitleRow = (cells: ReadonlyArray<ReadonlyArray<Spanning>>, looks: Rows): boolean => {
  const [[title, ...more] = [], second = []] = cells
  if (title === undefined || more.length > 0 || title.rowSpan > 1 || second.length < 2) return false
  const columns = second.reduce((sum, { colSpan }) => sum + colSpan, 0)
  const known = looks[0]?.[0]
  if (title.colSpan !== columns || known === undefined || known.text === "" || known.numeric) return false
  return second.every(({ rowSpan }) => rowSpan === 1) && surelyNames(looks.slice(1))
}
