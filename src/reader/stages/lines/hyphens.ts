import { type Segment, segmentText } from "./segment.ts"

/** What hyphens at the ends of lines say of how a document is set; added up over its pages. */
export interface HyphenCounts {
  readonly lines: number
  /** Lines that end in a hyphen, those of narrow cells aside. */
  readonly cut: number
  /**
   * Numbers of words cut at a line end that occur elsewhere on their page as one word, and of compounds, which occur
   * there with the hyphen or show it.
   */
  readonly whole: number
  readonly compound: number
}

export const NO_HYPHENS: HyphenCounts = { lines: 0, cut: 0, whole: 0, compound: 0 }

/** Adds up counts of different pages. */
export const addHyphens = (a: HyphenCounts, b: HyphenCounts): HyphenCounts => ({
  lines: a.lines + b.lines,
  cut: a.cut + b.cut,
  whole: a.whole + b.whole,
  compound: a.compound + b.compound
})

/** A page's words, where a line of it ends in a hyphen, and what its hyphens say. */
export interface PageHyphens {
  readonly words: ReadonlySet<string>
  readonly counts: HyphenCounts
}

const WORD = /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu
const FIRST = /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/u

/**
 * Characters of a line from which on it has room to continue without its last word: in narrower ones compounds are cut
 * at every hyphen.
 */
const ROOMY = 30

/** True when a page has the word, or its lower-case form: it may begin a sentence. */
const has = (words: ReadonlySet<string>, word: string): boolean =>
  words.has(word) || words.has(word.charAt(0).toLowerCase() + word.slice(1))

const PLAIN = /^\p{L}\p{Ll}*$/u
const CAPITALS = /^\p{Lu}{2,}$/u
const CAPITALISED = /^\p{Lu}\p{Ll}+(?![\p{L}\p{N}])/u
const SMALL = /^\p{Ll}+(?![\p{L}\p{N}])/u

/** Whether letters change their case at a hyphen, as they do within no word but those that programs have: "Cache-Control", "JSON-like". */
const changesCase = (before: string, after: string): boolean =>
  (PLAIN.test(before) && CAPITALISED.test(after)) || (CAPITALS.test(before) && SMALL.test(after))

/**
 * True when a word cut at its hyphen is a compound: it occurs on the page with the hyphen, or changes case at it and
 * does not occur as one word.
 */
const isCompound = (words: ReadonlySet<string>, before: string, after: string): boolean =>
  has(words, `${before}-${after}`) || (changesCase(before, after) && !has(words, before + after))

/** Reads the words of a page's lines. Linear. */
export const pageHyphens = (segments: ReadonlyArray<Segment>, lines: number): PageHyphens => {
  const words = new Set<string>()
  const cuts: Array<readonly [string, string]> = []
  if (!segments.some(({ hyphenated }) => hyphenated)) return { words, counts: { ...NO_HYPHENS, lines } }
  let above: string | undefined
  let cut = 0
  for (const segment of segments) {
    const found: ReadonlyArray<string> = segmentText(segment).match(WORD) ?? []
    if (above !== undefined) cuts.push([above, found[0] ?? ""])
    for (const word of found.slice(above === undefined ? 0 : 1, segment.hyphenated ? -1 : undefined))
      words.add(word)
    above = segment.hyphenated ? (found.at(-1) ?? "") : undefined
    if (segment.hyphenated && segment.characters >= ROOMY) cut += 1
  }
  const whole = cuts.filter(([before, after]) => has(words, before + after)).length
  const compound = cuts.filter(([before, after]) => isCompound(words, before, after)).length
  return { words, counts: { lines, cut, whole, compound } }
}

/**
 * Number of lines that show how a document is set, and the least share of them that end in a hyphen where it divides
 * words.
 */
const LINES = 60
const DIVIDED = 0.015

/** What becomes of a hyphen at a line's end. */
export interface Hyphens {
  /** Words of the page. */
  readonly words: ReadonlySet<string>
  /**
   * True when the hyphen of a word without another occurrence is kept: browsers and office programs do not hyphenate by
   * default.
   */
  readonly kept: boolean
}

/** What becomes of a page's hyphens in a document with these counts. */
export const hyphensOf = (
  { words }: PageHyphens,
  { compound, cut, lines, whole }: HyphenCounts
): Hyphens => ({
  words,
  kept: lines >= LINES && (whole === 0 || whole < compound) && (compound > 0 || cut < DIVIDED * lines)
})

/** Whether the hyphen between a line's words and the next line's is a compound's: "well-known". */
export const keepsHyphen = ({ kept, words }: Hyphens, above: string, below: string): boolean => {
  const [before, after] = [above.match(WORD)?.at(-1) ?? "", FIRST.exec(below)?.[0] ?? ""]
  if (isCompound(words, before, after)) return true
  // A word that has a hyphen is cut there, and nowhere else.
  const isHyphenated = [before, after].some((part) => part.includes("-"))
  return (kept || isHyphenated) && !has(words, before + after)
}
