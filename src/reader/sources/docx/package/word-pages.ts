/** Letters of scripts without spaces between words; two of them count as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu

/** Most characters of one word: a longer one is several, joined by something that looks like a space, or by nothing. */
const LONGEST_WORD = 30

/** Words of a text. Linear in its length. */
export const countWords = (text: string): number => {
  const unspaced = text.match(UNSPACED)?.length ?? 0
  let words = 0
  for (const [word] of text.replaceAll(UNSPACED, " ").matchAll(/\S+/g))
    words += Math.ceil(word.length / LONGEST_WORD)
  return words + Math.ceil(unspaced / 2)
}

/** Most pages that a Word document counts for. */
export const MAX_WORD_PAGES = 10_000

/** Words of an ordinary page. */
const WORDS_A_PAGE = 400

/** Words of the densest page that can still be read. */
const MOST_WORDS = 1200

/** Words of the emptiest pages that one long paragraph spans. */
const LEAST_WORDS = 100

/** What a Word document reveals of its length: it has no pages until a program lays it out. */
interface WordLength {
  /** The numbers that the program noted which saved it, if any. */
  readonly stated: number | undefined
  readonly words: number
  readonly paragraphs: number
  /** Page breaks: set by hand, or where the program that saved it last broke the page. */
  readonly breaks: number
}

/** Whether a noted number is plausible: no more words on a page than fit, nor more pages than there are paragraphs for. */
const isSane = (stated: number, { paragraphs, words }: WordLength): boolean =>
  Number.isInteger(stated) &&
  stated >= 1 &&
  stated <= MAX_WORD_PAGES &&
  stated >= words / MOST_WORDS &&
  stated <= Math.max(1, paragraphs) + words / LEAST_WORDS

/**
 * Number of pages of a Word document: as the file says where that is plausible, else by its words and breaks. From 1 to
 * 10,000.
 */
export const wordPages = (length: WordLength): number => {
  const { breaks, stated, words } = length
  if (stated !== undefined && isSane(stated, length)) return stated
  return Math.min(MAX_WORD_PAGES, Math.max(1, breaks + 1, Math.ceil(words / WORDS_A_PAGE)))
}
