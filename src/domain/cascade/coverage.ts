/** Words of at least this share of the text layer have to be in a page's HTML. */
export const MIN_COVERAGE = 0.9

/** A text layer with fewer words is too small to judge by (a scan's stamp, a page number). */
const MIN_WORDS = 12

/** How far HTML covers a page's text layer. */
interface Coverage {
  /** Share of the layer's words that are found, 0 to 1; 1 where the layer is too small to judge by. */
  readonly share: number
  /** Missing words, as often as each is missing, in the layer's order. */
  readonly missing: ReadonlyArray<string>
}

/** Words as they are compared: letters and digits, lower case, compatibility forms (ligatures) and accents folded. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

const NAMED: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", " "]
])

const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (typeof name === "string") return NAMED.get(name.toLowerCase()) ?? whole
    const code = typeof decimal === "string" ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : " "
  })

/** Tags that do not end a word; every other one does. */
const INLINE =
  /<\/?(?:a|abbr|b|cite|code|em|i|kbd|mark|q|s|samp|small|span|strong|sub|sup|u|var|wbr)\b[^<>]*>/gi

/** The text that a picture counts as; any other tag stays. */
const alternativeText = (tag: string): string => {
  const text = /\balt="([^"<>]*)"/i.exec(tag)?.[1]
  return text === undefined ? tag : ` ${text} `
}

/** The words that a reader of HTML gets, alternative texts included. */
export const htmlWords = (html: string): ReadonlyArray<string> =>
  wordsOf(
    decoded(
      html
        .replaceAll(/<[^<>]*>/g, alternativeText)
        .replaceAll(INLINE, "")
        .replaceAll(/<[^<>]*>/g, " ")
    )
  )

/** How many of a word's letters occur, consecutively, in a text without spaces. */
const timesIn = (text: string, word: string): number => {
  let times = 0
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) times += 1
  return times
}

/**
 * Compares a page's HTML with its text layer, word by word, order left out. A word that was hyphenated or glued in one of the
 * two counts as found where its letters are (running text is also compared without its gaps), as often as they are.
 */
export const coverageOf = (layer: string, html: string): Coverage => {
  const wanted = wordsOf(layer)
  if (wanted.length < MIN_WORDS) return { share: 1, missing: [] }
  const found = htmlWords(html)
  const counts = new Map<string, number>()
  for (const word of found) counts.set(word, (counts.get(word) ?? 0) + 1)
  const left = new Map(counts)
  const glued = found.join("")
  /** How often a missing word's letters occur within the joined words, beyond its occurrences as a separate word. */
  const within = new Map<string, number>()
  const missing: Array<string> = []
  for (const word of wanted) {
    const count = left.get(word) ?? 0
    if (count > 0) {
      left.set(word, count - 1)
      continue
    }
    const more = word.length < 4 ? 0 : (within.get(word) ?? timesIn(glued, word) - (counts.get(word) ?? 0))
    if (more > 0) within.set(word, more - 1)
    else {
      within.set(word, 0)
      missing.push(word)
    }
  }
  return { share: 1 - missing.length / wanted.length, missing }
}
