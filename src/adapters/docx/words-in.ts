import { countWords } from "../../domain/conversion/work/word-pages.ts"

const INLINE = /^<\/?(?:strong|em|b|i|u|s|sup|sub|a|span)\b/

/** The words of HTML, outside of tags: what is not inline parts them, and so does a space that does not break. */
export const wordsIn = (html: string): number =>
  countWords(html.replaceAll(/<[^<>]*>|&nbsp;/g, (found) => (INLINE.test(found) ? "" : " ")))
