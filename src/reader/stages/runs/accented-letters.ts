import { middleX } from "../../model/geometry.ts"
import type { TextRun } from "../../model/page-content.ts"
import { MARK } from "./accents.ts"
import { evenEdges, hasEdges } from "./run-edges.ts"

const SIGN = /[ˆ˜¯˙¨ˇ˘´]|\u20d7/gu
const LETTER = /[\p{Lu}\p{Ll}\p{Lt}\p{Lo}]/u
/** Letters that have lost their dot to an accent. */
const DOTTED: ReadonlyMap<string, string> = new Map([
  ["ı", "i"],
  ["ȷ", "j"]
])

/** The letter is drawn so near to its accent, in runs and in characters: TeX draws one right before the other. */
const RUNS = 2
const NEAR = 3
/** An accent is so much larger than its letter at most: the wide ones have one size for all. */
const SIZES = 1.6
/** An accent's ink ends so high above the letter's line, in font sizes: over a small letter, and over a capital. */
const LOW = 0.3
const HIGH = 1.1
/** The same of one that is drawn on the letter's own line. */
const ON_LINE = 0.5
/** Least height of the boxes of faces, in font sizes. */
const FLAT = 0.5

/** A character of a page: its run and its place in it. */
interface Place {
  readonly run: number
  readonly at: number
}

/** Where a character of a run begins: evenly where it does not say. Boxes end where the last sign does. */
const edgeOf = (run: TextRun, at: number): number =>
  (hasEdges(run) ? run.edges : evenEdges(run.text.trimEnd(), run.box.x0, run.box.x1))[at] ?? run.box.x1

/** Where the ink of a run's accents ends: where its box does, if that is too flat to be a face's. */
const footOf = ({ baseline, box, size }: TextRun): number =>
  box.y1 - box.y0 < FLAT * size ? box.y1 : baseline - ON_LINE * size

/** True when an accent of one run is at the usual height over the letters of another. */
const isOver = (accent: TextRun, letters: TextRun): boolean => {
  const up = (letters.baseline - footOf(accent)) / letters.size
  return letters.angle === accent.angle && accent.size < SIZES * letters.size && up > LOW && up < HIGH
}

/** The letter that an accent is drawn over. */
const letterBelow = (runs: ReadonlyArray<TextRun>, { at, run }: Place): Place | undefined => {
  const accent = runs[run]
  if (accent === undefined) return undefined
  const middle = middleX({ x0: edgeOf(accent, at), x1: edgeOf(accent, at + 1) })
  let [best, nearest]: [Place | undefined, number] = [undefined, Infinity]
  for (let other = run - RUNS; other <= run + RUNS; other++) {
    const letters = runs[other]
    if (letters === undefined || !isOver(accent, letters)) continue
    const { text } = letters
    const from = other === run ? at - NEAR : other < run ? text.length - NEAR : 0
    const to = other === run ? at + NEAR : other < run ? text.length : NEAR
    for (let place = Math.max(0, from); place < Math.min(to, text.length); place++) {
      const letter = String.fromCodePoint(text.codePointAt(place) ?? 0)
      const [x0, x1] = [edgeOf(letters, place), edgeOf(letters, place + letter.length)]
      const away = Math.abs(middleX({ x0, x1 }) - middle)
      if (!LETTER.test(letter) || middle < x0 || middle > x1 || away >= nearest) continue
      ;[best, nearest] = [{ run: other, at: place }, away]
    }
  }
  return best
}

/** A run without these accents and with these marks on its letters; undefined where nothing is left. */
const accented = (
  run: TextRun,
  dropped: ReadonlySet<number>,
  marks: ReadonlyMap<number, string>
): TextRun | undefined => {
  let [text, end] = ["", run.box.x0]
  const edges: Array<number> = []
  for (let at = 0; at < run.text.length; at++) {
    const mark = marks.get(at)
    const character =
      mark === undefined ? run.text.charAt(at) : String.fromCodePoint(run.text.codePointAt(at) ?? 0)
    // What is white behind an accent is as wide as its letter lets it be.
    if (dropped.has(at) || (text === "" && dropped.size > 0 && character.trim() === "")) continue
    const whole =
      mark === undefined ? character : ((DOTTED.get(character) ?? character) + mark).normalize("NFC")
    const start = edgeOf(run, at)
    at += character.length - 1
    end = edgeOf(run, at + 1)
    for (let unit = 0; unit < whole.length; unit++) edges.push(unit === 0 ? start : end)
    text += whole
  }
  return text === ""
    ? undefined
    : { ...run, text, edges: [...edges, end], box: { ...run.box, x0: edges[0] ?? run.box.x0, x1: end } }
}

/**
 * Combines letters with the accents that are drawn over them: TeX draws those of formulas as separate signs, which
 * would split the lines of a text. Linear in the runs and their characters.
 */
export const withAccentedLetters = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  const dropped = new Map<number, Set<number>>()
  const marks = new Map<number, Map<number, string>>()
  for (const [run, { text }] of runs.entries())
    for (const { 0: sign, index } of text.matchAll(SIGN)) {
      const letter = letterBelow(runs, { run, at: index })
      if (letter === undefined) continue
      const of = marks.get(letter.run) ?? new Map<number, string>()
      marks.set(letter.run, of.set(letter.at, (of.get(letter.at) ?? "") + (MARK.get(sign) ?? "")))
      dropped.set(run, (dropped.get(run) ?? new Set()).add(index))
    }
  if (dropped.size === 0) return runs
  return runs.flatMap((run, at) => {
    const [without, on] = [dropped.get(at), marks.get(at)]
    return without === undefined && on === undefined
      ? [run]
      : (accented(run, without ?? new Set(), on ?? new Map()) ?? [])
  })
}
