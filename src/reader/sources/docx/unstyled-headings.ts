import { least } from "../../model/lists.ts"
import {
  type Element,
  HEADING,
  hasPicture,
  isBlank,
  isNumbered,
  isTitle,
  runsOf,
  textOf
} from "./document-model.ts"
import type { Styles } from "./package/styles.ts"

/** Longest heading that is seen by its look, characters. */
const MAX_HEADING = 120
/** What ends a sentence, or leads to the next line. */
const SENTENCE_END = /[.,;:!?…]$/u
/** Share of the paragraphs above which none of those that look like headings is one. */
const MOST = 1 / 3
/** A heading begins with a word or a number. */
const BEGINS = /^[\p{L}\p{N}]/u
/** Ratio of sizes from which on a heading need not be bold. */
const LARGER = 1.3
const LEVELS = 3

interface Look {
  readonly size: number
  readonly isBold: boolean
}

const lookOf = (paragraph: Element, styles: Styles): Look => {
  const styleOf = ({ styleId }: Element) => (typeof styleId === "string" ? styles(styleId) : undefined)
  const own = styleOf(paragraph) ?? styles(undefined)
  const runs = runsOf(paragraph)
  return {
    size: least(runs.map((run) => run.fontSize ?? own.size)),
    isBold: runs.every((run) => run.isBold === true || (styleOf(run) ?? own).isBold)
  }
}

/** The size of most letters, points. */
const textSize = (looks: ReadonlyMap<Element, Look>): number => {
  const letters = new Map<number, number>()
  for (const [paragraph, { size }] of looks)
    letters.set(size, (letters.get(size) ?? 0) + textOf(paragraph).length)
  const [most] = [...letters].toSorted(([, a], [, b]) => b - a)
  return most?.[0] ?? 0
}

const isStyled = ({ styleId, styleName }: Element): boolean =>
  HEADING.test(styleId ?? "") || /^heading\b/i.test(styleName ?? "")

/**
 * The headings of a document that names none, as many people write them: short lines that are bold or larger than the text, with
 * text below. Their levels go by their sizes.
 */
export const unstyledHeadings = (
  blocks: ReadonlyArray<Element>,
  styles: Styles
): ReadonlyMap<Element, number> => {
  const paragraphs = blocks.filter((block) => block.type === "paragraph" && !isBlank(block))
  if (paragraphs.some(isStyled)) return new Map()
  const looks = new Map(paragraphs.map((paragraph) => [paragraph, lookOf(paragraph, styles)]))
  const size = textSize(looks)
  const last = blocks.findLast((block) => !isBlank(block))
  const found = [...looks].filter(([paragraph, look]) => {
    const text = textOf(paragraph).trim()
    if (paragraph === last || isTitle(paragraph) || text.length > MAX_HEADING || SENTENCE_END.test(text))
      return false
    if (isNumbered(paragraph) || hasPicture(paragraph) || !BEGINS.test(text)) return false
    return look.size > size * LARGER || (look.isBold && look.size >= size)
  })
  if (found.length > paragraphs.length * MOST) return new Map()
  const above = paragraphs.some(isTitle) ? 1 : 0
  const sizes = [...new Set(found.map(([, look]) => look.size))].toSorted((a, b) => b - a)
  return new Map(
    found.map(([paragraph, look]) => [paragraph, Math.min(LEVELS, sizes.indexOf(look.size) + 1) + above])
  )
}
