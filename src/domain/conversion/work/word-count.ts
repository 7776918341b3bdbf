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
