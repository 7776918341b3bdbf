import { type List, NO_SEAM } from "../blocks/block.ts"
import { type InlineContext, spansOf } from "../lines/inline.ts"
import { linesOf } from "../lines/line.ts"
import { SENTENCE_END } from "../lines/paragraphs.ts"
import { isBoldLine } from "../statistics.ts"
import { type RawCell, wordsOf } from "./table-cells.ts"

/** Fewest words of a definition that does not end as sentences do, and part of the second cells that have as many. */
const SENTENCE_WORDS = 4
const SENTENCES = 0.6
/** Part of the second cells that end as sentences do, or go on over lines. */
const CLOSED = 0.5
/** Characters of a term at most. */
const MAX_TERM = 40

type Rows = ReadonlyArray<ReadonlyArray<RawCell>>

const firstOf = (row: ReadonlyArray<RawCell>): string => wordsOf(row[0]?.segments ?? [])
const isSentence = (cell: RawCell | undefined): boolean => {
  const text = wordsOf(cell?.segments ?? [])
  const words = text.split(/\s+/).length
  return words >= SENTENCE_WORDS || (words > 1 && SENTENCE_END.test(text))
}

/** Whether rows of two cells, their columns without names, say something in words in each second cell. */
const areExplained = (rows: Rows, { fonts }: InlineContext): boolean => {
  if (rows.length < 2 || rows.some((row) => row.length !== 2) || !isSentence(rows[0]?.[1])) return false
  const named = rows[0]?.every(({ segments }) => linesOf(segments, fonts).every(isBoldLine)) === true
  const seconds = rows.flatMap(([, second]) => (second === undefined ? [] : [second]))
  const closed = seconds.filter(
    ({ segments }) => SENTENCE_END.test(wordsOf(segments)) || linesOf(segments, fonts).length > 1
  )
  return (
    !named &&
    seconds.filter(isSentence).length >= SENTENCES * rows.length &&
    closed.length >= CLOSED * rows.length
  )
}

/**
 * Terms beside what they mean, which manuals set without names of columns and without rules: a list of definitions.
 * Undefined where cells hold values.
 */
export const definitionList = (rows: Rows, context: InlineContext): List | undefined => {
  const terms = rows.map(firstOf)
  if (terms.some((term) => term === "" || term.length > MAX_TERM) || !areExplained(rows, context))
    return undefined
  return {
    kind: "list",
    ordered: false,
    start: undefined,
    style: undefined,
    items: rows.map((row) => {
      const [term, spans = []] = row.map(({ segments }) => spansOf(linesOf(segments, context.fonts), context))
      return { term, blocks: [{ kind: "paragraph", spans, seam: NO_SEAM, lang: undefined }] }
    }),
    seam: NO_SEAM
  }
}
