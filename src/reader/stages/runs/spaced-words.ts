import { hull } from "../../model/geometry.ts"
import type { Box, TextRun } from "../../model/page-content.ts"

/** Letters with a space behind each. */
const SPELLED = /^\p{L}(?: \p{L})*$/u
/** Fewest letters of a word that is set so, and fewest that differ: days, keys and genes have few. */
const FEWEST_LETTERS = 4
const FEWEST_KINDS = 4
/** Fewest vowels of a word of so few letters, which is in capitals: the ways of the wind have fewer. */
const FEWEST_VOWELS = 2
/** A gap that ends a word is wider than the middle one by this factor; none is wider than so many font sizes. */
const ENDS_WORD = 1.75
const WIDEST = 4
/** Most pairs of letters and cells that are looked at. */
const MOST_PAIRS = 4_000_000
/** How far two baselines of a line are apart, in font sizes. */
const SAME_LINE = 0.05
/** Longest text of a cell, how far it is from the letter that may name it, in font sizes, and the part of the letters that have one. */
const LONGEST_CELL = 6
const NEAR = 4
const PART_NAMED = 0.4

/** Vowels without their accents. */
const VOWELS = /[aeiouyæøœаеиоуыэюяєіїαεηιουω]/gu
/** Scripts in which vowels show what is a word. */
const KNOWN = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+$/u
/** A word has capitals throughout, or at its beginning. */
const WORD = /^(?:\p{Lu}+|\p{Lu}?\p{Ll}+)$/u
/** Part of a word's letters that are vowels, at least and at most. */
const [FEW_VOWELS, MANY_VOWELS] = [0.2, 0.75]
/** The first letters of the months. */
const MONTHS = "jfmamjjasond"

/** Whether letters may be a word: they are no row of the alphabet, and have vowels among them as words do. */
const isWord = (letters: string): boolean => {
  const plain = letters.toLowerCase().normalize("NFD").replaceAll(/\p{M}/gu, "")
  const codes = Array.from(plain, (letter) => letter.codePointAt(0) ?? 0)
  const inRow = codes.filter((code, at) => code - (codes[at - 1] ?? 0) === 1).length
  const count = plain.match(VOWELS)?.length ?? 0
  const vowels = count / codes.length
  const isShort = codes.length === FEWEST_LETTERS
  return (
    !(isShort && (count < FEWEST_VOWELS || letters !== letters.toUpperCase())) &&
    WORD.test(letters) &&
    KNOWN.test(letters) &&
    new Set(plain).size >= FEWEST_KINDS &&
    2 * new Set(plain).size > codes.length &&
    2 * inRow < codes.length &&
    vowels >= FEW_VOWELS &&
    vowels <= MANY_VOWELS &&
    !MONTHS.startsWith(plain)
  )
}

const middleOf = ({ x0, x1 }: Box): number => (x0 + x1) / 2

/** Whether letters name what is above or below them: they are the heads of columns, or a row of a grid. */
const nameColumns = (letters: ReadonlyArray<TextRun>, cells: ReadonlyArray<TextRun>): boolean => {
  const named = letters.filter(({ baseline, box, size }) =>
    cells.some((cell) => {
      const apart = Math.abs(cell.baseline - baseline)
      const place = middleOf(cell.box)
      return apart > SAME_LINE * size && apart < NEAR * size && place > box.x0 - 2 && place < box.x1 + 2
    })
  )
  return named.length > PART_NAMED * letters.length
}

const gapsOf = (runs: ReadonlyArray<TextRun>): ReadonlyArray<number> =>
  runs.slice(1).map(({ box }, at) => box.x0 - (runs[at]?.box.x1 ?? box.x0))

/** Joins letters to words by the gaps between them; undefined where they make no words. */
const wordsOf = (runs: ReadonlyArray<TextRun>): string | undefined => {
  const gaps = gapsOf(runs)
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? 0
  const words: Array<string> = []
  for (const [at, { text }] of runs.entries()) {
    const letters = text.replaceAll(/\s/g, "")
    if (at > 0 && (gaps[at - 1] ?? 0) <= ENDS_WORD * usual) words.push((words.pop() ?? "") + letters)
    else words.push(letters)
  }
  const long = words.filter((word) => word.length >= FEWEST_LETTERS)
  return long.length > 0 && long.every(isWord) && words.every((word) => WORD.test(word))
    ? words.join(" ")
    : undefined
}

const goesOn = (before: TextRun, { angle, baseline, box, font, mcid, size }: TextRun): boolean =>
  before.font === font &&
  before.size === size &&
  before.mcid === mcid &&
  before.angle === angle &&
  Math.abs(before.baseline - baseline) < SAME_LINE * size &&
  box.x0 > before.box.x1 &&
  box.x0 - before.box.x1 < WIDEST * size

const isSpelled = ({ text }: TextRun): boolean => SPELLED.test(text.trim())

/** Joins runs of letters that are set far apart to words. */
export const withSpacedWords = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  const groups: Array<Array<TextRun>> = []
  let before: TextRun | undefined
  for (const run of runs) {
    const spelled = isSpelled(run)
    if (spelled && before !== undefined && goesOn(before, run)) groups.at(-1)?.push(run)
    else groups.push([run])
    before = spelled ? run : undefined
  }
  const cells = runs.filter(({ text }) => text.trim().length <= LONGEST_CELL)
  if (cells.length * runs.length > MOST_PAIRS) return runs
  return groups.flatMap((letters) => {
    const [first] = letters
    if (first === undefined || !isSpelled(first)) return letters
    const text = wordsOf(letters)
    if (text === undefined || nameColumns(letters, cells)) return letters
    return [{ ...first, text, box: hull(letters.map(({ box }) => box)), edges: [], hyphenated: false }]
  })
}
