import { type Block, plain, type Span, type TextSpan } from "../../model/block.ts"
import { append, greatest, addTo } from "../../model/lists.ts"
import type { Drawing, StructureElement, TextRun } from "../../model/page-content.ts"
import { type InlineContext, spansOf } from "../lines/inline.ts"
import { type Line, linesOf, SAME_LINE } from "../lines/line.ts"
import { segmentsOf } from "../lines/segment.ts"
import type { Grid } from "../regions/tables/grid/grid-spans.ts"
import { evenEdges } from "../runs/run-edges.ts"
import { inDrawnOrder } from "./drawn-order.ts"

/** A child of a structure element. */
export type StructureNode = StructureElement["children"][number]

export const isStructure = (node: StructureNode): node is StructureElement => "type" in node

/** Elements within a line. */
export const INLINE: ReadonlySet<string> = new Set([
  "Span",
  "Quote",
  "Link",
  "Reference",
  "BibEntry",
  "Em",
  "Strong",
  "Sub",
  "Lbl",
  "LBody",
  "RB",
  "RT",
  "RP",
  "WT",
  "WP"
])

/** Deepest structure that is followed. */
export const MAX_DEPTH = 60

/** The runs of each marked-content id. */
type MarkedRuns = ReadonlyMap<number, ReadonlyArray<TextRun>>

/** Runs, or what is drawn, by marked-content id, in their order: that of the content stream. */
export const byMark = <A extends TextRun | Drawing>(
  items: ReadonlyArray<A>
): ReadonlyMap<number, ReadonlyArray<A>> => {
  const marked = new Map<number, Array<A>>()
  for (const item of items) if (item.mcid !== undefined) addTo(marked, item.mcid, item)
  return marked
}

/** The page's marked-content ids under some nodes, in the order of the structure. */
export const idsUnder = (nodes: ReadonlyArray<StructureNode>, depth = 0): ReadonlyArray<number> =>
  nodes.flatMap((node) =>
    isStructure(node) ? (depth < MAX_DEPTH ? idsUnder(node.children, depth + 1) : []) : [node.mcid]
  )

/** The marked-content ids under the outermost elements that are of a kind. */
export const idsIn = (
  nodes: ReadonlyArray<StructureNode>,
  is: (node: StructureElement) => boolean,
  depth = 0
): ReadonlyArray<number> =>
  depth > MAX_DEPTH
    ? []
    : nodes
        .filter(isStructure)
        .flatMap((node) => (is(node) ? idsUnder([node], depth) : idsIn(node.children, is, depth + 1)))

/** Lines in structure order: one that is higher than the last begins a column, not the text. */
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
      (Math.abs(segment.baseline - last.baseline) > SAME_LINE * Math.max(segment.size, last.size) ||
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
  /** Fields and pictures of the page that are still to be placed, by the marked content next to them. */
  readonly beside: Map<number, ReadonlyArray<Block>>
  /** The grids that the page's rules make. */
  readonly grids: () => ReadonlyArray<Grid>
  /** What lines are that are tagged as a formula. */
  readonly formulas: (lines: ReadonlyArray<Line>) => ReadonlyArray<Block>
  /** Fewest paragraphs in code, one below another, that are a listing. */
  readonly listingParagraphs: number
  /** The level of an untagged heading that is tagged as a paragraph. */
  readonly looksLike: (nodes: ReadonlyArray<StructureNode>) => number | undefined
  /** How many sections are around: a heading without a level has theirs. */
  readonly sections: number
  /** The blocks of an element's children; `of` where they make up that one element. */
  readonly blocks: (
    nodes: ReadonlyArray<StructureNode>,
    context: TaggedContext,
    depth: number,
    of?: StructureElement
  ) => ReadonlyArray<Block>
}

/** Other words in the place of some runs; below their first line they take none. */
const reworded = (first: TextRun, rest: ReadonlyArray<TextRun>, text: string): TextRun => {
  const beside = rest.filter(({ baseline }) => Math.abs(baseline - first.baseline) <= SAME_LINE * first.size)
  const x1 = greatest([first, ...beside].map(({ box }) => box.x1))
  const edges = evenEdges(text, first.box.x0, x1)
  return { ...first, text, edges, box: { ...first.box, x1 }, hyphenated: false }
}

/** Words under some nodes: runs, and words that have no place on the page. */
interface Words {
  readonly items: ReadonlyArray<TextRun | TextSpan>
  /** The languages that elements give their runs. */
  readonly languages: ReadonlyMap<TextRun, string>
}

/** The words under some nodes, in structure order. An element's `actualText` replaces the words under it. */
const wordsUnder = (nodes: ReadonlyArray<StructureNode>, marked: MarkedRuns): Words => {
  const items: Array<TextRun | TextSpan> = []
  const languages = new Map<TextRun, string>()
  const look = (node: StructureNode, around: string | undefined, depth: number): void => {
    if (!isStructure(node)) {
      const runs = marked.get(node.mcid) ?? []
      append(items, runs)
      if (around !== undefined) for (const run of runs) languages.set(run, around)
      return
    }
    if (depth >= MAX_DEPTH) return
    const { actualText, children } = node
    const lang = node.lang ?? around
    if (actualText === undefined) {
      for (const child of children) look(child, lang, depth + 1)
      return
    }
    const [first, ...rest] = idsUnder(children, depth + 1).flatMap((mcid) => marked.get(mcid) ?? [])
    if (first === undefined) {
      items.push({ ...plain(actualText), lang })
      return
    }
    const run = reworded(first, rest, actualText)
    items.push(run)
    if (lang !== undefined) languages.set(run, lang)
  }
  for (const node of nodes) look(node, undefined, 0)
  return { items, languages }
}

const isRun = (item: TextRun | TextSpan): item is TextRun => "box" in item

/** The lines under some nodes. */
export const linesUnder = (
  nodes: ReadonlyArray<StructureNode>,
  { context, marked }: TaggedInline
): ReadonlyArray<Line> => linesInOrder(inDrawnOrder(wordsUnder(nodes, marked).items.filter(isRun)), context)

/** The words of inline nodes, in the languages that they say. */
export const inlineSpans = (
  nodes: ReadonlyArray<StructureNode>,
  { context, marked }: TaggedInline,
  skip = 0
): ReadonlyArray<Span> => {
  const { items, languages } = wordsUnder(nodes, marked)
  const spans: Array<Span> = []
  let rest = skip
  let runs: Array<TextRun> = []
  const add = (more: ReadonlyArray<Span>) => {
    if (more.length === 0) return
    if (spans.length > 0) spans.push(plain(" "))
    append(spans, more)
    rest = 0
  }
  const close = () => {
    if (runs.length > 0)
      add(spansOf(linesInOrder(inDrawnOrder(runs), context), { ...context, languages }, rest))
    runs = []
  }
  for (const item of items) {
    if (isRun(item)) {
      runs.push(item)
      continue
    }
    close()
    add([item])
  }
  close()
  return spans
}
