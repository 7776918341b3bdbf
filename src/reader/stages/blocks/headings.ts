import { greatest } from "../../model/lists.ts"
import type { FontFace } from "../../model/page-content.ts"
import { isExample, isLabel, lettersOf } from "../lines/heading-words.ts"
import { isBoldLine, type Line } from "../lines/line.ts"
import { CAPTION } from "../lines/markers.ts"
import type { Group } from "../lines/paragraphs.ts"
import { isNumbered, sectionNumber, numberKind, levelOfParts, partsOf } from "../lines/section-number.ts"
import {
  isSectionLook,
  lookOf,
  type Piece,
  segmentText,
  lengthOf,
  piecesOf,
  gapsIn
} from "../lines/segment.ts"
import { type Outline, REFERENCE, unnumbered } from "../profile/outline.ts"
import { type DocumentProfile, textSizeOf, LARGER } from "../profile/profile.ts"
import { markedKey, styleKey } from "../profile/statistics.ts"
import { census } from "../regions/formulas/census.ts"

/** Words of a function that is explained, larger than the text but not bold: its parameters in brackets, its types. */
export const PROTOTYPE = /[()[\]{}<>*;=…]|\. ?\. ?\.|\p{L}_\p{L}/u
/**
 * Least share of typewriter in such a line; and of slanted letters and typewriter together, in a line of about the
 * text's size.
 */
const TYPED = 0.2
const SLANTED = 0.5
export const HARDLY_LARGER = 1.15

/** Longest heading, characters and lines. */
const MAX_CHARACTERS = 220
export const MAX_LINES = 4
/** A bold line of the text's own size is a heading up to this length only. */
export const MAX_BOLD = 110

/** Larger words that end like a sentence are a heading up to these lengths: bold ones, and others. */
const LONG_BOLD = 120
const LONG_PLAIN = 60

/** Whether words are too long for a heading, or long and end like a sentence. */
export const isTooLong = (text: string, isBold: boolean): boolean =>
  text.length > MAX_CHARACTERS || (text.length > (isBold ? LONG_BOLD : LONG_PLAIN) && /[.;,]$/.test(text))

/** What Chinese and Japanese sentences end with, and their parts: no heading does. */
export const CLAUSE_END = /[。，、；]$/u

/** An address alone names nothing. */
export const ADDRESS = /^\s*(?:https?:\/\/|www\.)\S+\s*$/i

/** What headings are recognised by. */
export interface HeadingContext {
  readonly fonts: ReadonlyArray<FontFace>
  readonly profile: DocumentProfile
  /** Titles of the current page. */
  readonly titles: ReadonlyMap<string, number> | undefined
  readonly outline: Outline
  /**
   * Step from paragraph to paragraph in the current column, in font sizes, where white space separates them; see `paragraphStep`.
   */
  readonly step?: number | undefined
  /** Whether the group right above is a heading. */
  readonly headed?: boolean
}

/** Ratio of sizes below which bold lines are headings only with a section's number, or with white space around them. */
export const SMALL = 0.93

/** White space above and below a line that counts as separate, in font sizes. */
const ALONE = 1.6

/** True when a group has white space around it, and no sentence above announces it as an example. */
export const standsAlone = ({ announced, below, gap, lines }: Group): boolean =>
  gap > ALONE && below > ALONE && lines.length <= 2 && !announced

/** Least additional white space above a heading in the size of the text, compared with paragraphs, in font sizes. */
const APART = 0.27

/**
 * Whether a group is spaced like a paragraph. Where a document has headings of other sizes, too, bold words spaced so are a
 * paragraph.
 */
const isSetLikeText = ({ below, gap }: Group, { profile, step }: HeadingContext): boolean =>
  step !== undefined &&
  profile.ranked &&
  !profile.boldHeads &&
  Math.min(gap, below) < Infinity &&
  [gap, below].every((white) => white === Infinity || Math.abs(white - step) <= APART)

/** Greatest step to a line below that makes it a neighbouring cell, in font sizes. */
const BESIDE = 1.08
/** A heading of the text's own size is bold throughout, but for a mark. */
const ALL_BOLD = 0.85
/** Share of code in a line from which on its other words do not count. */
const MOSTLY_CODE = 0.8

/**
 * Whether bold words are a term that the words set in below them explain. Manual pages set their text in below headings, too: those are
 * in capitals, or of well-known names.
 */
const isTerm = ({ explained }: Group, text: string, { profile }: HeadingContext): boolean =>
  explained === true && profile.ranked && /\p{Ll}/u.test(text) && !REFERENCE.test(text.trim())

/** Whether a bold group of the text's own size is set like a heading, and its words may be one. */
export const isBoldHeading = (group: Group, text: string, context: HeadingContext): boolean => {
  if (isNumbered(text)) return true
  return (
    !isLabel(text) &&
    !isTerm(group, text, context) &&
    (!/[:：]$/u.test(text) || (standsAlone(group) && !context.profile.ranked)) &&
    group.gap > BESIDE &&
    group.below > BESIDE &&
    group.lines.every(({ bold }) => bold > ALL_BOLD) &&
    (markedLevel(group, context) !== undefined || !isSetLikeText(group, context))
  )
}

/** White space within a heading, in font sizes. Wider gaps are those between the cells of a table's head. */
const WORD_GAP = 0.85
/** White space that parts a running header's title from its chapter. */
const WIDE_GAP = 2.5

/** Whether a line looks like a row of cells; `from`: the segment from which on gaps count. */
const isInCells = ({ segments, size }: Line, from: number, most: number): boolean =>
  gapsIn(segments).some((gap, at) => at + 1 >= from && gap > most * size)

/**
 * Whether a group looks like a row of cells. A line with a section's number never does; lines above a last one may be justified.
 */
export const hasCells = ({ lines }: Group, text: string): boolean => {
  const [line, second] = lines
  return line !== undefined && second === undefined && !isNumbered(text) && isInCells(line, 1, WORD_GAP)
}

/** Whether a group could be a heading in a list's item: bold and alone, with a bullet that no other one follows. */
export const isBulleted = (group: Group): boolean =>
  group.marker?.ordered === false &&
  group.listed !== true &&
  standsAlone(group) &&
  group.lines.every(isBoldLine)

/** An index letter between dashes: the dash is not a bullet. */
export const BETWEEN_DASHES = /^([-–—]) .* \1$/

export const textOf = ({ lines }: Group): string => lines.map(({ text }) => text).join(" ")

/** White space above a heading that is set in the text's size and weight, in font sizes. */
const ABOVE = 1.25

const piecesIn = (lines: ReadonlyArray<Line>): ReadonlyArray<Piece> =>
  piecesOf(lines.flatMap(({ segments }) => segments))

/** The level of a group in a look that the document's headings are set in. What is numbered in italics or capitals has `sections`. */
export const markedLevel = (
  { lines, marker }: Group,
  { fonts, profile }: HeadingContext
): number | undefined => {
  const [first] = lines
  if (first === undefined || profile.marked.size === 0 || first.typewriter) return undefined
  const number = sectionNumber(first.text)
  if (marker !== undefined && number === undefined) return undefined
  const look = lookOf(piecesIn(lines), fonts, number?.length ?? 0)
  if (look === undefined || (number !== undefined && isSectionLook(look))) return undefined
  const level = profile.marked.get(markedKey(first.size, isBoldLine(first), look))
  return level === undefined || number === undefined
    ? level
    : numberedLevel(profile, numberKind(first.text), level)
}

/** The level of a group in italics or capitals that headings of the document are set in. */
export const lookLevel = (group: Group, text: string, context: HeadingContext): number | undefined => {
  const { fonts, outline, profile } = context
  const { gap, lines } = group
  const [first] = lines
  const { looks, numbered } = profile.sections
  const number = sectionNumber(text)
  // The first part of a section is right below the section's heading.
  const near = gap < ABOVE && !(context.headed === true && number !== undefined)
  if (first === undefined || near || lines.length > 2) return undefined
  if (text.length > MAX_BOLD || /[.,;:]$/.test(text) || CAPTION.test(text)) return undefined
  // A number may be separated from its words.
  const [lead] = first.segments
  const apart = number !== undefined && lead !== undefined && segmentText(lead).length < number.length
  if (lines.some((line, at) => isInCells(line, at === 0 && apart ? 2 : 1, WIDE_GAP))) return undefined
  if (outline.reach !== "sections" && group.below > BESIDE && !isExample(text) && !isLabel(text)) {
    const marked = markedLevel(group, context)
    if (marked !== undefined) return marked
  }
  if (looks.size === 0) return undefined
  const key = `${styleKey(first.size, false, first.typewriter)} ${lookOf(piecesIn(lines), fonts, number?.length ?? 0)}`
  const level = looks.get(key)
  if (level === undefined) return undefined
  if (number !== undefined)
    return outline.reach === "sections" ? undefined : numbered.get(numberKind(text) ?? "")
  // Headings without a number: "References". A list's item in capitals is not one.
  const alone = group.marker === undefined && group.below > BESIDE
  return key.endsWith("capitals") && alone ? level : undefined
}

/** The level that the outline gives a heading: below the document's title. */
export const namedLevel = (text: string, { titles }: HeadingContext): number | undefined => {
  const level = titles?.get(lettersOf(text)) ?? titles?.get(lettersOf(unnumbered(text)))
  return level === undefined ? undefined : level + 1
}

/** The level of a kind of number, by that of the nearest kind above or below it that the outline names. */
const kindLevel = (kind: string | undefined, { kinds }: Outline): number | undefined => {
  if (kind === undefined || kinds.size === 0) return undefined
  const [exact, parts] = [kinds.get(kind), partsOf(kind)]
  return exact ?? (parts === undefined ? undefined : levelOfParts(parts - 1, kinds, 1))
}

/** Whether a number has more parts than all that the outline names: it does not go that deep. */
export const isBeyond = (kind: string | undefined, outline: Outline): boolean =>
  partsOf(kind) !== undefined &&
  kindLevel(kind, outline) !== undefined &&
  ![...outline.kinds.keys()].some((named) => (partsOf(named) ?? 0) >= (partsOf(kind) ?? 0))

/** Level of a heading that the outline leaves out: that of headings that look like it, else below the larger ones. */
export const unnamedLevel = (
  key: string,
  kind: string | undefined,
  looks: number,
  { outline, profile }: HeadingContext
): number | undefined => {
  const level = kindLevel(kind, outline) ?? outline.styles.get(key)
  if (level !== undefined) return level + 1
  const above = [...outline.named].flatMap(([style, one]) =>
    (profile.levels.get(style) ?? looks) < looks ? [one + 2] : []
  )
  return above.length === 0 ? undefined : greatest(above)
}

/** True when a line has bold words next to its code: "Option `mathstyle`". */
export const hasBoldWords = ({ bold, monospace }: Line): boolean =>
  monospace < MOSTLY_CODE && bold >= ALL_BOLD * (1 - monospace)

/** Whether a line is larger than running text. Bold words of the size of prose are not, even where most of the document is smaller. */
export const isLarger = (line: Line, profile: DocumentProfile): boolean =>
  textSizeOf(profile, line) >= profile.bodySize * LARGER &&
  !profile.prose.has(styleKey(line.size, false, line.typewriter))

/** Whether a group is a formula without words: an item of a list, a line of a proof. */
export const isEquation = ({ lines }: Group, { fonts }: HeadingContext): boolean => {
  const { math, relates, variables, words } = census(piecesIn(lines), fonts)
  return math + variables > 0 && relates && words === 0
}

/**
 * True when a group looks like a function's name: partly in typewriter, or mostly slanted and of about the text's size.
 */
export const isTyped = (
  { lines }: Group,
  typewritten: number,
  { fonts, profile }: HeadingContext
): boolean => {
  if (typewritten > TYPED) return true
  const pieces = piecesIn(lines)
  const set = pieces.filter(
    ({ run }) => fonts[run.font]?.italic === true || fonts[run.font]?.monospace === true
  )
  return (
    lines.every(({ size }) => size < HARDLY_LARGER * profile.bodySize) &&
    lengthOf(set) > SLANTED * lengthOf(pieces)
  )
}

/** Code this much larger than the text is a title, not a command that is explained. */
export const DISPLAYED = 1.4

/**
 * The level of a heading by its number's kind. Numbers of one part may restart within a section: there a lower style
 * decides the level.
 */
export const numberedLevel = (
  { sections }: DocumentProfile,
  kind: string | undefined,
  styled: number
): number => {
  const level = sections.numbered.get(kind ?? "") ?? styled
  return partsOf(kind) === undefined ? Math.max(level, styled) : level
}
