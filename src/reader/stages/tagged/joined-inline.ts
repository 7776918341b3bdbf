import type { StructureElement } from "../../model/page-content.ts"
import { type Line, SAME_LINE } from "../lines/line.ts"
import { isRaised } from "../runs/raised-marks.ts"
import { isAllWords } from "./inline-elements.ts"
import { isStructure, linesUnder, type StructureNode, type TaggedInline } from "./tagged-content.ts"

/** Widest gap between two pieces of one sentence, in font sizes. */
const WORD_GAP = 1.2

/** Whether a line goes on in another: on the same baseline, right behind it. */
const goesOnIn = (line: Line | undefined, next: Line | undefined): boolean => {
  if (line === undefined || next === undefined) return false
  const size = Math.max(line.size, next.size)
  const gap = next.x0 - line.x1
  return (
    (isRaised(line, next) || Math.abs(line.baseline - next.baseline) <= SAME_LINE * size) &&
    gap <= WORD_GAP * size &&
    gap >= -size
  )
}

/** Fewest letters of a line that may be full: shorter ones are labels. */
const FULL = 30
/** Greatest step to the next line of a paragraph, in font sizes. */
const LINE_STEP = 1.7

/** Whether a full line is broken before another: no sentence ends between them, and nothing is set in. */
const isBrokenBefore = (line: Line | undefined, next: Line | undefined): boolean => {
  if (line === undefined || next === undefined || line.text.trimEnd().length < FULL) return false
  const step = next.baseline - line.baseline
  return (
    step > 0 &&
    step < LINE_STEP * line.size &&
    next.x0 < line.x0 + line.size &&
    !/[.!?:;]\s*$/u.test(line.text)
  )
}

/** Whether an element says nothing of the words in it, and has nothing but words. */
const isPlain = (node: StructureNode | undefined): node is StructureElement =>
  node !== undefined && isStructure(node) && node.type === "NonStruct" && isAllWords(node)

const isParagraph = (node: StructureNode | undefined): node is StructureElement =>
  node !== undefined && isStructure(node) && node.type === "P"

/**
 * Paragraphs that are tagged as two or more, with a link or another inline element between them on their line, are one: authors' programs
 * close a paragraph where a link begins. Elements that say nothing are one, too, where their words go on in one another: browsers tag
 * each stretch of words in an item or a cell so.
 */
export const joinedInline = (
  nodes: ReadonlyArray<StructureNode>,
  inline: TaggedInline,
  isInline: (node: StructureNode) => boolean
): ReadonlyArray<StructureNode> => {
  const hasPieces = nodes.some((node) => isStructure(node) && isInline(node)) && nodes.some(isParagraph)
  if (!hasPieces && !nodes.some((node) => isPlain(node) && !isInline(node))) return nodes
  const linesOf = (node: StructureNode) => linesUnder([node], inline)
  const joined: Array<StructureNode> = []
  /** The last one of them has an inline element at its end. */
  let isOpen = false
  /** The last one is made of plain elements. */
  let isMade = false
  for (const node of nodes) {
    const before = joined.at(-1)
    const isPiece = isStructure(node) && isInline(node)
    const isGoing =
      (isMade ? isParagraph(before) : isPlain(before) && !isInline(before)) &&
      isStructure(node) &&
      isAllWords(node) &&
      before !== undefined
    const [last, first] = isGoing ? [linesOf(before).at(-1), linesOf(node)[0]] : []
    if (isGoing && isStructure(before) && (goesOnIn(last, first) || isBrokenBefore(last, first))) {
      const children = isMade ? before.children : [before]
      joined[joined.length - 1] = { ...before, type: "P", children: [...children, node] }
      isMade = true
      continue
    }
    isMade = false
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
