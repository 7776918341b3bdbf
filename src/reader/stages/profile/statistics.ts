import { countUp } from "../../model/lists.ts"
import type { FontFace, TextRun } from "../../model/page-content.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { addHyphens, type HyphenCounts, NO_HYPHENS } from "../lines/hyphens.ts"
import type { Line } from "../lines/line.ts"
import { romanValue } from "../lines/markers.ts"
import { isNumberAlone } from "../lines/page-numbers.ts"
import { isNumbered, type SectionNumber, sectionNumber, kindOf } from "../lines/section-number.ts"
import {
  isSectionLook,
  isSizedByTypewriter,
  type Look,
  lookOf,
  segmentText,
  type Segment,
  isBoldThroughout,
  gapsIn
} from "../lines/segment.ts"

/** How often a style of lines occurs: `size` in quarter points, bold or not. */
export interface StyleCount {
  readonly characters: number
  readonly lines: number
  readonly pages: number
  /** First page that has it, from 0. */
  readonly first: number
}

/**
 * What is counted page by page and added up over pages, chunks and processes, in any order. JSON. Contains no text but the first
 * and last lines of pages, digits removed.
 */
export interface PageStatistics {
  /** The pages counted, from 0, ascending: none is counted twice. */
  readonly indexes: ReadonlyArray<number>
  /** By `styleKey`. */
  readonly styles: Readonly<Record<string, StyleCount>>
  /** By `sectionKey`: lines that begin with a section's number. */
  readonly sections: Readonly<Record<string, number>>
  /** By `markedKey`: number of lines with a special look, and of those among them that are set as a heading is. */
  readonly marked: Readonly<Record<string, { readonly lines: number; readonly heads: number }>>
  /**
   * By `marginKey`, `halfKeys`, `numberKeys` and `loneNumberKeys`: number of pages with such a line in their margin.
   */
  readonly margins: Readonly<Record<string, number>>
  readonly hyphens: HyphenCounts
}

export const NO_STATISTICS: PageStatistics = {
  indexes: [],
  styles: {},
  sections: {},
  marked: {},
  margins: {},
  hyphens: NO_HYPHENS
}

/** Rows from the top and from the bottom of a page that may be running. */
const MARGIN_ROWS = 3
/**
 * Share of the page's height, at either end, for running lines, and for numbers alone: a block of text may end far
 * above.
 */
export const MARGIN = 0.16
const NUMBER_MARGIN = 0.25
/** Height of a slot that running lines are looked for in, in points. */
const SLOT = 6
/** Margins that are kept when counts are added up; the rarest go first. */
const MAX_MARGINS = 4000
/** Longest part of a line that is compared. */
const MAX_KEY = 60

/** Names a line's style: `40` is ten points, `40b` ten points bold, `40m` and `40bm` the same in a monospaced face. */
export const styleKey = (size: number, bold: boolean, typewriter = false): string =>
  `${Math.round(size * 4)}${bold ? "b" : ""}${typewriter ? "m" : ""}`

/** Names how a numbered line is numbered and set: `parts2 40b`, `roman 40 capitals`. */
const sectionKey = (number: SectionNumber, style: string, look: Look | undefined): string =>
  `${kindOf(number)} ${style}${look === undefined ? "" : ` ${look}`}`

/** What a segment that begins with a number may begin with. */
const NUMBER = /^(?:§|\d|[A-Za-z][.):]|[IVX]{2,6}[\s.):])/
/** Greatest distance of a heading's words behind its number, in font sizes. */
const BEHIND = 5

/** The key of a line that begins with a section's number; `next` follows it in the stream, and may hold its words. */
const sectionKeyOf = (
  segment: Segment,
  next: Segment | undefined,
  fonts: ReadonlyArray<FontFace>
): string | undefined => {
  if (!NUMBER.test(segment.pieces[0]?.text ?? "")) return undefined
  const beside =
    next !== undefined &&
    Math.abs(next.baseline - segment.baseline) < 0.12 * segment.size &&
    next.x0 > segment.x1 &&
    next.x0 - segment.x1 < BEHIND * segment.size
  const text = segmentText(segment)
  const number = sectionNumber(beside ? `${text} ${segmentText(next)}` : text)
  if (number === undefined) return undefined
  const pieces = beside ? [...segment.pieces, ...next.pieces] : segment.pieces
  // The number's own spaces are not in the pieces.
  const own = lookOf(pieces, fonts, number.length - 1)
  const look = isSectionLook(own) ? own : undefined
  const bold = isBoldThroughout({ pieces }, fonts)
  const words = beside && number.length > text.length ? next : segment
  return sectionKey(number, styleKey(words.size, bold, isSizedByTypewriter(words, fonts)), look)
}

/** Names a style in italics, in capitals, underlined or coloured. */
export const markedKey = (size: number, bold: boolean, look: Look): string =>
  `${styleKey(size, bold)} ${look}`

/** Longest heading of that kind, characters. */
const MAX_MARKED = 60
/** White space above such a heading and the most below it, and how far its text may be set in, in font sizes. */
const HEAD_ABOVE = 1.5
const HEAD_BELOW = 2.6
const HEAD_INDENT = 1.5

/** Whether the middles of two lines are one below the other: a heading that is centred over its text. */
const isCentred = (line: Segment, below: Segment): boolean =>
  line.x0 > below.x0 &&
  line.x1 < below.x1 &&
  Math.abs(line.x0 + line.x1 - below.x0 - below.x1) < 2 * HEAD_INDENT * line.size

/** True when a line of a look is set as a heading: by itself, nearer to the text below it than to the text above. */
const headsText = (
  segment: Segment,
  above: Segment | undefined,
  below: Segment | undefined,
  look: Look,
  fonts: ReadonlyArray<FontFace>
): boolean => {
  if (below === undefined) return false
  const next = lookOf(below.pieces, fonts, 0)
  if (next === look) return false
  // Another heading may follow, centred or not.
  const headed = next !== undefined || isBoldThroughout(below, fonts)
  const { baseline, size, x0 } = segment
  const white = above === undefined || above.baseline > baseline ? Infinity : baseline - above.baseline
  const step = below.baseline - baseline
  const text = segmentText(segment).trim()
  return (
    white > HEAD_ABOVE * size &&
    step > size &&
    step < Math.min(HEAD_BELOW * size, white * 1.05) &&
    (headed || Math.abs(below.x0 - x0) < HEAD_INDENT * size || isCentred(segment, below)) &&
    text.length <= MAX_MARKED &&
    (/^[\p{Lu}\p{Lo}"“„«]/u.test(text) || isNumbered(text)) &&
    !/[.,;:!?]$/.test(text)
  )
}

/** A number that is separated from the words behind it. */
const APART = /^(?:§ ?)?(?:\p{Lu}|[IVX]{1,5}|\d{1,3})(?:\.\d{1,3}){0,3}[.)]?$/u

const isNumberOf = (before: Segment | undefined, { baseline, size }: Segment): boolean =>
  before !== undefined &&
  Math.abs(before.baseline - baseline) < 0.12 * size &&
  APART.test(segmentText(before).trim())

const NUMBERS_AT_ENDS = [/^(\d+|[ivxlc]+)(?:\s|$)/i, /(?:^|\s)(\d+|[ivxlc]+)$/i]

const wordsKey = (text: string): string =>
  isNumberAlone(text)
    ? "#"
    : text
        .toLowerCase()
        .replaceAll(/\p{Nd}+/gu, "#")
        .replaceAll(/\s+/g, " ")
        .trim()
        .slice(0, MAX_KEY)

/** The rows of a page's head and foot that may be running, from the edge inwards. */
export const marginRows = ({
  page,
  rows
}: PageAnalysis): { readonly head: ReadonlyArray<Line>; readonly foot: ReadonlyArray<Line> } => {
  const partOf = ({ text }: Line): number => page.height * (isNumberAlone(text) ? NUMBER_MARGIN : MARGIN)
  const head = rows.slice(0, MARGIN_ROWS).filter((row) => row.baseline < partOf(row))
  const foot = rows
    .slice(Math.max(head.length, rows.length - MARGIN_ROWS))
    .filter((row) => row.baseline > page.height - partOf(row))
    .reverse()
  return { head, foot }
}

/** What a line in a margin is counted under: its words and place. */
export const marginKey = (line: Line, slot: number): string => `${slot} ${wordsKey(line.text)}`

/** Key of turned text in the margin, wherever it is. */
export const turnedKey = (runs: ReadonlyArray<TextRun>): string =>
  `~ ${wordsKey(runs.map(({ text }) => text).join(" "))}`

/**
 * A line with a number at an end is also counted under its place and the difference from the page's index: the same on
 * every page where it is the page number, whatever words are next to it. Entries of a table of contents are not.
 */
export const numberKeys = (line: Line, page: number, slot: number): ReadonlyArray<string> =>
  NUMBERS_AT_ENDS.flatMap((pattern) => {
    const found = pattern.exec(line.text)?.[1]
    const number = found === undefined ? undefined : /^\d/.test(found) ? Number(found) : romanValue(found)
    return number === undefined ? [] : [`${slot} @${number - page}`]
  })

/** White space between the halves of a running line, in font sizes, and the least letters of one that is counted by itself. */
const HALVES_APART = 2.5
const MIN_HALF = 8

/** Keys of the text on either side of a line's widest gap: a chapter's title next to that of each section. */
export const halfKeys = ({ segments, size }: Line, slot: number): ReadonlyArray<string> => {
  let [at, widest] = [0, HALVES_APART * size]
  for (const [before, white] of gapsIn(segments).entries())
    if (white > widest) [at, widest] = [before + 1, white]
  if (at === 0) return []
  return [segments.slice(0, at), segments.slice(at)].flatMap((half, side) => {
    const words = wordsKey(half.map(segmentText).join(" "))
    return words.replaceAll(/\P{L}/gu, "").length < MIN_HALF
      ? []
      : [`${slot} ${side === 0 ? "<" : ">"} ${words}`]
  })
}

/** A lone number (`12`, `– 12 –`, `Page 12 of 30`) is counted under its difference from the page's index. */
const loneNumberKeys = ({ text }: Line, page: number): ReadonlyArray<string> => {
  const [number] = isNumberAlone(text) ? (/\d+/.exec(text) ?? []) : []
  return number === undefined ? [] : [`@${Number(number) - page}`]
}

const slotOf = (line: Line): number => Math.round(line.baseline / SLOT)

/** The slot of a line and its neighbours: a line on the border falls to either side. */
export const slotsNear = (line: Line): ReadonlyArray<number> => {
  const slot = slotOf(line)
  return [slot - 1, slot, slot + 1]
}

/** Counts one page. */
export const countPage = (analysis: PageAnalysis): PageStatistics => {
  const styles: Record<string, { characters: number; lines: number; pages: number; first: number }> = {}
  const count = (key: string, characters: number) => {
    const style = (styles[key] ??= { characters: 0, lines: 0, pages: 1, first: analysis.page.index })
    style.characters += characters
    style.lines += 1
  }
  const sections: Record<string, number> = {}
  const marked: Record<string, { lines: number; heads: number }> = {}
  // Segments, not rows: a row of two columns mixes two styles.
  for (const [at, segment] of analysis.segments.entries()) {
    const { characters, pieces, size } = segment
    const typewriter = isSizedByTypewriter(segment, analysis.fonts)
    count(styleKey(size, false, typewriter), characters)
    const bold = isBoldThroughout(segment, analysis.fonts)
    if (bold) count(styleKey(size, true, typewriter), characters)
    const look = typewriter ? undefined : lookOf(pieces, analysis.fonts, 0)
    if (look !== undefined) {
      const before = analysis.segments[at - 1]
      const above = isNumberOf(before, segment) ? analysis.segments[at - 2] : before
      const counted = (marked[markedKey(size, bold, look)] ??= { lines: 0, heads: 0 })
      counted.lines += 1
      if (headsText(segment, above, analysis.segments[at + 1], look, analysis.fonts)) counted.heads += 1
    }
    const section = sectionKeyOf(segment, analysis.segments[at + 1], analysis.fonts)
    if (section !== undefined) sections[section] = (sections[section] ?? 0) + 1
  }
  const { head, foot } = marginRows(analysis)
  const margins: Record<string, number> = {}
  for (const line of [...head, ...foot]) {
    const slot = slotOf(line)
    margins[marginKey(line, slot)] = 1
    const { index } = analysis.page
    for (const key of [
      ...halfKeys(line, slot),
      ...numberKeys(line, index, slot),
      ...loneNumberKeys(line, index)
    ])
      margins[key] = 1
  }
  for (const { runs } of analysis.readable.turned) margins[turnedKey(runs)] = 1
  const { hyphens, page } = analysis
  return { indexes: [page.index], styles, sections, marked, margins, hyphens: hyphens.counts }
}

const addStyles = (a: StyleCount, b: StyleCount): StyleCount => ({
  characters: a.characters + b.characters,
  lines: a.lines + b.lines,
  pages: a.pages + b.pages,
  first: Math.min(a.first, b.first)
})

/** Adds up counts of different pages. Associative and commutative as long as there are at most 4,000 margins. */
export const mergeStatistics = (all: ReadonlyArray<PageStatistics>): PageStatistics => {
  const styles = new Map<string, StyleCount>()
  const sections = new Map<string, number>()
  const marked = new Map<string, { lines: number; heads: number }>()
  const margins = new Map<string, number>()
  const indexes: Array<number> = []
  for (const one of all) {
    for (const index of one.indexes) indexes.push(index)
    for (const [key, count] of Object.entries(one.styles)) {
      const known = styles.get(key)
      styles.set(key, known === undefined ? count : addStyles(known, count))
    }
    for (const [key, count] of Object.entries(one.sections)) countUp(sections, key, count)
    for (const [key, { heads, lines }] of Object.entries(one.marked)) {
      const known = marked.get(key)
      marked.set(key, { lines: (known?.lines ?? 0) + lines, heads: (known?.heads ?? 0) + heads })
    }
    for (const [key, count] of Object.entries(one.margins)) countUp(margins, key, count)
  }
  const kept =
    margins.size <= MAX_MARGINS ? margins : [...margins].sort(([, a], [, b]) => b - a).slice(0, MAX_MARGINS)
  return {
    indexes: indexes.sort((a, b) => a - b),
    styles: Object.fromEntries(styles),
    sections: Object.fromEntries(sections),
    marked: Object.fromEntries(marked),
    margins: Object.fromEntries(kept),
    hyphens: all.reduce((sum, one) => addHyphens(sum, one.hyphens), NO_HYPHENS)
  }
}

/** Least number of pages with the same difference between printed number and index. */
const NUMBERED_PAGES = 3

/**
 * By how much the page numbers in the margins are ahead of pages counted from 0, as most pages have it; undefined where there are
 * none, or where two counts are met as often.
 */
export const pageNumberLead = ({ indexes, margins }: PageStatistics): number | undefined => {
  if (indexes.length < NUMBERED_PAGES) return undefined
  const counts = new Map<number, number>()
  for (const [key, pages] of Object.entries(margins)) {
    const lead = /(?:^| )@(-?\d+)$/.exec(key)?.[1]
    if (lead !== undefined) countUp(counts, Number(lead), pages)
  }
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a)
  if (first === undefined || first[1] < NUMBERED_PAGES || first[1] === second?.[1]) return undefined
  return first[0]
}
