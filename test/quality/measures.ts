/** Measures of single kinds of content, beside reading order, heading structure and tables (score.ts). All are counts. Pages: wrong-pages.ts. */
import { comparedSections, type Content } from "./score.ts"

/** How many are true, how many were made, and how many of these are true. */
export interface Counts {
  readonly truth: number
  readonly made: number
  readonly found: number
}

export const NONE: Counts = { truth: 0, made: 0, found: 0 }

export const sum = (a: Counts, b: Counts): Counts => ({
  truth: a.truth + b.truth,
  made: a.made + b.made,
  found: a.found + b.found
})

export const precision = ({ found, made }: Counts): number => (made === 0 ? 1 : found / made)
export const recall = ({ found, truth }: Counts): number => (truth === 0 ? 1 : found / truth)
/** 1 where there is nothing and nothing was made. */
export const f1 = ({ found, made, truth }: Counts): number =>
  made + truth === 0 ? 1 : (2 * found) / (made + truth)

const bagOf = (items: ReadonlyArray<string>): Map<string, number> => {
  const bag = new Map<string, number>()
  for (const item of items) bag.set(item, (bag.get(item) ?? 0) + 1)
  return bag
}

const common = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number => {
  let shared = 0
  for (const [item, count] of a) shared += Math.min(count, b.get(item) ?? 0)
  return shared
}

/** Words wherever they stand: completeness is the recall. */
export const wordCounts = (truth: Content, made: Content): Counts => ({
  truth: truth.words.length,
  made: made.words.length,
  found: common(bagOf(truth.words), bagOf(made.words))
})

/** Share of two texts' parts that are common to both, 0 to 1. */
const likeness = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number =>
  a.length + b.length === 0 ? 0 : (2 * common(bagOf(a), bagOf(b))) / (a.length + b.length)

/** Pairs of a list with another, one to one, the likeliest pairs first. */
const matched = (
  truth: ReadonlyArray<ReadonlyArray<string>>,
  made: ReadonlyArray<ReadonlyArray<string>>,
  least: number
): number => {
  const pairs = truth
    .flatMap((one, at) => made.map((other, to) => ({ at, to, like: likeness(one, other) })))
    .filter(({ like }) => like >= least)
    .sort((a, b) => b.like - a.like)
  const [used, taken] = [new Set<number>(), new Set<number>()]
  for (const { at, to } of pairs)
    if (!used.has(at) && !taken.has(to)) {
      used.add(at)
      taken.add(to)
    }
  return used.size
}

/** Headings by their words, whatever their level. */
export const headingCounts = (truth: Content, made: Content): Counts => {
  const words = (document: Content) => comparedSections(document).map(({ heading }) => heading.split(" "))
  const [a, b] = [words(truth), words(made)]
  return { truth: a.length, made: b.length, found: matched(a, b, 0.8) }
}

/** Figures by their captions; pictures without one are left out on both sides. */
export const figureCounts = (truth: Content, made: Content): Counts => {
  const [a, b] = [truth, made].map(({ captions }) => captions.map((caption) => caption.split(" ")))
  return { truth: a?.length ?? 0, made: b?.length ?? 0, found: matched(a ?? [], b ?? [], 0.6) }
}

/** Formulas are compared by single characters: their words are cut differently everywhere. */
const signs = (formula: string): ReadonlyArray<string> =>
  formula.normalize("NFKD").match(/[^\s\p{M}\u2061-\u2064]/gu) ?? []

/** Display formulas: those of which most signs are found in one that was made. */
export const formulaCounts = (truth: Content, made: Content): Counts => {
  const [a, b] = [truth.formulas.map(signs), made.formulas.map(signs)]
  return { truth: a.length, made: b.length, found: matched(a, b, 0.6) }
}

const SHORTEST_FORMULA = 6
const letters = (text: string): string =>
  signs(text)
    .join("")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")

const pairsOf = (text: string): Map<string, number> =>
  bagOf(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)))

/** Display formulas whose letters stand, for the most part, in the cells of a table that holds little else. */
export const formulasAsTables = (truth: Content, made: Content): number => {
  const tables = made.tables.map((rows) => letters(rows.flat().join(" ")))
  return truth.formulas.filter((formula) => {
    const wanted = letters(formula)
    if (wanted.length < SHORTEST_FORMULA) return false
    const pairs = pairsOf(wanted)
    return tables.some(
      (table) =>
        table.length < 4 * wanted.length && common(pairs, pairsOf(table)) >= 0.6 * (wanted.length - 1)
    )
  }).length
}
