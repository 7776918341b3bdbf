import type { StructureElement } from "../../model/page-content.ts"
import { type Line, SAME_LINE } from "../lines/line.ts"
import { isStructure, linesUnder, type StructureNode, type TaggedInline } from "./tagged-content.ts"

/** Widest gap between two pieces of one sentence, in font sizes. */
const WORD_GAP = 1.2

/** Whether a line goes on in another: on the same baseline, right behind it. */
const goesOnIn = (line: Line | undefined, next: Line | undefined): boolean => {
  if (line === undefined || next === undefined) return false
  const size = Math.max(line.size, next.size)
  const gap = next.x0 - line.x1
  return Math.abs(line.baseline - next.baseline) <= SAME_LINE * size && gap <= WORD_GAP * size && gap >= -size
}

const isParagraph = (node: StructureNode | undefined): node is StructureElement =>
  node !== undefined && isStructure(node) && node.type === "P"

/**
 * Paragraphs that are tagged as two or more, with a link or another inline element between them on their line, are one: authors' programs
 * close a paragraph where a link begins.
 */
export const joinedInline = (
  nodes: ReadonlyArray<StructureNode>,
  inline: TaggedInline,
  isInline: (node: StructureNode) => boolean
): ReadonlyArray<StructureNode> => {
  if (!nodes.some((node) => isStructure(node) && isInline(node)) || !nodes.some(isParagraph)) return nodes
  const linesOf = (node: StructureNode) => linesUnder([node], inline)
  const joined: Array<StructureNode> = []
  /** The last one of them has an inline element at its end. */
  let isOpen = false
  for (const node of nodes) {
    const before = joined.at(-1)
    const isPiece = isStructure(node) && isInline(node)
    const isNext =
      isParagraph(before) &&
      (isPiece || (isOpen && isParagraph(node))) &&
      goesOnIn(linesOf(before).at(-1), linesOf(node)[0])
    if (!isNext) {
      joined.push(node)
      isOpen = false
      continue
    }
    const more = isPiece ? [node] : node.children
    joined[joined.length - 1] = { ...before, children: [...before.children, ...more] }
    isOpen = isPiece
  }
  return joined
}
