import { append } from "../../../model/lists.ts"
import { isLetterFromRight } from "../../../stages/lines/script-direction.ts"

/** A character of a line, with the positions of its glyph and its box, and its index in pdfium's order. */
export interface Letter {
  readonly at: number
  readonly code: number
  readonly origin: number
  readonly start: number
  readonly end: number
  readonly height: number
}

/** Greatest distance between the boxes of one glyph's parts, as a part of its height. */
const BESIDE = 0.005
const SPACE = 0x20
const LAM = 0x644
/** Alef, also with hamza or madda: nothing joins it on its left. */
const ALEF = /[آأإا]/u
const MARK = /\p{M}/u
const LETTER = /\p{L}/u
const FIGURE = /\p{Nd}/u
const HEBREW = /\p{Script=Hebrew}/u
/**
 * Signs within a number that keep it left to right; those of sums and amounts do so next to Hebrew alone (Unicode's
 * annex 9).
 */
const IN_NUMBER = /[.,:/\u00a0\u066b\u066c]/u
const IN_SUM = /[-+]/u
const OF_NUMBER = /[%‰°#$€£₪]/u

const text = ({ code }: Letter): string => String.fromCodePoint(code)

/** Letters of one glyph, in the order in which they are read. */
type Glyph = ReadonlyArray<Letter>

/** Whether a letter is of the glyph that the one before it is of. */
const isSameGlyph = (before: Letter, letter: Letter): boolean =>
  letter.at === before.at + 1 &&
  letter.origin === before.origin &&
  letter.code !== SPACE &&
  before.code !== SPACE &&
  isLetterFromRight(letter.code) === isLetterFromRight(before.code)

/**
 * pdfium turns the letters of one glyph around, as if each had its own: a lam with its alef becomes an alef with a lam. Such letters have
 * a part of the glyph's box each, or all of it, as also those have that the document names by one character, which are in order: but no
 * glyph is an alef with a lam.
 */
const asWritten = (glyph: Glyph): Glyph => {
  const [first, second] = glyph
  if (first === undefined || second === undefined || !isLetterFromRight(first.code)) return glyph
  const apart = Math.min(Math.abs(second.start - first.end), Math.abs(first.start - second.end))
  const isBeside = apart < BESIDE * first.height
  const isAlefLam = glyph.length === 2 && ALEF.test(text(first)) && second.code === LAM
  return isBeside || isAlefLam ? glyph.toReversed() : glyph
}

const isMark = ([letter]: Glyph): boolean => letter !== undefined && MARK.test(text(letter))

/** Groups glyphs with the marks that follow them and are set over or under them. */
const withMarks = (glyphs: ReadonlyArray<Glyph>): ReadonlyArray<Glyph> => {
  const marked: Array<Array<Letter>> = []
  for (const glyph of glyphs) {
    const base = marked.at(-1)
    const [first, mark] = [base?.[0], glyph[0]]
    const isOver =
      isMark(glyph) &&
      first !== undefined &&
      mark !== undefined &&
      mark.start < first.end &&
      mark.end > first.start
    if (base !== undefined && isOver) append(base, glyph)
    else marked.push([...glyph])
  }
  return marked
}

const glyphsOf = (line: ReadonlyArray<Letter>): ReadonlyArray<Glyph> => {
  const glyphs: Array<Array<Letter>> = []
  for (const letter of line) {
    const open = glyphs.at(-1)
    const before = open?.at(-1)
    if (open !== undefined && before !== undefined && isSameGlyph(before, letter)) open.push(letter)
    else glyphs.push([letter])
  }
  return withMarks(glyphs.map(asWritten))
}

/** Sorts from right to left; a mark comes behind the letter that it is set over or under. */
const fromRight = (glyphs: ReadonlyArray<Glyph>): Array<Glyph> => {
  const placed = glyphs.map((glyph) => {
    const { end = 0, origin = 0, start = 0 } = glyph[0] ?? {}
    const lone = isMark(glyph)
    return { glyph, lone, start, end, x: lone ? (start + end) / 2 : origin }
  })
  const ordered: Array<Glyph> = []
  let marks: typeof placed = []
  for (const one of placed.sort((a, b) => b.x - a.x)) {
    marks.push(one)
    if (one.lone) continue
    const isOver = ({ x }: { readonly x: number }): boolean => x >= one.start && x <= one.end
    const [before, over] = [marks.filter((mark) => mark.lone && !isOver(mark)), marks.filter(isOver)]
    for (const { glyph } of before) ordered.push(glyph)
    ordered.push(one.glyph)
    for (const mark of over) if (mark.lone) ordered.push(mark.glyph)
    marks = []
  }
  for (const { glyph } of marks) ordered.push(glyph)
  return ordered
}

/** What a glyph is to the direction of those around it. */
type Kind = "right" | "left" | "figure" | "other"

const kindOf = ([letter]: Glyph): Kind => {
  if (letter === undefined) return "other"
  const character = text(letter)
  if (FIGURE.test(character)) return "figure"
  if (isLetterFromRight(letter.code)) return IN_NUMBER.test(character) ? "other" : "right"
  return LETTER.test(character) ? "left" : "other"
}

/** Turns a part of an array around. */
const turn = (glyphs: Array<Glyph>, from: number, to: number) => {
  for (const [at, glyph] of glyphs
    .slice(from, to + 1)
    .reverse()
    .entries())
    glyphs[from + at] = glyph
}

/** A line from right to left, its glyphs and what they are. */
interface Line {
  readonly glyphs: Array<Glyph>
  readonly kinds: ReadonlyArray<Kind>
  readonly hebrew: boolean
}

/** Turns numbers around, each for itself. */
const turnNumbers = ({ glyphs, hebrew, kinds }: Line, from: number, to: number) => {
  const isInside = (at: number): boolean => {
    if (kinds[at] === "figure") return true
    const [before, after] = [kinds[at - 1] === "figure", kinds[at + 1] === "figure"]
    const sign = glyphs[at]?.map(text).join("") ?? ""
    if (before && after && (IN_NUMBER.test(sign) || (hebrew && IN_SUM.test(sign)))) return true
    return hebrew && (before || after) && OF_NUMBER.test(sign)
  }
  for (let at = from; at <= to; at++) {
    let last = at
    while (last <= to && isInside(last)) last += 1
    if (last > at + 1) turn(glyphs, at, last - 1)
    at = Math.max(at, last - 1)
  }
}

/**
 * Reverses the left-to-right words between two words of the script, or only the numbers where there are no such words.
 */
const turnBetween = (line: Line, from: number, to: number) => {
  const { glyphs, kinds } = line
  const part = kinds.slice(from, to + 1)
  if (!part.includes("left")) return turnNumbers(line, from, to)
  const isWord = (kind: Kind): boolean => kind !== "other"
  turn(glyphs, from + part.findIndex(isWord), from + part.findLastIndex(isWord))
}

/**
 * Characters of a right-to-left line in reading order, by position. pdfium reverses numbers with separators and foreign
 * phrases of more than one word.
 */
export const inReadingOrder = (letters: ReadonlyArray<Letter>): ReadonlyArray<Letter> => {
  const glyphs = fromRight(glyphsOf(letters))
  const line = {
    glyphs,
    kinds: glyphs.map(kindOf),
    hebrew: letters.some((letter) => HEBREW.test(text(letter)))
  }
  let from = 0
  for (let at = 0; at <= glyphs.length; at++)
    if (at === glyphs.length || line.kinds[at] === "right") {
      if (at > from) turnBetween(line, from, at - 1)
      from = at + 1
    }
  return glyphs.flat()
}
