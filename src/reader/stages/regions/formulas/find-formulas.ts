import type { Formula } from "../../../model/block.ts"
import { hull, middleX, liesIn } from "../../../model/geometry.ts"
import { greatest, least } from "../../../model/lists.ts"
import type { Box, FontFace } from "../../../model/page-content.ts"
import { type Line, linesOf, ROW_STEP } from "../../lines/line.ts"
import { LEADER_LINE, markerOf } from "../../lines/markers.ts"
import { isTypewriter, type Piece, type Segment, piecesOf, gapsIn } from "../../lines/segment.ts"
import { beginsWithWord, census, type FormulaContext } from "./census.ts"
import { EQUATION_NUMBER, isFunctionName, isMathFace, isMathSign } from "./mathematical.ts"
import { numberedOf, withNumberApart } from "./numbers.ts"
import { AXIS } from "./signs.ts"
import { type FoundFormula, type Numbered, type Row, rowOf, systemsOf } from "./systems.ts"
import { areCells, SMALL, type Zone, zonesOf } from "./zones.ts"

/** Least indent of a formula from the column's edge, in sizes of the text. */
const INDENT = 0.9
/** Largest step between lines of a paragraph, in font sizes; the second for a line with small fractions. */
const WITHIN = 1.36
const WITHIN_HIGH = 1.6
/** Least step from a full line to a display, in font sizes: TeX leaves most of a size between. */
const DISPLAY = 2
/** Words of a formula, without its functions; one with a number may have more of them. */
const MAX_WORDS = 3
const MAX_WORDS_NUMBERED = 7
/** Largest share of letters within words. */
const MAX_WORDED = 0.62
/** Greatest difference between the left edges of lines at one edge, in sizes of the text. */
const EDGE = 0.5
/** White space as wide as between columns, in sizes of the text. */
const COLUMN_GAP = 2.4

/** How many gaps of a line are as wide as those between cells. */
const columnGaps = ({ segments }: Line, bodySize: number): number =>
  gapsIn(segments).filter((gap) => gap > COLUMN_GAP * bodySize).length

/** The column of a zone. */
interface Column {
  readonly left: number
  readonly right: number
  readonly context: FormulaContext
}

/** Whether a piece has its middle where a bar is, across: the line of an arrow is between pieces. */
const isAcross = (piece: Piece, bar: Box): boolean => middleX(piece) > bar.x0 && middleX(piece) < bar.x1

/** True when a piece is over or under a bar. */
const isAtBar = (piece: Piece, bar: Box): boolean => {
  const { baseline, size } = piece.run
  return isAcross(piece, bar) && Math.abs(baseline - AXIS * size - bar.y0) < size
}

/** True when pieces begin with a TeX command: an example, with its result behind it. */
const isExample = ([first]: ReadonlyArray<Piece>, fonts: ReadonlyArray<FontFace>): boolean =>
  first !== undefined && isTypewriter(fonts[first.run.font]) && /^\s*\\\p{L}/u.test(first.text)

const isMath = ({ run, text }: Piece, fonts: ReadonlyArray<FontFace>): boolean =>
  isMathFace(fonts[run.font]) || isMathSign(text)

/** True when a zone, without its number, consists of mathematics. */
const isMathematics = (
  pieces: ReadonlyArray<Piece>,
  bars: ReadonlyArray<Box>,
  isNumbered: boolean,
  { bodySize, fonts }: FormulaContext
): boolean => {
  const hasBar = bars.length > 0
  const compares = pieces.some(({ text }) => /[=<>≤≥≈≡∼]/u.test(text))
  // Most zones are lines of a text.
  if (!hasBar && !compares && !pieces.some((piece) => isMath(piece, fonts))) return false
  const { math, relates, variables } = census(pieces, fonts)
  const mayBeMath = math > 0 || (hasBar && relates) || (compares && variables > 0)
  if (!mayBeMath || !(relates || hasBar || isNumbered)) return false
  // Words at a brace or below an operator are small: they make no text.
  const { letters, worded, words } = census(
    pieces.filter(({ run }) => run.size > SMALL * bodySize),
    fonts
  )
  // Text faces have variables, too: italic letters, without words next to them.
  if (math === 0 && !hasBar && words > 0) return false
  // Numbers alone are those of an axis or of a table.
  if (letters === 0 && !isNumbered && !hasBar && !compares) return false
  // A fraction of words is a formula, too.
  if (hasBar && compares) {
    const loose = pieces.filter((piece) => !bars.some((bar) => isAtBar(piece, bar)))
    return census(loose, fonts).words <= MAX_WORDS
  }
  if (words > (isNumbered ? MAX_WORDS_NUMBERED : MAX_WORDS)) return false
  // One word with a bracket is the long name of a function.
  const isFunction = words === 1 && relates && pieces.some(({ text }) => text.includes("("))
  return isFunction || worded <= MAX_WORDED * Math.max(1, letters)
}

/** True when a zone, without its number, is a displayed formula. */
const isFormula = (
  zone: Zone,
  { body, number }: Numbered,
  around: readonly [Zone | undefined, Zone | undefined],
  column: Column
): boolean => {
  const { context, left, right } = column
  const { bodySize } = context
  // A script above it is small.
  const first = zone.lines.find(({ size }) => size > SMALL * bodySize) ?? zone.lines[0]
  if (first === undefined || body.length === 0) return false
  // Halves of a fraction within a line are as small as scripts.
  if (greatest(body.map(({ size }) => size)) < SMALL * bodySize) return false
  if (zone.lines.some(({ monospace }) => monospace > 0.3)) return false
  const pieces = piecesOf(body)
  if (isExample(pieces, context.fonts)) return false
  const box = hull(body)
  const bars = context.bars.filter(
    (bar) => liesIn(bar, box, bodySize) && pieces.some((piece) => isAcross(piece, bar))
  )
  if (!isMathematics(pieces, bars, number !== undefined, context)) return false
  if (number !== undefined) return true
  if (isItem(first) || isNote(first) || isEntry(first)) return false
  const brackets = pieces.some(({ text }) => /[\u239b-\u23b3()[\]{}]/u.test(text))
  if (zone.lines.some((line) => columnGaps(line, bodySize) > (brackets ? 3 : 1))) return false
  const centred =
    Math.abs(box.x0 + box.x1 - left - right) < 0.06 * (right - left) &&
    box.x1 - box.x0 < 0.98 * (right - left)
  if (box.x0 - left < INDENT * bodySize && !centred && !hasDisplayed(zone, bars, bodySize)) return false
  return !isOfParagraph(zone, around, bars.length === 0 ? WITHIN : WITHIN_HIGH, column)
}

/** True when a zone is a line with fractions of full size: within a text their halves are smaller. */
const hasDisplayed = ({ lines }: Zone, bars: ReadonlyArray<Box>, bodySize: number): boolean => {
  const width = ({ x0, x1 }: Line): number => x1 - x0
  const widest = greatest(lines.map(width))
  return (
    bars.length > 0 &&
    lines.every(({ size }) => size > SMALL * bodySize) &&
    [lines[0], lines.at(-1)].every((line) => line !== undefined && width(line) < widest)
  )
}

/** Whether a line begins with the mark of a list's item; a letter in brackets may be a variable, but before a word. */
const isItem = ({ text }: Line): boolean => {
  const marker = markerOf(text)
  if (marker === undefined) return false
  const [word = ""] = /^\p{L}*/u.exec(text.slice(marker.length)) ?? []
  return (
    !marker.ordered ||
    marker.style === "1" ||
    marker.dress === "." ||
    (word.length > 1 && !isFunctionName(word))
  )
}

/** Whether a line is an entry of contents, with dots up to its page's number. */
const isEntry = ({ text }: Line): boolean => LEADER_LINE.test(text) && /\d\s*$/.test(text)

/** Whether a line begins with the raised mark of a note, as one below a table does: `*p < .05`. */
const isNote = ({ segments }: Line): boolean => {
  const mark = segments[0]?.pieces[0]
  return mark?.raise === "sup" && /^\s*[*∗⋆†‡§]/u.test(mark.text)
}

/** The widest indent of a paragraph's first line, or of an item's words, in sizes of the text. */
const PARAGRAPH_INDENT = 4.5
/** Greatest distance of a full line from the column's edge, in font sizes. */
const FULL = 0.5

/**
 * True when a line continues in the next one: it ends where the column does, and they are no further apart than lines
 * of a text.
 */
const goesOn = (line: Line, next: Line, { context: { bodySize }, right }: Column): boolean => {
  const down = (next.baseline - line.baseline) / next.size
  const aside = Math.abs(next.x0 - line.x0) / bodySize
  const most = aside < EDGE ? WITHIN_HIGH : aside < PARAGRAPH_INDENT ? WITHIN : 0
  return Math.abs(right - line.x1) < FULL * bodySize && down < most
}

/** Places where a line's words begin, also behind the mark of a list's item. */
const starts = ({ segments, text, x0 }: Line): ReadonlyArray<number> =>
  markerOf(text) === undefined
    ? [x0]
    : [
        x0,
        ...piecesOf(segments)
          .slice(1, 3)
          .map((piece) => piece.x0)
      ]

/**
 * True when a zone is a line of the paragraph around it: one that continues below, or continues the line above; a last
 * line no further from the one above than a step; or one as wide as the line before it, nearer than a display is to a
 * full line.
 */
const isOfParagraph = (
  zone: Zone,
  [above, below]: readonly [Zone | undefined, Zone | undefined],
  step: number,
  column: Column
): boolean => {
  const { bodySize, fonts } = column.context
  const isLarge = ({ size }: Line): boolean => size > SMALL * bodySize
  const last = above?.lines.findLast(isLarge) ?? above?.lines.at(-1)
  const large = zone.lines.filter(isLarge)
  const [first, other] = large.length === 0 ? zone.lines : large
  if (first === undefined || other !== undefined) return false
  const next = below?.lines.find(isLarge)
  if (next !== undefined && next.x0 < first.x0 && beginsWithWord(next, fonts) && goesOn(first, next, column))
    return true
  if (last === undefined) return false
  if (goesOn(last, first, column)) return true
  const down = (first.baseline - last.baseline) / first.size
  const isNear = (x: number, y: number): boolean => Math.abs(x - y) < EDGE * bodySize
  return (
    (down < step && starts(last).some((x) => isNear(x, first.x0))) ||
    (down < DISPLAY && isNear(last.x0, first.x0) && isNear(last.x1, first.x1))
  )
}

/** True when a zone is a row of a table: the next row has cells below its cells, and no mathematics. */
const isRow = (zone: Zone, next: Zone | undefined, fonts: ReadonlyArray<FontFace>): boolean => {
  const [line, other] = [zone.lines[0], next?.lines[0]]
  if (line === undefined || other === undefined || zone.lines.length > 1 || next?.lines.length !== 1)
    return false
  const apart = Math.abs(other.baseline - line.baseline) > ROW_STEP * line.size
  return !apart && areCells(line, other) && !hasMath(other, fonts)
}

/** The left edge of a column's running text: of most of its long lines, by tenths of the text's size. */
const leftEdge = (lines: ReadonlyArray<Line>, right: number): number => {
  const all = least(lines.map(({ x0 }) => x0))
  const long = lines.filter(({ x0, x1 }) => x1 - x0 > 0.6 * (right - all))
  return long.length === 0 ? all : least(long.map(({ x0 }) => x0))
}

/** Whether there is mathematics on a line at all. */
const hasMath = ({ segments }: Line, fonts: ReadonlyArray<FontFace>): boolean =>
  segments.some(({ pieces }) => pieces.some((piece) => isMath(piece, fonts)))

/** Display formulas among the lines of a column, from top to bottom; linear in the lines but for the bars near them. */
export const formulasIn = (
  lines: ReadonlyArray<Line>,
  right: number,
  context: FormulaContext
): ReadonlyArray<FoundFormula> => {
  // Most pages have none: they are left at once.
  if (!lines.some((line) => hasMath(line, context.fonts))) return []
  const column: Column = { left: leftEdge(lines, right), right, context }
  const zones = zonesOf(
    lines.map((line) => withNumberApart(line, right, context.bodySize)),
    context
  )
  const rows: Array<Row> = []
  for (const [at, zone] of zones.entries()) {
    const [first] = zone.lines
    const last = rows.at(-1)
    const only = zone.lines.length === 1 ? EQUATION_NUMBER.exec(first?.text ?? "") : null
    if (first !== undefined && only !== null && last?.to === zone.from && last.number === undefined) {
      rows[rows.length - 1] = {
        ...last,
        to: zone.to,
        number: { label: only[0].trim(), baseline: first.baseline, leads: false }
      }
      continue
    }
    if ([zones[at - 1], zones[at + 1]].some((next) => isRow(zone, next, context.fonts))) continue
    const numbered = numberedOf(zone, column.left, right, context.bodySize)
    const above = last?.to === zone.from ? undefined : zones[at - 1]
    if (isFormula(zone, numbered, [above, zones[at + 1]], column)) rows.push(rowOf(zone, numbered, context))
  }
  return systemsOf(rows, context.bodySize)
}

/** The formulas that segments are which are known to be some, as in documents that say so. */
export const asFormulas = (
  segments: ReadonlyArray<Segment>,
  context: FormulaContext
): ReadonlyArray<Formula> => {
  const left = least(segments.map(({ x0 }) => x0))
  const right = greatest(segments.map(({ x1 }) => x1))
  const rows = zonesOf(linesOf(segments, context.fonts), context).map((zone) => {
    const { body, number } = numberedOf(zone, left, right, context.bodySize)
    // One of too many segments has no body.
    const all = body.length > 0 ? body : zone.lines.flatMap((line) => line.segments)
    return rowOf(zone, { body: all, number }, context)
  })
  return systemsOf(rows, context.bodySize).map(({ formula }) => formula)
}
