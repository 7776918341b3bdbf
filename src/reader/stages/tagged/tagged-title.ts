import { greatest, least } from "../../model/lists.ts"
import type { StructureElement } from "../../model/page-content.ts"
import { isTooLong } from "../blocks/headings.ts"
import { isBoldLine } from "../lines/line.ts"
import {
  isStructure,
  linesUnder,
  MAX_DEPTH,
  type StructureNode,
  type TaggedInline
} from "./tagged-content.ts"

/** How much larger than any heading of its page a title is that is tagged as a paragraph. */
const LARGER = 1.15

const HEADING = /^(H[1-6]?|Title)$/

/** The headings among nodes, and among what these hold. */
export const headingsIn = (nodes: ReadonlyArray<StructureNode>, depth = 0): ReadonlyArray<StructureElement> =>
  depth >= MAX_DEPTH
    ? []
    : nodes
        .filter(isStructure)
        .flatMap((node) => (HEADING.test(node.type) ? [node] : headingsIn(node.children, depth + 1)))

/**
 * Whether a paragraph above these headings of the first page, larger than all of them, is the title of the document. Word processors have
 * a style for titles, and tag it as a paragraph.
 */
export const isTitleAbove =
  (headings: ReadonlyArray<StructureElement>, inline: TaggedInline) =>
  (nodes: ReadonlyArray<StructureNode>): boolean => {
    const [lines, named] = [linesUnder(nodes, inline), linesUnder(headings, inline)]
    if (lines.length === 0 || named.length === 0) return false
    const text = lines.map((line) => line.text).join(" ")
    return (
      least(lines.map(({ size }) => size)) >= LARGER * greatest(named.map(({ size }) => size)) &&
      greatest(lines.map(({ baseline }) => baseline)) < least(named.map(({ baseline }) => baseline)) &&
      !isTooLong(text, lines.every(isBoldLine))
    )
  }
