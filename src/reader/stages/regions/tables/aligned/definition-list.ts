import { asList, asParagraph, type List } from "../../../../model/block.ts"
import { median } from "../../../../model/lists.ts"
import { type InlineContext, spansIn } from "../../../lines/inline.ts"
import { isBoldLine, isCode, linesOf } from "../../../lines/line.ts"
import { SENTENCE_END } from "../../../lines/paragraphs.ts"
import { type Segment, charactersOf } from "../../../lines/segment.ts"
import { isAtMark } from "../cells/off-grid.ts"
import { NUMERIC, type RawCell, wordsOf } from "../cells/table-cells.ts"

/** Fewest words of a definition that does not end as sentences do, and part of the second cells that have as many. */
const SENTENCE_WORDS = 4
const TABULATED_WORDS = 2
const SENTENCES = 0.6
/** Least share of second cells that end like sentences, or have several lines. */
const CLOSED = 0.5
/** Greatest length of a term, in characters. */
const MAX_TERM = 40
/** Explanations have this many times the letters of their terms. */
const LONGER = 1.5

const WORD = /\p{L}{3}/u

type Rows = ReadonlyArray<ReadonlyArray<RawCell>>

const firstOf = (row: ReadonlyArray<RawCell>): string => wordsOf(row[0]?.segments ?? [])
const isSentence = (cell: RawCell | undefined, fewest: number): boolean => {
  const text = wordsOf(cell?.segments ?? [])
  const words = text.split(/\s+/).length
  return (words >= fewest && WORD.test(text)) || (words > 1 && SENTENCE_END.test(text))
}

/**
 * Whether a tabulator parts terms and explanations: these begin at a mark of the ruler behind the terms, while the columns of tables
 * are as wide as their words ask or their page allows. Names in columns are as long in each; numbers are those of lines, or codes.
 */
const areTabulated = (rows: Rows): boolean => {
  const [terms = [], explained = []] = [0, 1].map((at) => rows.flatMap((row) => row[at]?.segments ?? []))
  // Slanted letters reach out over where they begin.
  const begin = (of: ReadonlyArray<Segment>) => median(of.map(({ x0 }) => x0)) ?? 0
  return (
    charactersOf(explained) > LONGER * charactersOf(terms) &&
    !rows.every((row) => NUMERIC.test(firstOf(row))) &&
    isAtMark(begin(explained) - begin(terms))
  )
}

/** Whether rows of two cells, their columns without names, say something in words in each second cell. */
const areExplained = (rows: Rows, { fonts }: InlineContext): boolean => {
  if (rows.some((row) => row.length !== 2)) return false
  const tabulated = areTabulated(rows)
  const fewest = tabulated ? TABULATED_WORDS : SENTENCE_WORDS
  // Explanations in code show that the cells are code, too.
  const code = linesOf(
    rows.flatMap((row) => row.flatMap(({ segments }) => segments)),
    fonts
  ).every(isCode)
  const named = rows[0]?.every(({ segments }) => linesOf(segments, fonts).every(isBoldLine)) === true
  const seconds = rows.flatMap(([, second]) => (second === undefined ? [] : [second]))
  const closed = seconds.filter(
    ({ segments }) => SENTENCE_END.test(wordsOf(segments)) || linesOf(segments, fonts).length > 1
  )
  return (
    !named &&
    !code &&
    isSentence(seconds[0], fewest) &&
    seconds.filter((one) => isSentence(one, fewest)).length >= SENTENCES * rows.length &&
    (tabulated || closed.length >= CLOSED * rows.length)
  )
}

/**
 * A list of definitions from terms next to their meanings, which manuals set without column names and rules. Undefined
 * where cells hold values.
 */
export const definitionList = (rows: Rows, context: InlineContext): List | undefined => {
  const terms = rows.map(firstOf)
  if (terms.some((term) => term === "" || term.length > MAX_TERM) || !areExplained(rows, context))
    return undefined
  return asList(
    rows.map((row) => {
      const [term, spans = []] = row.map(({ segments }) => spansIn(segments, context))
      return { term, blocks: [asParagraph({ spans })] }
    })
  )
}
