/** Most pages that a Word document counts for. */
export const MAX_WORD_PAGES = 10_000

/** Words of an ordinary page. */
const WORDS_A_PAGE = 400

/** Words of the densest page that can still be read. */
const MOST_WORDS = 1200

/** Words of the emptiest pages that one long paragraph goes over. */
const LEAST_WORDS = 100

/** What a Word document shows of its length. It has no pages until a program lays it out. */
export interface WordLength {
  /** What the program that saved it noted, if anything. */
  readonly stated: number | undefined
  readonly words: number
  readonly paragraphs: number
  /** Page breaks: set by hand, or where the program that saved it last broke the page. */
  readonly breaks: number
}

/** Whether a noted number can be true: not more words on a page than fit, nor more pages than there are paragraphs for. */
const isSane = (stated: number, { paragraphs, words }: WordLength): boolean =>
  Number.isInteger(stated) &&
  stated >= 1 &&
  stated <= MAX_WORD_PAGES &&
  stated >= words / MOST_WORDS &&
  stated <= Math.max(1, paragraphs) + words / LEAST_WORDS

/** Pages of a Word document: as noted where that can be true, else by its words and breaks. At least 1, at most 10,000. */
export const wordPages = (length: WordLength): number => {
  const { breaks, stated, words } = length
  if (stated !== undefined && isSane(stated, length)) return stated
  return Math.min(MAX_WORD_PAGES, Math.max(1, breaks + 1, Math.ceil(words / WORDS_A_PAGE)))
}
