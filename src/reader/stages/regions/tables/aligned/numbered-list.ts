import { asList, asParagraph, type List } from "../../../../model/block.ts"
import { type InlineContext, spansIn } from "../../../lines/inline.ts"
import { type RawCell, wordsOf } from "../cells/table-cells.ts"

/** Largest ratio of sizes between an item's number on a coloured ground and its words. */
const SMALLER = 0.9

const WORDS = /^\p{L}.*\p{L}/u

const sizeOf = (cell: RawCell | undefined): number => cell?.segments[0]?.pieces[0]?.run.size ?? 0

/**
 * A numbered list with separated numbers, each on a coloured ground, as slides have them: small figures that count from
 * one, before words. Codes and their meanings have the same size. Undefined where the rows are not such a list.
 */
export const numberedList = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  context: InlineContext
): List | undefined => {
  const isItem = ([number, words, more]: ReadonlyArray<RawCell>, at: number): boolean =>
    more === undefined &&
    wordsOf(number?.segments ?? []) === String(at + 1) &&
    WORDS.test(wordsOf(words?.segments ?? [])) &&
    sizeOf(number) < SMALLER * sizeOf(words)
  if (!rows.every(isItem)) return undefined
  const items = rows.map(([, words]) => ({
    blocks: [asParagraph({ spans: spansIn(words?.segments ?? [], context) })]
  }))
  return asList(items, { ordered: true })
}
