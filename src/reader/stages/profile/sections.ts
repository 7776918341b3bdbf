import { greatest, least, countUp } from "../../model/lists.ts"
import { partsOf } from "../lines/section-number.ts"
import type { Look } from "../lines/segment.ts"

/** What the numbers of a document's sections say of their levels. */
export interface Sections {
  /** Levels by the number's kind, as `numberKind` names it. */
  readonly numbered: ReadonlyMap<string, number>
  /** Levels by style and look (`40 capitals`) of headings that are neither larger nor bolder than the text. */
  readonly looks: ReadonlyMap<string, number>
}

/** A kind of number in one style, and how often lines begin so. */
interface Numbered {
  readonly kind: string
  /** Style and look. */
  readonly style: string
  readonly looks: boolean
  readonly count: number
}

/** A look of the text's own size and weight is a heading's where so many numbered lines have it. */
const USUAL = 2
/** Deepest level of a heading. */
const DEEPEST = 6

/**
 * Ranks of kinds of numbers, from 1: sections in Roman figures, then those with letters, then those with figures;
 * without Roman ones each of the others is the first rank.
 */
const ranksOf = (kinds: ReadonlyMap<string, number>): ((kind: string) => number) => {
  const has = (kind: string, times = 1) => (kinds.get(kind) ?? 0) >= times
  const roman = has("roman", USUAL)
  const upper = roman ? 2 : 1
  const figure = !roman ? 1 : has("upper") ? 3 : 2
  // Chapters in Roman figures above sections 1, 1.1.
  const shift = roman && !has("upper") && has("figure", USUAL) ? 1 : 0
  return (kind) => {
    if (kind === "roman") return 1
    if (kind === "upper") return upper
    if (kind === "figure") return figure
    return kind === "lower" ? figure + 1 : (partsOf(kind) ?? 0) + shift
  }
}

/** A style that so large a share of a kind's lines has is not a list's or a table of contents' by chance. */
const SHARE = 0.2

/** The level that a kind's styles give it: the highest one of those that are met often. */
const ownLevel = (all: ReadonlyArray<Numbered>, levels: ReadonlyMap<string, number>): number | undefined => {
  const most = greatest(all.map(({ count }) => count))
  const found = all.flatMap(({ count, style }) => (count >= SHARE * most ? (levels.get(style) ?? []) : []))
  return found.length === 0 ? undefined : least(found)
}

/** Derives the levels of sections. `counts` are by `sectionKey`, `levels` those of larger and bolder styles. */
export const sectionsOf = (
  counts: Readonly<Record<string, number>>,
  levels: ReadonlyMap<string, number>,
  sizeIsHeading: (style: string) => boolean,
  above: number
): Sections => {
  const numbered = Object.entries(counts).flatMap(([key, count]): ReadonlyArray<Numbered> => {
    const [kind = "", style = "", look] = key.split(" ")
    const looks = !levels.has(style)
    if (looks && (look === undefined || count < USUAL || !sizeIsHeading(style))) return []
    return [{ kind, style: looks ? `${style} ${look}` : style, looks, count }]
  })
  const kinds = new Map<string, number>()
  for (const { count, kind } of numbered) countUp(kinds, kind, count)
  const rank = ranksOf(kinds)
  const ranks = Map.groupBy(numbered, ({ kind }) => rank(kind))
  const result = { numbered: new Map<string, number>(), looks: new Map<string, number>() }
  const used = new Set<number>()
  let level: number | undefined
  for (const [, all] of [...ranks].sort(([a], [b]) => a - b)) {
    const own = ownLevel(all, levels)
    // A unique style gives the level; one that sections above it have, too, does not.
    const below = level === undefined ? above + 1 : level + 1
    level = Math.min(DEEPEST, own === undefined || used.has(own) ? below : own)
    used.add(level)
    for (const { kind, looks, style } of all) {
      result.numbered.set(kind, level)
      if (looks && !result.looks.has(style)) result.looks.set(style, level)
    }
  }
  return result
}

/** Lines of a look that are set as headings are some where they are this many, and most that have the look. */
const MARKED_HEADS = 3
const MOSTLY_HEADS = 0.75
/** Looks that rank below larger or bolder lines, from the highest; capitals rank right below larger lines. */
const QUIET: ReadonlyArray<Look> = ["underlined", "coloured", "italic"]

/** Levels of the looks of the document's headings. `above`: the level of larger headings. */
export const markedOf = (
  marked: Readonly<Record<string, { readonly lines: number; readonly heads: number }>>,
  levels: ReadonlyMap<string, number>,
  above: number
): ReadonlyMap<string, number> => {
  const heads = Object.entries(marked).flatMap(([key, { heads: found, lines }]) =>
    found >= MARKED_HEADS && found >= MOSTLY_HEADS * lines ? [key] : []
  )
  const having = (look: Look) => heads.filter((key) => key.endsWith(look))
  const capitals = having("capitals")
  const deepest = Math.max(greatest([...levels.values(), 1]), capitals.length === 0 ? 0 : above + 1)
  const quiet = QUIET.map(having).filter(({ length }) => length > 0)
  return new Map([
    ...capitals.map((key) => [key, above + 1] as const),
    ...quiet.flatMap((keys, at) => keys.map((key) => [key, Math.min(DEEPEST, deepest + 1 + at)] as const))
  ])
}

/** The deepest level that a larger style has on several pages: what looks like text ranks below it, and below a title. */
export const levelAbove = (levels: ReadonlyArray<number>): number => Math.max(1, greatest(levels))
