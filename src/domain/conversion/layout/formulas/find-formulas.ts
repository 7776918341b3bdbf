import { greatest, least } from "../../../lists.ts"
import type { HtmlElement } from "../../html/tree.ts"
import type { Box, FontFace } from "../../page-content.ts"
import type { Formula } from "../blocks/block.ts"
import type { Line } from "../lines/line.ts"
import { markerOf } from "../lines/markers.ts"
import { type Piece, type Segment, segmentText } from "../lines/segment.ts"
import { mathOf, stacked } from "./math-of.ts"
import {
  CONTINUES,
  EQUATION_NUMBER,
  isFunctionName,
  isMathFace,
  isMathSign,
  RELATES
} from "./mathematical.ts"
import { hull } from "./signs.ts"

/** What formulas are found by in a column. */
interface FormulaContext {
  readonly fonts: ReadonlyArray<FontFace>
  readonly bodySize: number
  /** Thin level lines of the page: bars of fractions and roots, among others. */
  readonly bars: ReadonlyArray<Box>
}

/** A display formula, in place of these lines. */
interface FoundFormula {
  readonly from: number
  readonly to: number
  readonly formula: Formula
}

/** Lines nearer than this, in font sizes, are halves of a fraction and the like: a text's lines stand further apart. */
const TIGHT = 0.98
/** A limit or a script of its own is smaller than this, in sizes of the text, */
const SMALL = 0.86
/** and stands at most so far from what it belongs to, in the same. */
const NEAR = 1.75
/** Longest limit, characters. */
const MAX_FRAGMENT = 48
/** A formula begins so far from the column's edge at least, in sizes of the text. */
const INDENT = 1.1
/** Steps up to this, in font sizes, are those within a paragraph. */
const WITHIN = 1.36
/** Words of a formula, without its functions; one with a number may have more of them. */
const MAX_WORDS = 3
const MAX_WORDS_NUMBERED = 7
/** Largest share of letters that stand in words. */
const MAX_WORDED = 0.62
/** White space as wide as between columns, in sizes of the text. */
const COLUMN_GAP = 2.4
/** A number stands so far from its formula at least, in sizes of the text. */
const NUMBER_GAP = 1
/** A tag ends so near to the column's edge, in sizes of the text. */
const AT_EDGE = 2.5
/** Lines that one formula takes up at most: a longer one is no formula. */
const MAX_LINES = 40
const MAX_SEGMENTS = 600

/** Lines that stand too near to each other for text, and the limits around them. */
interface Zone {
  from: number
  to: number
  readonly lines: Array<Line>
}

const WORD = /\p{L}{3,}/gu

/** What the pieces of a zone are. */
interface Census {
  readonly math: number
  readonly letters: number
  readonly words: number
  readonly worded: number
  readonly relates: boolean
}

const census = (pieces: ReadonlyArray<Piece>, fonts: ReadonlyArray<FontFace>): Census => {
  let math = 0
  let letters = 0
  let words = 0
  let worded = 0
  let relates = false
  for (const { run, text } of pieces) {
    const inMath = isMathFace(fonts[run.font])
    for (const character of text) {
      const isLetter = /\p{L}/u.test(character)
      if (isLetter) letters += 1
      if ((inMath && /[^\s.,•·]/.test(character)) || isMathSign(character)) math += 1
    }
    if (RELATES.test(text)) relates = true
    if (inMath) continue
    for (const [word] of text.matchAll(WORD))
      if (!isFunctionName(word)) {
        words += 1
        worded += word.length
      }
  }
  return { math, letters, words, worded, relates }
}

const piecesOf = (segments: ReadonlyArray<Segment>): ReadonlyArray<Piece> =>
  segments.flatMap(({ pieces }) => pieces)

/** Whether a line is a limit, a script or another small part of a formula. */
const isFragment = ({ segments, size, text }: Line, { bodySize, fonts }: FormulaContext): boolean =>
  size < SMALL * bodySize && text.length <= MAX_FRAGMENT && census(piecesOf(segments), fonts).words <= 1

/** Groups lines into zones; fragments go with the nearest line above or below. */
const zonesOf = (lines: ReadonlyArray<Line>, context: FormulaContext): ReadonlyArray<Zone> => {
  const zones: Array<Zone> = []
  let fragments: Array<number> = []
  const fits = (zone: Zone, fragment: Line): number => {
    if (zone.lines.length >= MAX_LINES) return Infinity
    const away = least(zone.lines.map(({ baseline }) => Math.abs(baseline - fragment.baseline)))
    const x0 = least(zone.lines.map((line) => line.x0)) - context.bodySize
    const x1 = greatest(zone.lines.map((line) => line.x1)) + context.bodySize
    return away < NEAR * context.bodySize && fragment.x0 > x0 && fragment.x1 < x1 ? away : Infinity
  }
  // The order of lines is never broken: those that belong above come first, those that belong below last.
  const place = (next: Zone | undefined) => {
    const before = zones.at(-1)
    const far = (zone: Zone | undefined, at: number): number => {
      const line = lines[at]
      return zone === undefined || line === undefined ? Infinity : fits(zone, line)
    }
    let start = 0
    for (; before !== undefined && start < fragments.length; start++) {
      const at = fragments[start] ?? 0
      const [up, line] = [far(before, at), lines[at]]
      if (line === undefined || up === Infinity || up > far(next, at)) break
      before.lines.push(line)
      before.to = at + 1
    }
    let end = fragments.length
    for (; next !== undefined && end > start; end--) {
      const at = fragments[end - 1] ?? 0
      const line = lines[at]
      if (line === undefined || far(next, at) === Infinity) break
      next.lines.unshift(line)
      next.from = at
    }
    for (const at of fragments.slice(start, end)) {
      const line = lines[at]
      if (line !== undefined) zones.push({ from: at, to: at + 1, lines: [line] })
    }
    fragments = []
  }
  for (const [at, line] of lines.entries()) {
    if (isFragment(line, context)) {
      fragments.push(at)
      continue
    }
    const last = zones.at(-1)
    const above = last?.lines.at(-1)
    const open = last !== undefined && above !== undefined && last.to + fragments.length === at
    const step = above === undefined ? Infinity : line.baseline - above.baseline
    if (open && step < TIGHT * Math.max(above.size, line.size) && last.lines.length < MAX_LINES) {
      for (const fragment of fragments) {
        const small = lines[fragment]
        if (small !== undefined) last.lines.push(small)
      }
      fragments = []
      last.lines.push(line)
      last.to = at + 1
      continue
    }
    const zone: Zone = { from: at, to: at + 1, lines: [line] }
    place(zone)
    zones.push(zone)
  }
  place(undefined)
  return zones
}

/** A zone's number, and what is left of it. */
interface Numbered {
  readonly label: string | undefined
  readonly body: ReadonlyArray<Segment>
}

const numberedOf = (zone: Zone, left: number, right: number, bodySize: number): Numbered => {
  const segments = zone.lines.flatMap((line) => line.segments)
  if (segments.length > MAX_SEGMENTS) return { label: undefined, body: [] }
  const isTag = (segment: Segment): boolean => {
    if (!EQUATION_NUMBER.test(segmentText(segment))) return false
    const others = segments.filter((other) => other !== segment)
    if (others.length === 0) return false
    const atRight = right - segment.x1 < AT_EDGE * bodySize
    const atLeft = segment.x0 - left < 0.5 * bodySize
    const gap = atRight
      ? segment.x0 - greatest(others.map(({ x1 }) => x1))
      : least(others.map(({ x0 }) => x0)) - segment.x1
    return (atRight || atLeft) && gap > NUMBER_GAP * bodySize
  }
  const tag = segments.find(isTag)
  return tag === undefined
    ? { label: undefined, body: segments }
    : { label: segmentText(tag).trim(), body: segments.filter((segment) => segment !== tag) }
}

/** How many gaps of a line are as wide as those between cells. */
const columnGaps = (line: Line, bodySize: number): number =>
  line.segments.filter((segment, at) => {
    const before = line.segments[at - 1]
    return before !== undefined && segment.x0 - before.x1 > COLUMN_GAP * bodySize
  }).length

/** The column that zones stand in. */
interface Column {
  readonly left: number
  readonly right: number
  readonly context: FormulaContext
}

/** Whether what stands in a zone, without its number, is a formula and set as one. */
const isFormula = (
  zone: Zone,
  { body, label }: Numbered,
  above: Zone | undefined,
  { context, left, right }: Column
): boolean => {
  const { bodySize, fonts } = context
  const [first] = zone.lines
  if (first === undefined || body.length === 0) return false
  // Halves of a fraction within a line are as small as scripts.
  if (greatest(body.map(({ size }) => size)) < SMALL * bodySize) return false
  const pieces = piecesOf(body)
  const { letters, math, relates, worded, words } = census(pieces, fonts)
  const box = hull(body)
  const hasBar = context.bars.some((bar) => within(bar, box, bodySize))
  if (math === 0 && !(hasBar && relates)) return false
  if (!relates && !hasBar) return false
  // Numbers alone are those of an axis or of a table.
  if (letters === 0 && label === undefined && !hasBar && !pieces.some(({ text }) => /[=<>≤≥]/u.test(text)))
    return false
  if (words > (label === undefined ? MAX_WORDS : MAX_WORDS_NUMBERED)) return false
  if (worded > MAX_WORDED * Math.max(1, letters)) return false
  if (zone.lines.some(({ monospace }) => monospace > 0.3)) return false
  if (label === undefined && markerOf(first.text)?.ordered === false) return false
  const brackets = pieces.some(({ text }) => /[\u239b-\u23b3()[\]{}]/u.test(text))
  if (label === undefined && zone.lines.some((line) => columnGaps(line, bodySize) > (brackets ? 3 : 1)))
    return false
  const indent = box.x0 - left
  const centred = Math.abs(box.x0 + box.x1 - left - right) < 0.06 * (right - left)
  if (
    indent < INDENT * bodySize &&
    label === undefined &&
    !(centred && box.x1 - box.x0 < 0.98 * (right - left))
  )
    return false
  return label !== undefined || !endsParagraph(zone, above, box, bodySize)
}

/** Whether a zone is the last line of the paragraph above it. */
const endsParagraph = (zone: Zone, above: Zone | undefined, box: Box, bodySize: number): boolean => {
  const last = above?.lines.at(-1)
  const [first] = zone.lines
  if (last === undefined || first === undefined || zone.lines.length > 1) return false
  return Math.abs(last.x0 - box.x0) < 0.5 * bodySize && first.baseline - last.baseline < WITHIN * first.size
}

const within = (bar: Box, box: Box, slack: number): boolean =>
  bar.x0 > box.x0 - slack && bar.x1 < box.x1 + slack && bar.y0 > box.y0 - slack && bar.y1 < box.y1 + slack

/** The left edge of a column's running text: of most of its long lines, by tenths of the text's size. */
const leftEdge = (lines: ReadonlyArray<Line>, right: number): number => {
  const all = least(lines.map(({ x0 }) => x0))
  const long = lines.filter(({ x0, x1 }) => x1 - x0 > 0.6 * (right - all))
  return long.length === 0 ? all : least(long.map(({ x0 }) => x0))
}

/** Whether there is mathematics on a line at all. */
const hasMath = ({ segments }: Line, fonts: ReadonlyArray<FontFace>): boolean =>
  segments.some(({ pieces }) =>
    pieces.some(({ run, text }) => isMathFace(fonts[run.font]) || isMathSign(text))
  )

/** Whether a line of a formula continues the one above: that has no number, and this begins with a relation or an operator. */
const goesOn = (above: Formula, math: HtmlElement | undefined, body: ReadonlyArray<Segment>): boolean => {
  if (above.label !== undefined || above.math === undefined || math === undefined) return false
  return [...body].sort((a, b) => a.x0 - b.x0).some((one, at) => at === 0 && CONTINUES.test(segmentText(one)))
}

/** Display formulas among the lines of a column, from top to bottom; linear in the lines but for the bars near them. */
export const formulasIn = (
  lines: ReadonlyArray<Line>,
  right: number,
  context: FormulaContext
): ReadonlyArray<FoundFormula> => {
  // Most pages have none: they are left at once.
  if (!lines.some((line) => hasMath(line, context.fonts))) return []
  const column: Column = { left: leftEdge(lines, right), right, context }
  const zones = zonesOf(lines, context)
  const found: Array<FoundFormula> = []
  for (const [at, zone] of zones.entries()) {
    const numbered = numberedOf(zone, column.left, right, context.bodySize)
    const only = zone.lines.length === 1 ? EQUATION_NUMBER.exec(zone.lines[0]?.text ?? "") : null
    const last = found.at(-1)
    if (only !== null && last !== undefined && last.to === zone.from && last.formula.label === undefined) {
      found[found.length - 1] = {
        ...last,
        to: zone.to,
        formula: { ...last.formula, label: only[0].trim() }
      }
      continue
    }
    if (!isFormula(zone, numbered, zones[at - 1], column)) continue
    const { body, label } = numbered
    const box = hull(body)
    const bars = context.bars.filter((bar) => within(bar, box, context.bodySize))
    const own = zone.lines.flatMap(({ segments }) => segments.filter((segment) => body.includes(segment)))
    const text = own.map(segmentText).join(" ")
    const math = mathOf(piecesOf(body), bars, context.fonts)
    if (last?.to === zone.from && goesOn(last.formula, math, body)) {
      found[found.length - 1] = {
        from: last.from,
        to: zone.to,
        formula: {
          ...last.formula,
          text: `${last.formula.text} ${text}`,
          label,
          math: stacked([last.formula.math, math])
        }
      }
      continue
    }
    found.push({
      from: zone.from,
      to: zone.to,
      formula: {
        kind: "formula",
        text,
        label,
        math,
        region: math === undefined ? grown(box, bars) : undefined
      }
    })
  }
  return found
}

/** Room around a picture of a formula, points. */
const MARGIN = 3

const grown = (box: Box, bars: ReadonlyArray<Box>): Box => {
  const { x0, x1, y0, y1 } = hull([box, ...bars])
  return { x0: x0 - MARGIN, y0: y0 - MARGIN, x1: x1 + MARGIN, y1: y1 + MARGIN }
}
