import { middleX } from "../../model/geometry.ts"
import { greatest, least } from "../../model/lists.ts"
import { beginsLabel } from "./label-lines.ts"
import { isBoldLine, isCode, type Line, wordsSize } from "./line.ts"
import { CAPTION, isSureBullet, LEADER_LINE, type Marker, markerOf } from "./markers.ts"
import { startsUnspaced } from "./script-direction.ts"
import { isListedEntry, isNumbered, sectionNumber } from "./section-number.ts"
import { gapsIn } from "./segment.ts"

/** Lines that belong together: a paragraph, a heading, a list item, lines of code. */
export interface Group {
  readonly lines: ReadonlyArray<Line>
  readonly marker: Marker | undefined
  /** All of its lines are monospaced. */
  readonly code: boolean
  /** White space above it, in font sizes of its first line; infinite at the top. */
  readonly gap: number
  /** White space below it, in font sizes; infinite at the bottom. */
  readonly below: number
  /** The line above it announces something: it ends in a colon. */
  readonly announced: boolean
  /** Words below it are set in from it, line by line: it is the term that they explain. */
  readonly explained?: boolean
  /** True when the group above or below begins with the same bullet at the same place. */
  readonly listed?: boolean
}

/** Ratio of sizes from which on two lines are not of one paragraph. */
const OTHER_SIZE = 1.09
/** White space above the usual line spacing that ends a paragraph, as a factor. */
const WIDER = 1.22
/** Default line spacing, for a text with too few lines, in font sizes. */
const USUAL_LEADING = 1.2
/** From this size on lines are titles, in sizes of running text; bold and numbered ones already from the smaller size on. */
const DISPLAY = 1.12
const BOLD_DISPLAY = 1.05
/** What a sentence ends with. */
export const SENTENCE_END = /[.!?:;]["'”’»)\]]*$/

const leadingOf = (lines: ReadonlyArray<Line>): number => {
  const all: Array<number> = []
  for (let at = 1; at < lines.length; at++) {
    const above = lines[at - 1]
    const line = lines[at]
    if (above === undefined || line === undefined) continue
    const size = Math.max(above.size, line.size)
    const leading = (line.baseline - above.baseline) / size
    if (leading > 0.7 && leading < 2.3 && Math.abs(above.size - line.size) < 0.05 * size) all.push(leading)
  }
  if (all.length < 3) return Math.min(1.35, all.length === 0 ? USUAL_LEADING + 0.15 : least(all))
  // A little below the middle: headings and short paragraphs pull it up, never down.
  return all.sort((a, b) => a - b)[Math.floor(all.length * 0.4)] ?? USUAL_LEADING
}

/** Signs of an unspaced script that stay together at a line's beginning, punctuation among them, in font sizes. */
const UNBROKEN = 2

/** Width of a line's first word, points; estimated from its share of the line. */
export const firstWordWidth = ({ size, text, x0, x1 }: Line): number => {
  if (startsUnspaced(text)) return Math.min(x1 - x0, UNBROKEN * size)
  const space = text.indexOf(" ")
  return space < 0 ? x1 - x0 : ((x1 - x0) * space) / Math.max(1, text.length)
}

/** Whether two lines are set as a title: larger than running text, or a little larger, and bold or numbered. */
const areDisplayed = (above: Line, line: Line, bodySize: number): boolean =>
  Math.min(above.size, line.size) >
  ((isBoldLine(above) && isBoldLine(line)) || isNumbered(above.text) ? BOLD_DISPLAY : DISPLAY) * bodySize

/** The context for grouping the lines of a column. */
interface Measures {
  /** Right edge of its lines, in points. */
  readonly right: number
  /** Size of running text, points. */
  readonly bodySize: number
  /** True for a table of contents: a page number ends an entry, with or without leaders. */
  readonly entries: boolean
}

/** How a line ends within a sentence, and how the next one begins. */
const IN_SENTENCE = /[\p{L},]$|[\p{L}\p{N}]@$/u
const GOES_ON = /^\p{Ll}[\p{L}\d]*(?:[\s,.;:)’'-]|$)/u
/** Fewest letters of a full line, and of one that was not ended on purpose though it is not. */
const FULL_LINE = 20
const LONG_LINE = 40
/** White space that no word is followed by, in font sizes. */
const CELL_GAP = 2
/** Steps within a sentence, in font sizes, and sizes, by their factor. */
const NEAREST_STEP = 0.8
const FURTHEST_STEP = 2.6
const SENTENCE_SIZES = 1.3

const hasWideGap = ({ segments, size }: Line): boolean =>
  gapsIn(segments).some((gap) => gap > CELL_GAP * size)

/**
 * True when a sentence continues on the next line, whatever the indents, faces and distance: the line above is full, or
 * long and in the style of the next, and neither ends nor begins a sentence. Lines of captions are short.
 */
const isOneSentence = (
  above: Line,
  line: Line,
  measures: Measures & { readonly leading: number }
): boolean => {
  if (!IN_SENTENCE.test(above.text) || !GOES_ON.test(line.text) || markerOf(line.text) !== undefined)
    return false
  const size = Math.max(above.size, line.size)
  const step = (line.baseline - above.baseline) / size
  const indent = (line.x0 - above.x0) / size
  if (step < NEAREST_STEP || step > FURTHEST_STEP || size > SENTENCE_SIZES * Math.min(above.size, line.size))
    return false
  if (indent < -6 || line.x0 > middleX(above) || hasWideGap(above) || hasWideGap(line)) return false
  if (measures.right - above.x1 < 1.5 * size && above.text.length >= FULL_LINE) return true
  const alike =
    isBoldLine(above) === isBoldLine(line) && isCode(above) === isCode(line) && size < 1.05 * line.size
  return (
    alike &&
    step < 1.1 * measures.leading &&
    Math.abs(indent + 1) < 1.7 &&
    (above.text.length >= LONG_LINE || CAPTION.test(above.text))
  )
}

/** Whether a line begins a heading below another one: both have numbers, in parts the second. */
const isNextHeading = (group: ReadonlyArray<Line>, line: Line): boolean =>
  isNumbered(group[0]?.text ?? "") && sectionNumber(line.text)?.scheme === "parts"

/** Part of a line that is in italics from which on it is as a whole; less than the rest of it is upright. */
export const ALL_ITALIC = 0.9

/** Whether lines that are numbered and in italics end where upright text begins: a heading that is set like its text otherwise. */
const endsItalicHeading = (group: ReadonlyArray<Line>, line: Line): boolean =>
  line.italic < 1 - ALL_ITALIC &&
  /^\p{Lu}/u.test(line.text) &&
  isNumbered(group[0]?.text ?? "") &&
  group.every(({ italic }) => italic > ALL_ITALIC)

/** The marker of an item at the beginning of a line. Code is left out: it has asterisks, dashes and numbers, too. */
const beginsItem = (line: Line): Marker | undefined => {
  const marker = markerOf(line.text)
  return isCode(line) && !(marker !== undefined && isSureBullet(marker)) ? undefined : marker
}

/** True when a line closes a bracket that the one above leaves open: "(Wolfram 2002, / p. 317)". It begins no item. */
const closesBracket = (above: Line, line: Line): boolean =>
  above.text.lastIndexOf("(") > above.text.lastIndexOf(")") && /^[^(]*\)/.test(line.text)

/** Whether two lines have one middle and begin at two places. */
export const areCentred = (above: Line, line: Line): boolean =>
  Math.abs(above.x0 + above.x1 - line.x0 - line.x1) < line.size && Math.abs(above.x0 - line.x0) > line.size

/** Room on a line for the first word of the next. */
const roomBefore = (line: Line, next: Line, right: number): number =>
  right - line.x1 - firstWordWidth(next) - 0.3 * next.size

/**
 * True when a line that is all code, or one below it, continues a sentence: it is below a full line that ends none, at
 * the usual distance.
 */
const isCodeInText = (
  above: Line,
  line: Line,
  next: Line | undefined,
  { leading, right }: Measures & { readonly leading: number }
): boolean =>
  !SENTENCE_END.test(above.text) &&
  beginsItem(line) === undefined &&
  (isCode(above) || above.text.length >= LONG_LINE) &&
  roomBefore(above, line, right) < 0 &&
  Math.abs(line.x0 - above.x0) < 0.3 * line.size &&
  line.baseline - above.baseline < 1.1 * leading * Math.max(above.size, line.size) &&
  // The lines of a listing are not full.
  (isCode(above) || next === undefined || !isCode(next) || roomBefore(line, next, right) < 0)

/**
 * True when an apparent marker is a word of an item's sentence, which continues below its full line: a person's
 * initial, a number.
 */
const isWordOfItem = (
  marker: Marker,
  first: Line,
  above: Line,
  line: Line,
  { marked, right }: Measures & { readonly marked: Marker | undefined }
): boolean =>
  marked !== undefined &&
  marker.ordered &&
  marker.number !== 1 &&
  line.x0 > first.x0 + 0.5 * line.size &&
  !SENTENCE_END.test(above.text) &&
  roomBefore(above, line, right) < 0

/** Whether a line begins something new after `above`, the last line of the paragraph `group`. */
const begins = (
  group: ReadonlyArray<Line>,
  above: Line,
  line: Line,
  next: Line | undefined,
  measures: Measures & { readonly leading: number; readonly marked: Marker | undefined }
): boolean => {
  if (isOneSentence(above, line, measures)) return false
  const sizes = [wordsSize(above), wordsSize(line)]
  const size = greatest(sizes)
  const step = line.baseline - above.baseline
  if (step <= 0 || step > measures.leading * size * WIDER + 0.5) return true
  if (size > OTHER_SIZE * least(sizes)) return true
  if (isCode(above) !== isCode(line))
    return (isCode(above) && group.every(isCode)) || !isCodeInText(above, line, next, measures)
  if (isCode(line)) return beginsItem(line) !== undefined
  if (isBoldLine(above) !== isBoldLine(line) && Math.abs(above.bold - line.bold) > 0.85) return true
  if (endsItalicHeading(group, line)) return true
  if (measures.entries ? isListedEntry(above) : LEADER_LINE.test(above.text)) return true
  // A long title continues below its beginning, behind its number; another number begins another entry.
  if (measures.entries && isNumbered(above.text)) {
    if (isNumbered(line.text)) return true
    if (line.x0 > above.x0 + size) return false
  }
  const first = group[0] ?? above
  // A raised figure begins a note, never a line within a text.
  if (line.segments[0]?.pieces[0]?.raise === "sup") return true
  const marker = markerOf(line.text)
  if (
    marker !== undefined &&
    !closesBracket(above, line) &&
    !isWordOfItem(marker, first, above, line, measures)
  ) {
    // A line of prose may begin with a dash or with "I."; an item is at the place of its list's markers, or further right.
    if (!marker.ordered || measures.marked !== undefined || SENTENCE_END.test(above.text)) {
      if (
        line.x0 <= first.x0 + 0.5 * size ||
        measures.marked !== undefined ||
        line.x0 > above.x0 + 0.5 * size
      )
        return true
    }
  }
  if (beginsLabel(above, line, roomBefore(above, line, measures.right))) return true
  const displayed = areDisplayed(above, line, measures.bodySize)
  if (displayed && isNextHeading(group, line)) return true
  if (areCentred(above, line)) return false
  if (above.hyphenated) return false
  const indent = line.x0 - above.x0
  // The second line of a heading is below the first one's words, behind its number or "Appendix A".
  if (displayed && group.length === 1 && indent > 0 && line.x0 < middleX(above)) return isNumbered(line.text)
  if (indent > 0.7 * size) {
    if (group.length > 1) return true
    // A hanging indent continues; a first line's does not.
    const hanging = next !== undefined && Math.abs(next.x0 - line.x0) < 0.4 * size
    if (measures.marked === undefined && (!hanging || SENTENCE_END.test(above.text))) return true
  }
  // An item may be set like a paragraph: only its first line is further right. A full line continues.
  const flush = indent > -4 * size && group.length === 1 && measures.right - above.x1 < 1.5 * size
  if (indent < 0 && measures.marked !== undefined && flush && !SENTENCE_END.test(above.text)) return false
  if (indent < -0.7 * size && (group.length > 1 || indent < -4 * size || measures.marked !== undefined))
    return true
  // Titles are broken at natural places.
  if (displayed) return false
  // There was room for the line's first word: the line above was ended on purpose.
  const room = roomBefore(above, line, measures.right)
  return room > 0.6 * size && (SENTENCE_END.test(above.text) || room > 0.12 * (measures.right - first.x0))
}

/** How far words are set in from the term that they explain, in font sizes; the step to them is that of a text's lines. */
const SET_IN = 1
const TERM_STEP = 1.4

/**
 * True when a line, with the one after it, explains the term above. The first line of a paragraph may be indented, too.
 */
const explains = (term: Line, line: Line, after: Line | undefined): boolean => {
  const { size } = term
  const near = line.baseline - term.baseline < TERM_STEP * size
  if (!near || line.x0 - term.x0 < SET_IN * size || isCode(line) || markerOf(line.text) !== undefined)
    return false
  return (
    after === undefined ||
    after.x0 > line.x0 - 0.5 * size ||
    after.baseline - line.baseline > TERM_STEP * size
  )
}

/** Greatest difference between the left edges of bullets of one list, in points. */
const SAME_PLACE = 2

const isListed = (group: Group, ...beside: ReadonlyArray<Group | undefined>): boolean =>
  group.marker?.ordered === false &&
  beside.some((other) => {
    const [a, b] = [group.lines[0], other?.lines[0]]
    return (
      a !== undefined &&
      b !== undefined &&
      other?.marker?.dress === group.marker?.dress &&
      Math.abs(a.x0 - b.x0) < SAME_PLACE
    )
  })

/** Whether a line is an empty one of a listing: nothing but its small number, below code. */
const isEmptyCode = ({ size, text }: Line, above: Line | undefined): boolean =>
  above !== undefined && isCode(above) && size < above.size && /^\d{1,5}$/.test(text.trim())

/** Groups the lines of one column. */
export const groupsOf = (column: ReadonlyArray<Line>, measures: Measures): ReadonlyArray<Group> => {
  const lines = column.map((line, at) =>
    isEmptyCode(line, column[at - 1]) ? { ...line, monospace: 1 } : line
  )
  const leading = leadingOf(lines)
  const groups: Array<Group> = []
  let open: Array<Line> = []
  let marker: Marker | undefined
  let gap = Infinity
  let announced = false
  const close = (next?: Line, after?: Line) => {
    const last = open.at(-1)
    const below =
      next === undefined || last === undefined ? Infinity : (next.baseline - last.baseline) / last.size
    const explained = next !== undefined && last !== undefined && explains(last, next, after)
    const code = marker === undefined && open.every(isCode)
    if (open.length > 0) groups.push({ lines: open, marker, code, gap, below, announced, explained })
    open = []
  }
  for (const [at, line] of lines.entries()) {
    const above = lines[at - 1]
    if (
      above === undefined ||
      begins(open, above, line, lines[at + 1], { ...measures, leading, marked: marker })
    ) {
      close(line, lines[at + 1])
      announced = above !== undefined && (above.text.endsWith(":") || above.text.endsWith("："))
      marker = beginsItem(line)
      gap = above === undefined ? Infinity : (line.baseline - above.baseline) / line.size
    }
    open.push(line)
  }
  close()
  return groups.map((group, at) =>
    isListed(group, groups[at - 1], groups[at + 1]) ? { ...group, listed: true } : group
  )
}

/** Whether the last line shows that the paragraph may continue elsewhere. */
export const isOpen = ({ lines }: Group, right: number): boolean => {
  const last = lines.at(-1)
  if (last === undefined) return false
  return last.hyphenated || (!SENTENCE_END.test(last.text) && right - last.x1 < 4 * last.size)
}
