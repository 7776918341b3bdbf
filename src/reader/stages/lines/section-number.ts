import type { Line } from "./line.ts"
import { endsInPageNumber, romanValue } from "./markers.ts"

/** How a section's number is written: `II.`, `B.`, `2` or `2)`, `b)`, or in parts: `2.1`, `B.1`, `V.2.1`. */
type Scheme = "roman" | "upper" | "figure" | "lower" | "parts"

/** The number that a heading begins with. */
export interface SectionNumber {
  readonly scheme: Scheme
  /** Number of parts, for a number in parts; 1 for others. */
  readonly parts: number
  /** Characters up to the heading's words. */
  readonly length: number
}

const WORDS = String.raw`(?=[\p{L}\\“"'‘«(¿¡<\d])`
const PARTS = new RegExp(
  String.raw`^(?:§\s*)?((?:\d{1,2}|[A-Z]|[IVX]{2,6})(?:[.-]\d{1,2}){1,4})[.):]?\s+${WORDS}`,
  "u"
)
const FIGURE = new RegExp(String.raw`^(?:§\s*)?\d{1,2}[.):]?\s+(?!\d)${WORDS}`, "u")
const ROMAN = new RegExp(String.raw`^([IVX]{1,6})(?:[.):]\s+|\s+[–—-]\s+)${WORDS}`, "u")
const UPPER = new RegExp(String.raw`^[A-Z][.):]\s+${WORDS}`, "u")
const LOWER = new RegExp(String.raw`^[a-z][.)]\s+${WORDS}`, "u")

/** The section's number that a line begins with; undefined where it begins with words. */
export const sectionNumber = (text: string): SectionNumber | undefined => {
  const parts = PARTS.exec(text)
  if (parts !== null)
    return {
      scheme: "parts",
      parts: (parts[1] ?? "").split(/[.-]/).length,
      length: parts[0].length
    }
  const found = (pattern: RegExp, scheme: Scheme): SectionNumber | undefined => {
    const match = pattern.exec(text)
    return match === null ? undefined : { scheme, parts: 1, length: match[0].length }
  }
  const roman = ROMAN.exec(text)?.[1]
  if (roman !== undefined && romanValue(roman) !== undefined) return found(ROMAN, "roman")
  return found(FIGURE, "figure") ?? found(UPPER, "upper") ?? found(LOWER, "lower")
}

/** Names the kind of a number: `roman`, `figure`, of two parts `parts2`. */
export const kindOf = ({ parts, scheme }: SectionNumber): string => `${scheme}${parts > 1 ? parts : ""}`

/** The kind of the number that a text begins with. */
export const numberKind = (text: string): string | undefined => {
  const number = sectionNumber(text)
  return number === undefined ? undefined : kindOf(number)
}

/** How many parts numbers of a kind have; undefined of those that have none. */
export const partsOf = (kind: string | undefined): number | undefined =>
  kind?.startsWith("parts") === true ? Number(kind.slice("parts".length)) : undefined

/** The kind of what numbers with so many parts are a part of. */
export const kindAbove = (parts: number): string => (parts === 2 ? "figure" : `parts${parts - 1}`)

/** The level of a number in parts, by the nearest known level of a number that it is a part of. */
export const levelOfParts = (
  parts: number,
  levels: ReadonlyMap<string, number>,
  away = 0
): number | undefined => {
  if (parts < 1) return undefined
  const level = levels.get(kindAbove(parts + 1))
  return level === undefined ? levelOfParts(parts - 1, levels, away + 1) : level + away
}

/** Whether a text begins with a section's number. A small letter is a list's. */
export const isNumbered = (text: string): boolean => {
  const number = sectionNumber(text)
  return number !== undefined && number.scheme !== "lower"
}

/** What a line in a table of contents begins with and ends with, its page's number right behind its words. */
const ENTRY_NUMBER = /^(?:\d{1,2}|[A-Z]|[IVX]{1,6})(?:\.\d{1,2}){0,4}\.?\s+\p{L}/u
const ENTRY_PAGE = /\s\d{1,4}$/

/**
 * True when a line below the heading of a table of contents is an entry: it has a section's number, where there is no
 * gap before the page number.
 */
export const isListedEntry = (line: Line): boolean =>
  endsInPageNumber(line) || (ENTRY_NUMBER.test(line.text) && ENTRY_PAGE.test(line.text.trimEnd()))
