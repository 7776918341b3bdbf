/** Initials that reach down over several lines, drawn before or after the rest of their paragraph. */
import type { TextRun } from "../../model/page-content.ts"

/** Least size of an initial, in sizes of its words. */
const LARGER = 1.8
/** Greatest distance of its word behind it, and overlap, in sizes of the word. */
const BEHIND = 1
const OVERLAP = 0.3
/** Height of a capital, in font sizes, and how much higher or lower than its word's an initial's top may be, in sizes of the word. */
const CAPITAL = 0.7
const LEVEL = 0.7
/** A page with more large letters is a poster or a chart. */
const MOST = 12

const topOf = ({ baseline, size }: TextRun): number => baseline - CAPITAL * size

/** The word that an initial begins: right behind it, at its top, and above its baseline by a line at least. */
const wordOf = (initial: TextRun, runs: ReadonlyArray<TextRun>): TextRun | undefined =>
  runs.find(
    (run) =>
      run !== initial &&
      run.angle === 0 &&
      run.size * LARGER <= initial.size &&
      /^\p{L}/u.test(run.text) &&
      run.box.x0 - initial.box.x1 < BEHIND * run.size &&
      run.box.x0 - initial.box.x1 > -OVERLAP * run.size &&
      Math.abs(topOf(run) - topOf(initial)) < LEVEL * run.size &&
      initial.baseline - run.baseline >= run.size &&
      runs.some((other) => isBelow(other, run, initial))
  )

/** Whether a line of the same paragraph is next to the initial, below its first one. */
const isBelow = (other: TextRun, run: TextRun, initial: TextRun): boolean =>
  other.size === run.size &&
  other.baseline > run.baseline + 1 &&
  other.baseline < initial.baseline + run.size / 2 &&
  Math.abs(other.box.x0 - run.box.x0) < BEHIND * run.size

/** Joins each initial with its word. */
export const withInitials = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  const large = runs.filter(({ angle, text }) => angle === 0 && /^\s*\p{Lu}\s*$/u.test(text))
  if (large.length === 0 || large.length > MOST) return runs
  const joined = new Map<TextRun, TextRun | undefined>()
  for (const initial of large) {
    const word = wordOf(initial, runs)
    if (word === undefined || joined.has(word)) continue
    const text = `${initial.text.trim()}${word.text}`
    const edges = [initial.box.x0, ...word.edges]
    joined.set(word, { ...word, text, edges, box: { ...word.box, x0: initial.box.x0 } })
    joined.set(initial, undefined)
  }
  return joined.size === 0 ? runs : runs.flatMap((run) => (joined.has(run) ? (joined.get(run) ?? []) : [run]))
}
