import { append } from "../../../lists.ts"
import type { Drawing, StructureElement, TextRun } from "../../page-content.ts"
import { type Block, plain, type Span } from "../blocks/block.ts"
import { type InlineContext, spansOf } from "../lines/inline.ts"
import { type Line, linesOf } from "../lines/line.ts"
import { segmentsOf } from "../lines/segment.ts"

/** A child of a structure element. */
export type StructureNode = StructureElement["children"][number]

export const isStructure = (node: StructureNode): node is StructureElement => "type" in node

/** Deepest structure that is followed. */
export const MAX_DEPTH = 60

/** The runs of each marked-content id. */
type MarkedRuns = ReadonlyMap<number, ReadonlyArray<TextRun>>

/** Runs, or what is drawn, by marked-content id, in their order: that of the content stream. */
export const byMark = <A extends TextRun | Drawing>(
  items: ReadonlyArray<A>
): ReadonlyMap<number, ReadonlyArray<A>> => {
  const marked = new Map<number, Array<A>>()
  for (const item of items) {
    if (item.mcid === undefined) continue
    const same = marked.get(item.mcid)
    if (same === undefined) marked.set(item.mcid, [item])
    else same.push(item)
  }
  return marked
}

/** The page's marked-content ids under some nodes, in the order of the structure. */
export const idsUnder = (nodes: ReadonlyArray<StructureNode>, depth = 0): ReadonlyArray<number> =>
  nodes.flatMap((node) =>
    isStructure(node) ? (depth < MAX_DEPTH ? idsUnder(node.children, depth + 1) : []) : [node.mcid]
  )

/** Lines in the order of the structure: one that stands higher than the last begins a column, not the text. */
const linesInOrder = (runs: ReadonlyArray<TextRun>, context: InlineContext): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  let row: Array<ReturnType<typeof segmentsOf>[number]> = []
  const close = () => {
    if (row.length > 0) append(lines, linesOf(row, context.fonts))
    row = []
  }
  for (const segment of segmentsOf(runs)) {
    const last = row.at(-1)
    if (
      last !== undefined &&
      (Math.abs(segment.baseline - last.baseline) > 0.35 * Math.max(segment.size, last.size) ||
        segment.x0 < last.x0 - last.size)
    )
      close()
    row.push(segment)
  }
  close()
  return lines
}

/** The context for reading the words of structure elements. */
export interface TaggedInline {
  readonly context: InlineContext
  readonly marked: MarkedRuns
}

/** The context for reading structure elements. */
export interface TaggedContext {
  readonly inline: TaggedInline
  /** What is drawn, by marked-content id. */
  readonly drawn: ReadonlyMap<number, ReadonlyArray<Drawing>>
  /** The page's fields that are still to be placed, by the marked content that they stand beside. */
  readonly fields: Map<number, ReadonlyArray<Block>>
  /** The level of an untagged heading that is tagged as a paragraph. */
  readonly looksLike: (nodes: ReadonlyArray<StructureNode>) => number | undefined
  /** The blocks of an element's children; `of` where they make up that one element. */
  readonly blocks: (
    nodes: ReadonlyArray<StructureNode>,
    context: TaggedContext,
    depth: number,
    of?: StructureElement
  ) => ReadonlyArray<Block>
}

const inLanguage = (spans: ReadonlyArray<Span>, lang: string | undefined): ReadonlyArray<Span> =>
  lang === undefined
    ? spans
    : spans.map((span) =>
        span.kind === "text"
          ? { ...span, lang: span.lang ?? lang }
          : span.kind === "link"
            ? { ...span, spans: span.spans.map((one) => ({ ...one, lang: one.lang ?? lang })) }
            : span
      )

/** The lines under some nodes. */
export const linesUnder = (
  nodes: ReadonlyArray<StructureNode>,
  { context, marked }: TaggedInline
): ReadonlyArray<Line> =>
  linesInOrder(
    idsUnder(nodes).flatMap((mcid) => marked.get(mcid) ?? []),
    context
  )

/** Whether an inline element carries what its runs do not: a language, a text of its own. */
const speaks = (node: StructureNode, depth = 0): boolean =>
  isStructure(node) &&
  depth < MAX_DEPTH &&
  (node.lang !== undefined ||
    node.actualText !== undefined ||
    node.children.some((child) => speaks(child, depth + 1)))

/** The words of inline nodes; `actualText` replaces theirs. */
export const inlineSpans = (
  nodes: ReadonlyArray<StructureNode>,
  inline: TaggedInline,
  skip = 0,
  depth = 0
): ReadonlyArray<Span> => {
  if (depth > MAX_DEPTH) return []
  if (!nodes.some((node) => speaks(node))) return spansOf(linesUnder(nodes, inline), inline.context, skip)
  const spans: Array<Span> = []
  let rest = skip
  let same: Array<StructureNode> = []
  const add = (more: ReadonlyArray<Span>) => {
    if (spans.length > 0 && more.length > 0) spans.push(plain(" "))
    append(spans, more)
    if (more.length > 0) rest = 0
  }
  const close = () => {
    if (same.length > 0) add(spansOf(linesUnder(same, inline), inline.context, rest))
    same = []
  }
  for (const node of nodes) {
    if (!speaks(node) || !isStructure(node)) {
      same.push(node)
      continue
    }
    close()
    const own =
      node.actualText !== undefined
        ? [plain(node.actualText)]
        : inlineSpans(node.children, inline, rest, depth + 1)
    add(inLanguage(own, node.lang))
  }
  close()
  return spans
}
