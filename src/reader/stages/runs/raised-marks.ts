/** The marks of notes, raised above their words or in front of them. */
import type { TextRun } from "../../model/page-content.ts"

/** How far baselines of one line may differ, in font sizes. */
export const SAME_BASELINE = 0.12
/** Largest size of a raised mark, as a share of the line's. */
export const RAISED_SIZE = 0.86
/** Greatest height of a raised mark, in font sizes. */
export const RAISED_HIGH = 0.75
/** Greatest distance of a note's words behind its raised mark, in font sizes: a tab. */
const TAB = 5

/** Whether a line, or a part of it, is raised over another, or the other over it: marks and indices are. */
export const isRaised = (
  a: { readonly baseline: number; readonly size: number },
  b: { readonly baseline: number; readonly size: number }
): boolean => {
  const [small, large] = a.size < b.size ? [a, b] : [b, a]
  const high = large.baseline - small.baseline
  return small.size <= RAISED_SIZE * large.size && high > 0 && high < RAISED_HIGH * large.size
}

const NOTE_MARK = /^\s*(?:\d{1,3}|[*∗†‡§¶]{1,3})\s*$/u

/** Whether words are the mark of a note, raised or not. */
export const isNoteMark = (text: string): boolean => NOTE_MARK.test(text)

/** The words of a line so far. */
interface Words {
  readonly baseline: number
  readonly pieces: ReadonlyArray<{ readonly text: string }>
  readonly size: number
  readonly x1: number
}

/** True when a run's words follow the mark of a note, which is raised and alone so far. */
export const followsMark = ({ baseline, pieces, size, x1 }: Words, run: TextRun): boolean =>
  pieces.length === 1 &&
  size <= RAISED_SIZE * run.size &&
  isNoteMark(pieces[0]?.text ?? "") &&
  run.box.x0 >= x1 &&
  run.box.x0 - x1 < TAB * run.size &&
  run.baseline - baseline > SAME_BASELINE * run.size &&
  run.baseline - baseline < RAISED_HIGH * run.size

/** Least height of a mark in the size of its words, in font sizes, and what a word ends with. */
const FULL_HIGH = 0.3
const WORD_END = /[\p{L}\p{N}.,;:!?)\]”’"'»]$/u

/**
 * True when a run is the mark of a note that is raised in full size, right behind a word, as browsers set what no style makes smaller. What
 * has something below it is above a fraction's line.
 */
export const isFullMark = (
  { baseline, pieces, size, x1 }: Words,
  run: TextRun,
  next: TextRun | undefined
): boolean => {
  const up = baseline - run.baseline
  const isUnder = next !== undefined && next.baseline > baseline && next.box.x0 < run.box.x1
  return (
    up > FULL_HIGH * size &&
    up < RAISED_HIGH * size &&
    Math.abs(run.box.x0 - x1) < SAME_BASELINE * size &&
    isNoteMark(run.text) &&
    WORD_END.test(pieces.at(-1)?.text ?? "") &&
    !(isUnder && next.box.x1 > run.box.x0)
  )
}
