/**
 * Which pages of a result are wrong. Two definitions, since the first one calls pages wrong that no reader would: pages of which the truth
 * leaves out the words (titles, contents, an index), Japanese with a space beside Latin letters, rows that the page's end cuts in two as
 * the print does, cells over several columns, and the numbers of lists, which pandoc leaves out.
 */
import { type Content } from "./score.ts"

/** Words in a row that are looked for in the truth, and the parts of a page's that are to be found there. */
const WORDS_IN_A_ROW = 3
const MOSTLY_FOUND = 0.8
/** A page of fewer words says too little. */
const FEWEST_WORDS = 12

type Row = ReadonlyArray<string>

const inARow = (words: Row): ReadonlyArray<string> =>
  words
    .slice(0, Math.max(0, words.length - WORDS_IN_A_ROW + 1))
    .map((_, at) => words.slice(at, at + WORDS_IN_A_ROW).join(" "))

const hasWords = (text: string): boolean => /\p{L}|\d/u.test(text)
const joined = (cells: Row): string => cells.filter((cell) => cell !== "").join(" ")

/**
 * Which rows are right: those of the truth's tables, cell by cell, and those whose words the truth has in a row outside of its tables, as
 * lists of terms are that it does not call tables.
 */
const rightRows = (rows: ReadonlyArray<Row>, words: Row) => {
  const [whole, anyhow] = [new Set(rows.map((row) => row.join(" | "))), new Set(rows.map(joined))]
  const text = ` ${words.join(" ")} `
  return (row: Row): boolean =>
    whole.has(row.join(" | ")) || (!anyhow.has(joined(row)) && text.includes(` ${joined(row)} `))
}

const shareIn = (items: ReadonlyArray<string>, of: ReadonlySet<string>): number =>
  items.length === 0 ? 1 : items.filter((item) => of.has(item)).length / items.length

/** Whether a page differs from its truth, to the letter: its words are in another order, or its rows are none of the truth's. */
export const pageDiffers = (truth: Content) => {
  const words = new Set(inARow(truth.words))
  const isRight = rightRows(truth.tables.flat(), truth.words)
  return (page: Content): boolean => {
    const rows = page.tables.flat().filter((row) => hasWords(joined(row)))
    return (
      page.words.length >= FEWEST_WORDS &&
      (shareIn(inARow(page.words), words) < MOSTLY_FOUND ||
        rows.filter(isRight).length < MOSTLY_FOUND * rows.length)
    )
  }
}

/** Scripts that put no space between words: each letter is compared for itself. Bullets may be single letters. */
const PIECES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu
const comparedWords = (words: Row): ReadonlyArray<string> =>
  words.flatMap((word) => word.match(PIECES) ?? []).filter((word) => !/^[a-z]$/.test(word))

/** Words that are this near one another in the truth are of one place. */
const NEAR = 30

/** How words that the truth does not have in this order speak against a page: not at all where the truth leaves the text out. */
const evidenceAgainst = (words: Row) => {
  const places = new Map<string, Array<number>>()
  for (const [at, word] of words.entries()) {
    const known = places.get(word)
    if (known === undefined) places.set(word, [at])
    else known.push(at)
  }
  const pairs = new Set(words.slice(1).map((word, at) => `${words[at]} ${word}`))
  const isGlued = (word: string): boolean =>
    !places.has(word) &&
    Array.from({ length: word.length - 1 }, (_, at) => `${word.slice(0, at + 1)} ${word.slice(at + 1)}`).some(
      (pair) => pairs.has(pair)
    )
  const isTorn = (word: string, next: string): boolean =>
    places.has(word + next) && (!places.has(word) || !places.has(next))
  const areNear = (some: Row): boolean => {
    const lists = some.map((word) => places.get(word) ?? []).sort((a, b) => a.length - b.length)
    const [rarest = [], ...others] = lists
    return rarest.some((at) => others.every((list) => list.some((place) => Math.abs(place - at) <= NEAR)))
  }
  return (some: Row): boolean =>
    areNear(some) || some.some(isGlued) || some.slice(1).some((next, at) => isTorn(some[at] ?? "", next))
}

/** A table's rows with cells over several columns or rows once, and without columns that are empty as a whole or at the end. */
const comparedRows = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const width = Math.max(0, ...rows.map(({ length }) => length))
  const kept = Array.from({ length: width }, (_, at) => rows.some((row) => hasWords(row[at] ?? "")))
  return rows.map((row, below) => {
    const cells = row
      .map((cell, at) => (cell === rows[below - 1]?.[at] ? "" : cell))
      .filter((_, at) => kept[at])
      .filter((cell, at, all) => cell === "" || cell !== all[at - 1])
    const last = cells.findLastIndex(hasWords)
    return cells.slice(0, last + 1)
  })
}

/** The number that an item of a list has in print. */
const unnumbered = ([first = "", ...rest]: Row): Row => [first.replace(/^\d+ (?=\D)/, ""), ...rest]

/** Whether a row is a part of a truth's: of each cell the words at its end, or those at its beginning. */
const isPart = (row: Row, of: Row, end: boolean): boolean =>
  row.length <= of.length &&
  row.every((cell, at) => {
    const whole = of[at] ?? ""
    return cell === whole || cell === "" || (end ? whole.endsWith(` ${cell}`) : whole.startsWith(`${cell} `))
  })

/** A cell over several rows reaches from the first one down, or from the last one up: what such rows share is cut as they are. */
const cutAt = (rows: ReadonlyArray<Row>, from: number, step: 1 | -1): ReadonlyArray<number> => {
  const cut: Array<number> = []
  for (let at = from; rows[at] !== undefined; at += step) {
    const [row, before] = [rows[at] ?? [], rows[at - step] ?? []]
    if (at !== from && !row.some((cell, column) => cell !== "" && cell === before[column])) break
    cut.push(at)
  }
  return cut
}

/** Rows that a page's beginning or end cuts in two, as the print does: right where they are the rest or the beginning of a row. */
const withoutCut = (
  page: Content,
  tables: ReadonlyArray<ReadonlyArray<Row>>,
  isRight: (row: Row) => boolean,
  truth: ReadonlyArray<Row>
): ReadonlyArray<Row> => {
  const cut = new Set<Row>()
  const [first = [], last = []] = [tables[0], tables.at(-1)]
  const text = page.words.join(" ")
  const beginning = first.findIndex((row) => !isRight(row))
  if (text.startsWith(joined(first[0] ?? [])))
    for (const at of cutAt(first, beginning, 1))
      if (truth.some((row) => isPart(first[at] ?? [], row, true))) cut.add(first[at] ?? [])
  if (text.endsWith(joined(last.at(-1) ?? [])))
    for (const at of cutAt(last, last.length - 1, -1))
      if (truth.some((row) => isPart(last[at] ?? [], row, false))) cut.add(last[at] ?? [])
  return tables.flat().filter((row) => hasWords(joined(row)) && !cut.has(row))
}

/** Whether a page is wrong for who reads it: words in another order than the truth's, torn or glued, or rows that are none of the truth's. */
export const pageIsWrong = (truth: Content) => {
  const compared = comparedWords(truth.words)
  const known = new Set(inARow(compared))
  const speaksAgainst = evidenceAgainst(compared)
  const rowsOfTruth = truth.tables.flatMap(comparedRows)
  const isTrue = rightRows(rowsOfTruth, truth.words)
  const isRight = (row: Row): boolean => isTrue(row) || isTrue(unnumbered(row))
  return (page: Content): boolean => {
    const words = comparedWords(page.words)
    if (words.length < FEWEST_WORDS) return false
    const three = inARow(words)
    const found = three.filter((some) => known.has(some)).length
    const against = three.filter((some) => !known.has(some) && speaksAgainst(some.split(" "))).length
    if (found + against >= FEWEST_WORDS && found < MOSTLY_FOUND * (found + against)) return true
    const rows = withoutCut(page, page.tables.map(comparedRows), isRight, rowsOfTruth)
    return rows.filter(isRight).length < MOSTLY_FOUND * rows.length
  }
}
