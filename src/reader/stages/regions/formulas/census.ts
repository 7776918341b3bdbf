import type { Box, FontFace } from "../../../model/page-content.ts"
import { type Line } from "../../lines/line.ts"
import { type Piece, piecesOf } from "../../lines/segment.ts"
import { isCompound, isFunctionName, isMathFace, isMathSign, RELATES } from "./mathematical.ts"

/** What formulas are found by in a column. */
export interface FormulaContext {
  readonly fonts: ReadonlyArray<FontFace>
  readonly bodySize: number
  /** Thin level lines of the page: bars of fractions and roots, among others. */
  readonly bars: ReadonlyArray<Box>
}

/** What the pieces of a zone are. */
interface Census {
  /** Signs that only mathematics has, by their face or by themselves. */
  readonly math: number
  readonly letters: number
  readonly words: number
  /** Letters within words. */
  readonly worded: number
  /** Italic letters, alone or in pairs, like variables. */
  readonly variables: number
  readonly relates: boolean
}

/** Words are of three letters at least, none of them Unicode's for mathematics; scripts without spaces have two letters to a word. */
const WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+|(?:(?![\u{1d400}-\u{1d7ff}])\p{L}\p{M}*){3,}/gu
const UNSPACED = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u
const VARIABLE = /(?<!\p{L})\p{L}{1,2}(?!\p{L})/gu

const ASCII_END = 0x80
const isAsciiLetter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)

/** Counts what pieces are made of. */
export const census = (pieces: ReadonlyArray<Piece>, fonts: ReadonlyArray<FontFace>): Census => {
  let [math, letters, words, worded, variables] = [0, 0, 0, 0, 0]
  let relates = false
  for (const { run, text } of pieces) {
    const face = fonts[run.font]
    const inMath = isMathFace(face)
    for (let at = 0; at < text.length; at++) {
      const code = text.codePointAt(at) ?? 0
      // Most characters are letters of ASCII, for which patterns would take most of the time.
      if (isAsciiLetter(code)) {
        letters += 1
        if (inMath) math += 1
        continue
      }
      if (code < ASCII_END && !inMath) continue
      const character = String.fromCodePoint(code)
      at += character.length - 1
      if (/\p{L}/u.test(character)) letters += 1
      if ((inMath && /[^\s.,•·]/.test(character)) || isMathSign(character)) math += 1
    }
    if (RELATES.test(text)) relates = true
    if (inMath) continue
    if (face?.italic === true) variables += text.match(VARIABLE)?.length ?? 0
    for (const word of text.match(WORD) ?? [])
      if (!isFunctionName(word) && !isCompound(word)) {
        words += UNSPACED.test(word) ? Math.ceil(word.length / 2) : 1
        worded += word.length
      }
  }
  return { math, letters, words, worded, variables, relates }
}

/** Words from which on a line is one of a text. */
const PROSE = 3
/** Least share of a text's letters within words; "of" and "is" do not count. */
const WORDED = 0.6

/** Whether a line is made of words: one of a text, between formulas. The last one of a text may have few, and nothing else. */
export const isProse = ({ segments }: Line, { fonts }: FormulaContext): boolean => {
  const { letters, math, relates, variables, words, worded } = census(piecesOf(segments), fonts)
  if (words >= PROSE) return worded > WORDED * letters
  return words > 0 && math === 0 && variables === 0 && !relates && worded > WORDED * letters
}

/** Whether a line begins with a word of a text, which no function is called. */
export const beginsWithWord = ({ segments }: Line, fonts: ReadonlyArray<FontFace>): boolean => {
  const first = segments[0]?.pieces[0]
  const [word = ""] = /^\p{L}{2,}/u.exec(first?.text ?? "") ?? []
  return first !== undefined && word !== "" && !isFunctionName(word) && !isMathFace(fonts[first.run.font])
}
