import { type Block, type Span, textOfSpans } from "../../model/block.ts"
import type { TextRun } from "../../model/page-content.ts"

/**
 * Words in a row that are compared, and how many are, at least, of a page, and of a paragraph or a cell; which part of them at least is in
 * both orders.
 */
const WORDS_IN_A_ROW = 3
const OF_A_PAGE = { fewest: 12, alike: 0.8 }
const OF_A_TEXT = { fewest: 4, alike: 0.5 }

/** Words, and single signs of the scripts that put no space between theirs. One Latin letter may be a bullet, or a formula's. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\P{L}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|\p{N}+/gu
const ONE_LETTER = /^[a-z]$/

const wordsOf = (text: string): ReadonlyArray<string> => {
  const found: ReadonlyArray<string> = text.normalize("NFKC").toLowerCase().match(WORDS) ?? []
  return found.filter((word) => !ONE_LETTER.test(word))
}

const threes = (words: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  words
    .slice(0, Math.max(0, words.length - WORDS_IN_A_ROW + 1))
    .map((_, at) => words.slice(at, at + WORDS_IN_A_ROW))

const said = (spans: ReadonlyArray<Span>): ReadonlyArray<string> => [textOfSpans(spans)]

/** The texts of blocks as they are read: paragraphs, items and cells. Formulas, and what figures and fields hold, are left out. */
const textsOf = (blocks: ReadonlyArray<Block>): ReadonlyArray<string> =>
  blocks.flatMap((block): ReadonlyArray<string> => {
    switch (block.kind) {
      case "heading":
      case "paragraph":
        return said(block.spans)
      case "list":
        return block.items.flatMap(({ blocks: of, term = [] }, at) => [
          // The number of an item is among what was written.
          ...(block.ordered ? [`${(block.start ?? 1) + at}`] : []),
          ...said(term),
          ...textsOf(of)
        ])
      case "table":
        return [
          ...said(block.caption),
          ...block.rows.flatMap((row) => row.map((cell) => textsOf(cell.blocks).join(" ")))
        ]
      case "code":
        return [block.text]
      case "footnote":
      case "quote":
      case "aside":
      case "contents":
        return textsOf(block.blocks)
      default:
        return []
    }
  })

/**
 * Whether a page, or a text on it, is read in another order than its words were written in: programs write most pages as they are read, and
 * one that was put together in another order gives little to know its order by.
 */
export const isInOtherOrder = (blocks: ReadonlyArray<Block>, runs: ReadonlyArray<TextRun>): boolean => {
  const all = wordsOf(runs.map(({ hyphenated, text }) => (hyphenated ? text : `${text} `)).join(""))
  const known = new Set(all)
  const written = new Set(threes(all).map((words) => words.join(" ")))
  const isOther = (text: string, { alike, fewest }: typeof OF_A_PAGE): boolean => {
    // A word that was put together of several runs, as one in small capitals, says nothing of the order.
    const read = threes(wordsOf(text)).filter((words) => words.every((word) => known.has(word)))
    const found = read.filter((words) => written.has(words.join(" "))).length
    return read.length >= fewest && found < alike * read.length
  }
  const texts = textsOf(blocks)
  return isOther(texts.join(" "), OF_A_PAGE) || texts.some((text) => isOther(text, OF_A_TEXT))
}
