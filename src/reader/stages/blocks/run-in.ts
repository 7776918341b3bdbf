import { append, greatest } from "../../model/lists.ts"
import type { FontFace } from "../../model/page-content.ts"
import { isLabel } from "../lines/heading-words.ts"
import { type Line, linesOf } from "../lines/line.ts"
import { CAPTION } from "../lines/markers.ts"
import type { Group } from "../lines/paragraphs.ts"
import { sectionNumber, numberKind, levelOfParts, partsOf } from "../lines/section-number.ts"
import { isBold, type Piece, type Segment, lengthOf } from "../lines/segment.ts"
import { type HeadingContext, namedLevel } from "./headings.ts"

/** A heading in the first line of its paragraph, and the paragraph without it. */
interface RunIn {
  readonly level: number
  readonly heading: ReadonlyArray<Line>
  readonly text: ReadonlyArray<Line>
}

/** What a heading in a line of text ends with. */
const END = /[.:](?:\s?[–—-])?$/u
/** Longest one, characters, and lines that it takes. */
const MAX_CHARACTERS = 110
const MAX_LINES = 2
/** Fewest characters of the text behind it. */
const MIN_TEXT = 12
/** Statements that are numbered as sections are. */
const STATEMENT =
  /^\S+\s+(?:theorem|lemma|propositi\p{L}+|corollar\p{L}+|definiti?\p{L}+|remark|example|proof|claim|satz|korollar|bemerkung|beispiel|beweis|théorème|lemme|corollaire|définition|remarque|exemple|teorema|lema|observaci\p{L}+|ejemplo|corolario|teorem|twierdzenie)\s*(?:[.:(–—\d]|$)/iu

const cut = (segment: Segment, pieces: ReadonlyArray<Piece>): ReadonlyArray<Segment> => {
  const [first, last] = [pieces[0], pieces.at(-1)]
  if (first === undefined || last === undefined) return []
  const hyphenated = segment.hyphenated && last === segment.pieces.at(-1)
  return [{ ...segment, pieces, x0: first.x0, x1: last.x1, characters: lengthOf(pieces), hyphenated }]
}

/** True when a piece differs from text: such words after a number are a heading. */
const isDistinct = ({ run }: Piece, fonts: ReadonlyArray<FontFace>): boolean =>
  isBold(fonts[run.font]) || fonts[run.font]?.italic === true

/** Parts the lines of a paragraph where its distinct first words end; a number before them may be set like the text. */
const parted = (lines: ReadonlyArray<Line>, fonts: ReadonlyArray<FontFace>) => {
  const [first] = lines
  if (first === undefined || first.rightToLeft) return undefined
  let left = sectionNumber(first.text)?.length ?? 0
  const heading: Array<Segment> = []
  for (const [at, line] of lines.slice(0, MAX_LINES).entries())
    for (const [place, segment] of line.segments.entries()) {
      const end = segment.pieces.findIndex((piece) => {
        const isLead = piece.text.trimEnd().length <= left || isDistinct(piece, fonts)
        left -= piece.text.length
        return !isLead
      })
      if (end < 0) {
        heading.push(segment)
        continue
      }
      append(heading, cut(segment, segment.pieces.slice(0, end)))
      const rest = [...cut(segment, segment.pieces.slice(end)), ...line.segments.slice(place + 1)]
      return {
        heading: linesOf(heading, fonts),
        text: [...linesOf(rest, fonts), ...lines.slice(at + 1)]
      }
    }
  return undefined
}

/** White space behind a heading without a number, in font sizes; spaces between words are smaller. */
const QUAD = 0.75
/** Step from the paragraph above, and tolerance of the left edge of its lines, in font sizes. */
const ABOVE = 1.7
const FLUSH = 0.3
/** Longest one without a number, characters. */
const MAX_PLAIN = 80

/** A heading without a number that is one line, and the first two lines of the text behind it. */
interface Lead {
  readonly own: Line
  readonly first: Line
  readonly second: Line
}

const leadOf = ({ heading, text }: Pick<RunIn, "heading" | "text">): Lead | undefined => {
  const [own, more] = heading
  const [first, second] = text
  return own === undefined || more !== undefined || first === undefined || second === undefined
    ? undefined
    : { own, first, second }
}

/** Whether words without a number may name a section. `named`: the same without what they end with. */
const mayNameSection = (words: string, named: string): boolean =>
  !isLabel(named) && !CAPTION.test(words) && !STATEMENT.test(`1 ${words}`)

/**
 * Whether bold words open a paragraph without a number, as a fourth level is set: apart from the text above, and by a quad from the
 * words behind. Terms of a list have their text indented.
 */
const isSpaced = ({ gap, lines: [line], marker }: Group, lead: Lead): boolean => {
  const { first, own, second } = lead
  return (
    line !== undefined &&
    gap > ABOVE &&
    marker === undefined &&
    own.bold > 0.95 &&
    own.text.length <= MAX_PLAIN &&
    /^[\p{Lu}\p{Lo}“"¿¡]/u.test(own.text) &&
    mayNameSection(own.text, own.text.trim().replace(/[:：]$/u, "")) &&
    first.x0 - own.x1 > QUAD * own.size &&
    Math.abs(second.x0 - line.x0) < FLUSH * line.size
  )
}

/** Longest run-in heading in italics, in characters, and its least distance from the text above, in line steps. */
const MAX_ITALIC = 60
const WHITE = 1.35
/** Italic words that announce what follows, and are no title: parts of proofs, and labels below a title. */
const SAID =
  /^(?:case|step|notation|solution|question|answer|problem|exercise|fact|conjecture|axiom|hypothesis|assumption|property|condition|claim|key ?words|abstract|received|e-?mail|source|note)\b/iu

/** Whether words that end in a full stop, or alike, may be a short title. */
const mayBeTitle = (words: string): boolean =>
  words.length <= MAX_ITALIC && !SAID.test(words) && mayNameSection(words, words.replace(/[.:]$/u, ""))

/** Whether a line is in italics, but for the number before them. */
const isItalic = ({ italic, text }: Line, skip = 0): boolean =>
  italic * text.length > 0.95 * (text.trimEnd().length - skip) - 1

/** True when a group has more white space above it than between its lines. */
const hasWhiteAbove = ({ gap }: Group, { first, own, second }: Lead): boolean =>
  gap * own.size > WHITE * (second.baseline - first.baseline)

/** Whether italic words open a paragraph as a lowest level is set: white above, a full stop behind, and all lines flush. */
const isItalicLead = (group: Group, lead: Lead, { step }: HeadingContext): boolean => {
  const { first, own, second } = lead
  const words = own.text.trim()
  // White space as large as above each paragraph has no meaning.
  const usual = step !== undefined && group.gap < step + 0.1
  const near = first.x0 - own.x1 < QUAD * own.size
  return (
    group.marker === undefined &&
    hasWhiteAbove(group, lead) &&
    !(usual && near) &&
    isItalic(own) &&
    own.bold < 0.5 &&
    END.test(words) &&
    /^\p{Lu}/u.test(words) &&
    mayBeTitle(words) &&
    Math.abs(second.x0 - own.x0) < FLUSH * own.size &&
    first.italic < 0.5
  )
}

/** True when bold words and a full stop open a paragraph with an indented first line: the fourth level of APA style. */
const isIndentedLead = (group: Group, lead: Lead): boolean => {
  const { own, second } = lead
  const words = own.text.trim()
  return (
    group.marker === undefined &&
    !hasWhiteAbove(group, lead) &&
    own.bold > 0.95 &&
    /^\p{Lu}.*\.$/u.test(words) &&
    mayBeTitle(words) &&
    own.x0 - second.x0 > 0.5 * own.size
  )
}

/**
 * The level of italic words behind a figure or a small letter, below sections in Roman figures and those with capital
 * letters. The first line is indented; in a list's item the lines are further right than the number.
 */
const letteredLevel = (
  { lines: [line, below] }: Group,
  kind: string | undefined,
  [only]: ReadonlyArray<Line>,
  { profile: { sections } }: HeadingContext
): number | undefined => {
  const upper = sections.numbered.get("upper")
  if (upper === undefined || !sections.numbered.has("roman") || (kind !== "figure" && kind !== "lower"))
    return undefined
  if (line === undefined || below === undefined || only === undefined) return undefined
  if (line.x0 - below.x0 < 0.5 * line.size) return undefined
  return isItalic(only, sectionNumber(only.text)?.length ?? 0)
    ? upper + (kind === "figure" ? 1 : 2)
    : undefined
}

/** The level below all sections that are numbered. */
const lowestLevel = ({ outline, profile }: HeadingContext): number => {
  const outlined = [...outline.kinds.values()].map((level) => level + 1)
  return 1 + Math.max(2, greatest([...profile.sections.numbered.values(), ...outlined]))
}

/**
 * The heading in a paragraph's first line: bold or italic words with a section's number in parts ("2.1. Titles. Each of them …"), or
 * named by the outline, that end like a sentence before plain text; or bold words with a quad behind them.
 */
export const runInHeading = (group: Group, context: HeadingContext): RunIn | undefined => {
  const start = group.lines[0]?.segments[0]?.pieces[0]
  if (start === undefined || context.profile.bodyBold) return undefined
  const number = numberKind(group.lines[0]?.text ?? "")
  const parts = context.outline.reach === "sections" ? undefined : partsOf(number)
  const distinct = isDistinct(start, context.fonts)
  const lettered =
    (number === "figure" || number === "lower") && context.profile.sections.numbered.has("roman")
  if (parts === undefined && !distinct && !lettered && (context.titles === undefined || number === undefined))
    return undefined
  const halves = parted(group.lines, context.fonts)
  if (halves === undefined) return undefined
  const [heading, text] = [halves.heading, halves.text].map((lines) =>
    lines.map((line) => line.text).join(" ")
  )
  if (heading === undefined || text === undefined) return undefined
  if (!/\p{L}/u.test(heading) || heading.length > MAX_CHARACTERS || text.length < MIN_TEXT) return undefined
  if (END.test(heading.trim())) {
    const named = namedLevel(heading, context)
    if (named !== undefined) return { level: named, ...halves }
    if (parts !== undefined && !STATEMENT.test(heading))
      return { level: levelOfParts(parts, context.profile.sections.numbered) ?? parts + 1, ...halves }
    const level = letteredLevel(group, number, halves.heading, context)
    if (level !== undefined) return { level, ...halves }
  }
  if (number !== undefined) return undefined
  const lead = leadOf(halves)
  if (lead === undefined) return undefined
  const opens = isSpaced(group, lead) || isItalicLead(group, lead, context) || isIndentedLead(group, lead)
  return opens ? { level: lowestLevel(context), ...halves } : undefined
}
