import { type Segment, segmentText, SPACE_GAP } from "./segment.ts"

/** Greatest gap or overlap of two segments that touch, in font sizes. */
const TOUCHING = 0.04

/** Hebrew, Arabic and their neighbours, with the forms that old fonts name. */
const LETTERS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/g

/** Whether a character is of such a script: the same codes as numbers, since it is asked of every character. */
export const isLetterFromRight = (code: number): boolean =>
  code >= 0x590 && (code <= 0x8ff || (code >= 0xfb1d && code <= 0xfdff) || (code >= 0xfe70 && code <= 0xfeff))

/** Whether a text has letters of such a script. */
export const hasFromRight = (text: string): boolean => text.search(LETTERS) >= 0

/** Whether most of a text's letters are of a script that is written from right to left. */
export const isRightToLeft = (text: string): boolean => {
  const letters = text.match(LETTERS)?.length ?? 0
  return letters > 0 && 2 * letters > (text.match(/\p{L}/gu)?.length ?? 0)
}

/** A line's segments in reading order; `segments` are sorted from left to right. */
export const segmentsAsRead = ({
  rightToLeft,
  segments
}: {
  readonly rightToLeft: boolean
  readonly segments: ReadonlyArray<Segment>
}): ReadonlyArray<Segment> => (rightToLeft ? segments.toReversed() : segments)

/**
 * Whether there is a space between two segments that are read one after the other. From left to right there is, unless
 * they touch: such are drawn in another order, as brackets around a word are by programs that write from the right; else they would be
 * one segment. From right to left every run begins a segment, also within a word.
 */
export const apart = (before: Segment, after: Segment, rightToLeft: boolean): boolean => {
  const [last, first] = [before.pieces.at(-1)?.text ?? "", after.pieces[0]?.text ?? ""]
  const isSpaced = last.endsWith(" ") || first.startsWith(" ")
  const size = Math.max(before.size, after.size)
  if (!rightToLeft) return isSpaced || Math.abs(after.x0 - before.x1) > TOUCHING * size
  return before.x0 - after.x1 > SPACE_GAP * size || isSpaced
}

/** The text of a line that is read from right to left. */
export const textFromRight = (segments: ReadonlyArray<Segment>): string => {
  let text = ""
  let before: Segment | undefined
  for (const segment of segments.toReversed()) {
    if (before !== undefined && apart(before, segment, true)) text += " "
    text += segmentText(segment)
    before = segment
  }
  return text
}

const END = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60ー]$/u
const START = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60ー]/u

/** Whether a text begins in a script that is broken between any two signs. */
export const startsUnspaced = (text: string): boolean => START.test(text)

/** Whether a text continues over the end of a line without a space, as Chinese and Japanese do. */
export const isUnspaced = (before: string, after: string): boolean => END.test(before) && START.test(after)
