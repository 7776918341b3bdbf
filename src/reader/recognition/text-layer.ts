import type { PageContent, TextRun } from "../model/page-content.ts"

/**
 * Value of a page's text layer. `sparse`: no or little text, with a picture or outlines that may hold the rest;
 * `unusable`: the text behind a scan has no meaning; `rubble`: the visible text has no meaning (glyphs without
 * Unicode), and does not count as text.
 */
type TextLayer = "usable" | "sparse" | "unusable" | "rubble"

/** Share of a page's glyphs without a known letter, and share of those with a code that is no sign either. */
export interface GlyphShares {
  readonly unnamed: number
  readonly lost: number
}

/** Most characters, without spaces, of a page that may have little text. */
const LITTLE = 80
/** Most characters of a page that counts as having no text. */
const NONE = 8
/** Least share of the page covered by pictures that may hold its text: with some text on the page, and without any. */
const COVERED_BESIDE = 0.5
const COVERED = 0.1
/** Filled shapes from which on a page without text may have it as outlines. */
const OUTLINES = 60
/** Limit on characters that are examined. */
const SAMPLE = 2_000
/** Limit on drawings that are examined. */
const MAX_DRAWINGS = 20_000

/** Characters that represent a glyph without a letter: private use, the replacement character, unassigned. */
const NO_LETTER = /[\p{Co}\p{Cn}\ufffd]/gu
/** Share of such characters from which on a text has no meaning. */
const NO_LETTERS = 0.4
/** Fewer Latin letters are not judged by their vowels. */
const MIN_LETTERS = 100
/** Running text of every language in Latin letters has a third or more vowels; shifted codes have a seventh. */
const VOWELS = 0.2
/** The eight commonest letters make up about half or more of a text in Latin letters; of one in shifted codes a third. */
const COMMON = 0.42
/** Letters make up more of running text; a table of numbers has fewer, too. */
const PROSE_LETTERS = 0.7
/** Invisible text of so many words of one letter is what a recogniser made of specks. */
const LONE_LETTERS = 0.6

/** Characters that leave ink. */
const inked = (text: string): number => {
  let characters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0
    if (code > 0xffff) at += 1
    // Most are ASCII, for which a pattern would take most of the time.
    const isSpace = code === 0x20 || ((code < 0x20 || code >= 0x80) && /\s/u.test(String.fromCodePoint(code)))
    if (!isSpace) characters += 1
  }
  return characters
}

const codesOf = (letters: string): ReadonlySet<number> =>
  new Set(Array.from(letters, (letter) => letter.charCodeAt(0)))
const VOWEL_CODES = codesOf("aeiouy")
const COMMON_CODES = codesOf("aeinorst")

/** Latin letters of a text, and the vowels among them. */
const latinIn = (
  text: string
): { readonly letters: number; readonly vowels: number; readonly common: number } => {
  let [letters, vowels, common] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    // As a small letter.
    const code = text.charCodeAt(at) | 0x20
    if (code < 0x61 || code > 0x7a) continue
    letters += 1
    if (VOWEL_CODES.has(code)) vowels += 1
    if (COMMON_CODES.has(code)) common += 1
  }
  return { letters, vowels, common }
}

/** Whether a text is made of codes, not of letters. */
const isRubbish = (text: string): boolean => {
  const characters = inked(text)
  if (characters < NONE) return false
  if ((text.match(NO_LETTER)?.length ?? 0) > NO_LETTERS * characters) return true
  const { letters, vowels } = latinIn(text.normalize("NFD"))
  return letters >= MIN_LETTERS && vowels < VOWELS * letters
}

/**
 * True when the visible text has no meaning. The glyphs are examined only where the text suggests it, since that takes
 * time.
 */
const isRubble = (shown: string, glyphs: () => GlyphShares): boolean => {
  const text = shown.normalize("NFD")
  const ink = inked(text)
  if (ink < NONE) return false
  const { common, letters } = latinIn(text)
  const isOdd = isRubbish(shown) || (letters >= MIN_LETTERS && common < COMMON * letters)
  if (isOdd) return glyphs().unnamed > 0.5
  const isProse = (text.match(/[\p{L}\p{M}]/gu)?.length ?? 0) >= PROSE_LETTERS * ink
  return !isProse && glyphs().lost > 0.5
}

const isSpecks = (text: string): boolean => {
  const words = text.split(/\s+/).filter((word) => word !== "")
  return (
    words.length > NONE &&
    words.filter((word) => word.length === 1 && !/\p{N}/u.test(word)).length > LONE_LETTERS * words.length
  )
}

/** True when the text behind a page's picture is good enough to replace it. */
export const speaksForPicture = (behind: string): boolean =>
  inked(behind) > LITTLE && !isRubbish(behind) && !isSpecks(behind)

/** The beginning of the text of some runs: enough to judge it by. */
const sampleOf = (runs: ReadonlyArray<TextRun>, invisible: boolean): string => {
  let text = ""
  for (const run of runs) {
    if (run.invisible !== invisible) continue
    text += `${run.text} `
    if (text.length > SAMPLE) break
  }
  return text
}

/** Share of the page that its pictures cover; overlaps count twice. */
const coveredBy = ({ drawings, height, width }: PageContent): number => {
  let area = 0
  for (const { box, kind } of drawings) {
    if (kind !== "image") continue
    const across = Math.min(width, box.x1) - Math.max(0, box.x0)
    const down = Math.min(height, box.y1) - Math.max(0, box.y0)
    if (across > 0 && down > 0) area += across * down
  }
  return area / Math.max(1, width * height)
}

const outlines = ({ drawings }: PageContent): number =>
  drawings.slice(0, MAX_DRAWINGS).filter((drawing) => drawing.kind === "path" && drawing.filled).length

/**
 * Judges the text of a page. `glyphs`: asked where the text looks like rubbish, what the document says of its glyphs; text that is
 * rubbish by its own account is left alone (a table of codes).
 */
export const textLayerOf = (page: PageContent, glyphs: () => GlyphShares): TextLayer => {
  const shown = sampleOf(page.runs, false)
  if (isRubble(shown, glyphs)) return "rubble"
  const behind = sampleOf(page.runs, true)
  const isLost = behind !== "" && (isRubbish(behind) || isSpecks(behind))
  const characters = inked(isLost ? shown : shown + behind)
  if (characters > LITTLE) return "usable"
  const mayHoldText =
    characters >= NONE
      ? coveredBy(page) >= COVERED_BESIDE
      : coveredBy(page) >= COVERED || outlines(page) >= OUTLINES
  if (!mayHoldText) return "usable"
  return isLost ? "unusable" : "sparse"
}
