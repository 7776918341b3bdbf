import { greatest, median } from "../../../lists.ts"
import { isCode, type Line } from "../lines/line.ts"

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
/** Letters of a column's name at most, where nothing but words tells. */
const MAX_NAME = 60

/** A name is shorter than what stands in its column, by this factor; fewer letters are a name's in any case. */
const AS_LONG = 0.6
const MIN_LONG = 20

const isSentence = ({ text }: Looks): boolean =>
  /[.!;。]$/u.test(text) && text.split(/\s+/).length >= SENTENCE_WORDS

/** Whether a column beside others of words is code from its first cell on, which then is one of those below it. */
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

/** Whether the first row names the columns: bold, or words above figures, or words throughout in a table of some rows. */
const namesColumns = (rows: Rows): boolean => {
  const [first, ...rest] = rows
  if (first === undefined) return false
  const filled = first.filter(({ text }) => text !== "")
  if (filled.length === 0 || filled.some(({ numeric, text }) => numeric && !/^(19|20)\d\d$/.test(text)))
    return false
  if (filled.every(({ bold }) => bold)) return true
  if (filled.length < Math.min(2, first.length) || filled.some(isSentence) || beginsWithCode(rows))
    return false
  const figuresBelow = rest.some((row) => row.some(({ numeric }) => numeric))
  const areShort = filled.every(({ text }) => text.length <= MAX_NAME)
  return figuresBelow || (rest.length >= 2 && areShort && !isAsLong(rows))
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
