import type { StructureElement } from "../../model/page-content.ts"
import { INLINE, isStructure, linesUnder, type StructureNode, type TaggedInline } from "./tagged-content.ts"

/** Elements that say nothing of what is in them: among words they are words. */
const PLAIN: ReadonlySet<string> = new Set(["NonStruct", "Private", "Annot", "Ruby", "Warichu"])

/** Deeper elements are no words. */
const MAX_INLINE_DEPTH = 20

/** Whether an element has others than those of a line. */
const holdsBlocks = ({ children }: StructureElement): boolean =>
  children.some(
    (child) =>
      isStructure(child) && !INLINE.has(child.type) && child.type !== "NonStruct" && child.type !== "Artifact"
  )

/** Whether all of an element is words: elements of a line, those that say nothing, and paragraphs that a link or the like has in it. */
export const isAllWords = ({ children, type }: StructureElement, depth = 0): boolean =>
  depth < MAX_INLINE_DEPTH &&
  (INLINE.has(type) || PLAIN.has(type) || (type === "P" && depth > 0)) &&
  children.every((child) => !isStructure(child) || isAllWords(child, depth + 1))

/** Whether an element is one line, at the height of other words. */
const isCodeInLine = (
  node: StructureElement,
  nodes: ReadonlyArray<StructureNode>,
  inline: TaggedInline
): boolean => {
  const [line, ...more] = linesUnder([node], inline)
  if (line === undefined || more.length > 0) return false
  return linesUnder(
    nodes.filter((other) => other !== node && (!isStructure(other) || isAllWords(other))),
    inline
  ).some(({ baseline, size }) => Math.abs(baseline - line.baseline) < 0.5 * size)
}

/**
 * Which of an element's children are words of one text. In a paragraph, and among an element's direct words, those are
 * also elements that say nothing of what is in them: no link, no field's words and no language ends a paragraph.
 */
export const inlineAmong = (
  nodes: ReadonlyArray<StructureNode>,
  inline: TaggedInline,
  of?: StructureElement
): ((node: StructureNode) => boolean) => {
  const isText = of?.type === "P" || nodes.some((node) => !isStructure(node))
  return (node) => {
    if (!isStructure(node)) return true
    if (INLINE.has(node.type) && !holdsBlocks(node)) return true
    if (!isText) return false
    return node.type === "Code" ? isCodeInLine(node, nodes, inline) : isAllWords(node)
  }
}
