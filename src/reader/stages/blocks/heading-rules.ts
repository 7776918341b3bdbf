import type { Reason } from "../../model/explained.ts"
import { CAPTIONED, CHAPTER_LABEL, isBoxLabel, SECTION_NOTES, UNLISTED } from "../lines/heading-words.ts"
import { isBoldLine, type Line } from "../lines/line.ts"
import { CAPTION, endsInPageNumber } from "../lines/markers.ts"
import type { Group } from "../lines/paragraphs.ts"
import { isNumbered, numberKind } from "../lines/section-number.ts"
import { lengthOf, piecesOf } from "../lines/segment.ts"
import { REFERENCE } from "../profile/outline.ts"
import { areHeads, levelOf, textSizeOf } from "../profile/profile.ts"
import { styleKey } from "../profile/statistics.ts"
import {
  PROTOTYPE,
  MAX_LINES,
  MAX_BOLD,
  isTooLong,
  CLAUSE_END,
  ADDRESS,
  type HeadingContext,
  SMALL,
  standsAlone,
  isBoldHeading,
  hasCells,
  isBulleted,
  BETWEEN_DASHES,
  textOf,
  markedLevel,
  lookLevel,
  namedLevel,
  isBeyond,
  unnamedLevel,
  hasBoldWords,
  isLarger,
  isEquation,
  isTyped,
  DISPLAYED,
  numberedLevel
} from "./headings.ts"

/** A group that may be a heading, its features computed once. */
interface Candidate {
  readonly group: Group
  readonly context: HeadingContext
  readonly first: Line
  readonly text: string
  /** Bold throughout. */
  readonly bold: boolean
  /** Bold, with white space around it. */
  readonly alone: boolean
  /** Much larger than the text: a title even where it is code. */
  readonly displayed: boolean
  /** Larger than running text. */
  readonly larger: boolean
  /** Level that the document's outline gives these words. */
  readonly named: number | undefined
  /** Kind of the section's number. */
  readonly number: string | undefined
  /** Level of the style, corrected by the number; undefined where the style is the text's. */
  readonly looks: number | undefined
  readonly style: string
  /** Share of typewriter. */
  readonly typewritten: number
  /** True for a bullet, but not for the dash of a letter between dashes. */
  readonly bulleted: boolean
}

const candidateOf = (group: Group, first: Line, context: HeadingContext): Candidate => {
  const { profile } = context
  const bold = group.lines.every(isBoldLine)
  const text = textOf(group)
  const larger = isLarger(first, profile)
  const number = numberKind(text)
  const styled = levelOf(profile, first)
  const typed = group.lines.reduce((sum, line) => sum + line.monospace * line.text.length, 0)
  return {
    group,
    context,
    first,
    text,
    bold,
    alone: bold && !profile.typewritten && standsAlone(group),
    displayed: first.size > DISPLAYED * profile.bodySize || (profile.typewritten && larger),
    larger,
    named: namedLevel(text, context),
    number,
    looks: styled === undefined ? undefined : numberedLevel(profile, number, styled),
    style: styleKey(first.size, isBoldLine(first), first.typewriter),
    typewritten: typed / lengthOf(group.lines),
    bulleted: group.marker?.ordered === false && !BETWEEN_DASHES.test(text)
  }
}

/**
 * Running text and lists may repeat a title of the outline; a heading is separated by white space, or has a distinct
 * style.
 */
const isNamed = ({ group, looks, named }: Candidate): boolean =>
  named !== undefined &&
  (looks !== undefined || (group.lines.length <= 2 && group.gap > 1.3 && group.marker?.ordered !== false))

/** Whether a candidate of the text's size has the name of a section of a reference page, or the style of such sections. */
const isReference = ({ alone, context: { outline }, style, text }: Candidate): boolean =>
  alone && (REFERENCE.test(text.trim()) || outline.references.has(style))

/** A single letter, in scripts with longer words. */
const LONE_LETTER = /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]\p{M}*$/u
/** Most letters and digits of a variable with its index. */
const MAX_VARIABLE = 4

/** Whether a group is a letter alone, or one with an index: raised or lowered. */
const isVariable = ({ lines }: Group, text: string): boolean => {
  const bare = text.replaceAll(/\s+/gu, "")
  if (LONE_LETTER.test(bare)) return true
  if (bare.length > MAX_VARIABLE) return false
  const [base, ...scripts] = piecesOf(lines.flatMap(({ segments }) => segments))
  return (
    base !== undefined &&
    LONE_LETTER.test(base.text.trim()) &&
    scripts.length > 0 &&
    scripts.every(({ raise }) => raise !== undefined)
  )
}

/** Whether an outline may leave out a section like this one. */
const isUnlisted = (candidate: Candidate): boolean =>
  isReference(candidate) ||
  UNLISTED.test(candidate.text) ||
  isBeyond(candidate.number, candidate.context.outline)

/** True when a candidate is smaller than the text, and nothing else marks it as a heading. */
const isSmallPrint = (candidate: Candidate): boolean => {
  const { alone, context, first, group, style, text } = candidate
  const { profile } = context
  if (textSizeOf(profile, first) >= profile.bodySize * SMALL) return false
  if (isReference(candidate) || isNumbered(text) || markedLevel(group, context) !== undefined) return false
  return !(alone && areHeads(profile.statistics.styles[style]))
}

/** The level of a group in heading style: by the outline where the document has one. */
const styledLevel = ({ context, larger, looks = 1, number, style }: Candidate): number => {
  if (context.outline.reach === "none") return looks
  if (style === context.profile.title) return 1
  return (
    unnamedLevel(style, number, looks, context) ??
    Math.max(2, looks + (larger || number !== undefined ? 0 : 1))
  )
}

/** A reason for or against taking a group as a heading. */
interface HeadingRule {
  readonly id: string
  readonly why: string
  readonly when: (candidate: Candidate) => boolean
  /** The level of the heading; a rule without it rejects the candidate. */
  readonly level?: (candidate: Candidate) => number | undefined
}

/** An amount with its money, at the end of a line. */
const AMOUNT =
  /(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF|JPY|kr))\s?\d[\d.,\s]{0,20}$|\d[.,]\d{2}\s?(?:[€$£¥]|EUR|USD|GBP|CHF|kr)$/u

/** The rules for headings, in their order: the first that holds decides. */
export const HEADING_RULES: ReadonlyArray<HeadingRule> = [
  {
    id: "code",
    why: "a command is code, unless it stands alone, is named by the outline, or is displayed",
    when: ({ alone, bold, displayed, group, named }) =>
      group.code && !alone && !(named !== undefined && bold) && !displayed
  },
  { id: "no-letters", why: "numbers and signs name nothing", when: ({ text }) => !/\p{L}/u.test(text) },
  { id: "address", why: "an address names nothing", when: ({ text }) => ADDRESS.test(text) },
  { id: "clause", why: "no heading ends like a clause", when: ({ text }) => CLAUSE_END.test(text.trim()) },
  {
    id: "page-number",
    why: "a line that ends in a page number is an entry of a table of contents",
    when: ({ group }) => group.lines.some(endsInPageNumber)
  },
  {
    id: "outline",
    why: "the document's outline names it",
    when: isNamed,
    level: ({ named }) => named
  },
  {
    id: "variable",
    why: "a lone letter, with or without an index, is a variable; a script of words has words of one letter",
    when: ({ group, text }) => isVariable(group, text)
  },
  {
    id: "equation",
    why: "a formula without words is no heading",
    when: ({ context, group }) => isEquation(group, context)
  },
  {
    id: "look",
    why: "in the text's own style, only capitals, italics or another look can tell a heading",
    when: ({ looks }) => looks === undefined,
    level: ({ context, group, text }) => lookLevel(group, text, context)
  },
  {
    id: "caption",
    why: "the caption of a table, figure or example names that alone",
    when: ({ text }) => (CAPTION.test(text) && /\d/.test(text)) || CAPTIONED.test(text)
  },
  {
    id: "explained-command",
    why: "a command that is explained is typewritten and larger; a section named after one is bold, too",
    when: ({ alone, bold, displayed, group, number, typewritten }) =>
      typewritten > 0.5 &&
      !alone &&
      !(number !== undefined && bold) &&
      !displayed &&
      !group.lines.every(hasBoldWords)
  },
  {
    id: "explained-function",
    why: "a function that is explained has its parameters in brackets",
    when: ({ bold, context, group, text, typewritten }) =>
      PROTOTYPE.test(text) && !bold && isTyped(group, typewritten, context)
  },
  {
    id: "chapter-label",
    why: '"Chapter" alone is the label of the title below it',
    when: ({ text }) => CHAPTER_LABEL.test(text.trim())
  },
  {
    id: "box-label",
    why: '"Note" and the like name a box beside the text',
    when: ({ text }) => isBoxLabel(text) && !SECTION_NOTES.test(text.trim())
  },
  {
    id: "item",
    why: "a line with a bullet is an item of a list, unless it is larger and stands alone",
    when: ({ bulleted, group, larger }) => bulleted && !(larger && isBulleted(group))
  },
  {
    id: "sentence",
    why: "larger words that are long and end like a sentence are text",
    when: ({ first, larger, text }) => larger && isTooLong(text, isBoldLine(first))
  },
  {
    id: "larger",
    why: "set larger than the text",
    when: ({ larger }) => larger,
    level: styledLevel
  },
  {
    id: "not-in-outline",
    why: "an outline that names sections names all of them, but for some kinds",
    when: (candidate) => candidate.context.outline.reach === "sections" && !isUnlisted(candidate)
  },
  {
    id: "bold-text",
    why: "long bold words, or those that end like a clause, are text",
    when: ({ group, text }) => text.length > MAX_BOLD || group.lines.length > 2 || /[.,;]$/.test(text)
  },
  {
    id: "sum",
    why: "bold words that end in an amount of money are a sum",
    when: ({ text }) => AMOUNT.test(text.trim())
  },
  { id: "small-print", why: "bold words smaller than the text are labels", when: isSmallPrint },
  {
    id: "cells",
    why: "words with wide gaps are a row of cells",
    when: ({ group, text }) => hasCells(group, text)
  },
  {
    id: "set-like-text",
    why: "bold words that are labels, terms or spaced like a paragraph are text",
    when: ({ context, group, text }) => !isBoldHeading(group, text, context)
  },
  {
    id: "goes-on",
    why: "bold words that begin in lower case go on a sentence",
    when: ({ alone, text }) => !alone && !/^[\p{Lu}\p{N}\p{Lo}"'“‘„‚«‹(¿¡]/u.test(text)
  },
  { id: "bold", why: "bold, short and set apart", when: () => true, level: styledLevel }
]

/** A group that a rule takes for a heading. */
export interface FoundHeading {
  readonly level: number
  readonly reason: Reason
}

/** The features of a candidate that explain a heading. */
const evidenceOf = ({ alone, bold, first, larger, number, text }: Candidate, bodySize: number) => ({
  size: first.size,
  bodySize,
  larger,
  bold,
  alone,
  characters: text.length,
  ...(number !== undefined && { number })
})

/** Decides by the first rule that holds whether a group is a heading; undefined for running text. */
export const headingBy = (group: Group, context: HeadingContext): FoundHeading | undefined => {
  const [first] = group.lines
  // Long paragraphs are most of a document: their features are not worth computing.
  if (first === undefined || group.lines.length > MAX_LINES) return undefined
  const candidate = candidateOf(group, first, context)
  const rule = HEADING_RULES.find(({ when }) => when(candidate))
  const level = rule?.level?.(candidate)
  if (rule === undefined || level === undefined) return undefined
  const evidence = evidenceOf(candidate, context.profile.bodySize)
  return { level, reason: { stage: "blocks", rule: `heading:${rule.id}`, evidence } }
}

/** The level of a group that is a heading; undefined for running text. */
export const headingLevel = (group: Group, context: HeadingContext): number | undefined =>
  headingBy(group, context)?.level
