import { type Block, textOfSpans } from "../../model/block.ts"
import type { Met } from "../../model/survey.ts"
/** What blocks are referred to by: `section 2.1`, `figure 3`, `equation 4`. */
import { CAPTION, isTableCaption } from "../lines/markers.ts"
import { sectionNumber } from "../lines/section-number.ts"

const CHAPTER =
  /^(?:chapter|appendix|section|kapitel|anhang|abschnitt|chapitre|annexe)\s(?<number>[\dA-Z][\d.]*|[IVX]+)/iu
/** Captions with a separate count that are neither figures nor tables. */
const OTHER_CAPTION = /^(?:listing|chart|exhibit)/iu

const bare = (number: string): string => number.replaceAll(/^[§\s([]{1,8}|[\s.:)\]–—-]{1,8}$/gu, "")

/** What a heading of these words is referred to by; undefined where it has no number. */
export const sectionNamed = (words: string): string | undefined => {
  const chapter = CHAPTER.exec(words)?.groups?.["number"]
  if (chapter !== undefined) return `section ${bare(chapter)}`
  const number = sectionNumber(words)
  return number === undefined || number.scheme === "lower"
    ? undefined
    : `section ${bare(words.slice(0, number.length))}`
}

/** What a block is referred to by; undefined where it has no number. */
export const referredBy = (block: Block): string | undefined => {
  if (block.kind === "formula") return block.label === undefined ? undefined : `equation ${bare(block.label)}`
  if (block.kind === "heading") return sectionNamed(textOfSpans(block.spans).trim())
  if (block.kind !== "figure" && block.kind !== "table") return undefined
  const caption = textOfSpans(block.caption).trim()
  const number = OTHER_CAPTION.test(caption) ? undefined : CAPTION.exec(caption)?.groups?.["number"]
  return number === undefined ? undefined : `${isTableCaption(caption) ? "table" : "figure"} ${number}`
}

/** True when two things of one name are the same, continued on the next page without a heading between. */
export const goesOn = (name: string, before: Met, { headings, page }: Met): boolean =>
  !name.startsWith("equation ") && page === before.page + 1 && headings === before.headings
