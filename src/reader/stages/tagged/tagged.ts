import { type Block, NO_SEAM, type Paragraph, textOfSpans } from "../../model/block.ts"
import { append, greatest } from "../../model/lists.ts"
import type { StructureElement, TextRun } from "../../model/page-content.ts"
import { type FlowContext, flowBlocks } from "../blocks/flow.ts"
import { withNoteReferences, LOWER_PART } from "../blocks/footnotes.ts"
import { headingLevel } from "../blocks/heading-rules.ts"
import { isTooLong } from "../blocks/headings.ts"
import { codeOf } from "../blocks/listing.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { isBoldLine, isCode, type Line } from "../lines/line.ts"
import { captionStart, markerOf } from "../lines/markers.ts"
import { type Segment, lengthOf, piecesOf } from "../lines/segment.ts"
import { signedIn } from "../lines/signed-code.ts"
import { withCaptions } from "../page/captions.ts"
import type { PageContext } from "../page/page-context.ts"
import { inlineContextOf } from "../profile/inline-context.ts"
import { runningLines } from "../profile/running-lines.ts"
import { barsOf } from "../regions/formulas/bars.ts"
import { asFormulas } from "../regions/formulas/find-formulas.ts"
import { gridsOf } from "../regions/tables/ruled/ruled-table.ts"
import { letterBullets } from "../runs/bullets.ts"
import { inlineAmong } from "./inline-elements.ts"
import { joinedInline } from "./joined-inline.ts"
import { areSuspect } from "./suspects.ts"
import {
  idsUnder,
  inlineSpans,
  isStructure,
  linesUnder,
  byMark,
  MAX_DEPTH,
  type StructureNode,
  type TaggedContext,
  type TaggedInline
} from "./tagged-content.ts"
import { taggedDrawings } from "./tagged-drawings.ts"
import { fieldsByContent } from "./tagged-fields.ts"
import { taggedList, taggedTable } from "./tagged-parts.ts"
import { pictureOf, picturesBesideFigures } from "./tagged-pictures.ts"
import { headingsIn, isTitleAbove } from "./tagged-title.ts"

/** Share of the page's characters that its structure has to cover. */
const ACCOUNTED = 0.85

/** Elements that only group others. */
const GROUPS: ReadonlySet<string> = new Set([
  "Document",
  "DocumentFragment",
  "Part",
  "Div",
  "NonStruct",
  "Private",
  "Aside",
  "TOC",
  "Index",
  "StructTreeRoot",
  "Annot",
  "Form",
  "Warichu",
  "Ruby"
])
/** Bold means nothing in a heading. */
const inHeading = (inline: TaggedInline): TaggedInline => ({
  ...inline,
  context: { ...inline.context, ignoreBold: true }
})

const paragraphOf = (
  nodes: ReadonlyArray<StructureNode>,
  context: TaggedContext,
  from?: StructureElement
): ReadonlyArray<Block> => {
  const level = context.looksLike(nodes)
  const inline = level === undefined ? context.inline : inHeading(context.inline)
  const spans = inlineSpans(from?.actualText === undefined ? nodes : [from], inline)
  if (textOfSpans(spans).trim() === "") return []
  if (level !== undefined) return [{ kind: "heading", level, spans }]
  const last = linesUnder(nodes, context.inline).at(-1)
  const seam = { ...NO_SEAM, element: from?.id, hyphenated: last?.hyphenated ?? false }
  return [{ kind: "paragraph", spans, seam, lang: from?.lang }]
}

/** Fields and pictures next to the words of some nodes. */
const blocksBeside = (
  nodes: ReadonlyArray<StructureNode>,
  { beside }: TaggedContext
): ReadonlyArray<Block> => {
  if (beside.size === 0) return []
  return idsUnder(nodes).flatMap((mcid) => {
    const blocks = beside.get(mcid) ?? []
    beside.delete(mcid)
    return blocks
  })
}

/** The blocks of an element's children: inline ones in a row are a paragraph. */
const childBlocks = (
  given: ReadonlyArray<StructureNode>,
  context: TaggedContext,
  depth: number,
  of?: StructureElement
): ReadonlyArray<Block> => {
  const nodes = joinedInline(given, context.inline, inlineAmong(given, context.inline, of))
  const isInline = inlineAmong(nodes, context.inline, of)
  const blocks: Array<Block> = []
  const notes: Array<Block> = []
  let inline: Array<StructureNode> = []
  let listed: Array<StructureElement> = []
  let listing: Array<Line> = []
  const close = () => {
    if (listed.length >= Math.max(1, context.listingParagraphs)) blocks.push(codeOf(listing))
    else for (const node of listed) append(blocks, blocksOf(node, context, depth + 1))
    if (inline.length > 0) append(blocks, paragraphOf(inline, context, of))
    append(blocks, blocksBeside(inline, context))
    inline = []
    listed = []
    listing = []
  }
  const hasFormulas = nodes.some((node) => isStructure(node) && node.type === "Formula")
  const words = hasFormulas ? linesUnder(nodes.filter(isInline), context.inline) : []
  /** True when a formula is within a line of words. */
  const isInText = (node: StructureElement): boolean => {
    const [formula] = node.type === "Formula" ? linesUnder([node], context.inline) : []
    return (
      formula !== undefined &&
      words.some(({ baseline, size }) => Math.abs(baseline - formula.baseline) < 0.5 * size)
    )
  }
  const paragraphs = new Map(
    nodes.flatMap((node) =>
      isStructure(node) && node.type === "P" ? [[node, linesUnder([node], context.inline)] as const] : []
    )
  )
  const signed = signedIn([...paragraphs.values()])
  for (const node of nodes) {
    if (!isStructure(node) || isInline(node) || isInText(node)) {
      inline.push(node)
      continue
    }
    // The note is tagged at its mark: the paragraph continues behind it.
    if (of?.type === "P" && isNote(node)) {
      append(notes, blocksOf(node, context, depth + 1))
      continue
    }
    if (inline.length > 0) close()
    const lines = paragraphs.get(node) ?? []
    const isSaid = signed.has(lines)
    const isAll = lines.length > 0 && lines.every(isCode)
    const isListed = isSaid || (isAll && context.looksLike(node.children) === undefined)
    const own = isListed ? [] : blocksOf(node, context, depth + 1)
    const beside = blocksBeside([node], context)
    if (isListed) {
      listed.push(node)
      append(listing, lines)
    }
    // An empty paragraph is a blank line of a listing.
    if (own.length + beside.length === 0) continue
    close()
    append(blocks, own)
    append(blocks, beside)
  }
  close()
  return [...blocks, ...notes]
}

const isNote = ({ type }: StructureElement): boolean => type === "Note" || type === "FENote"

/** Context of a tagged paragraph among other groups: its tags say where it ends. */
const APART = { code: false, gap: 2, below: 2, announced: false }

const figureOf = (node: StructureElement, context: TaggedContext, depth: number): ReadonlyArray<Block> => {
  const drawn = [...new Set(idsUnder([node]))].flatMap((id) => context.drawn.get(id) ?? [])
  const captions = node.children.filter((child) => isStructure(child) && child.type === "Caption")
  const rest = node.children.filter((child) => !captions.includes(child))
  const words = childBlocks(rest, context, depth + 1)
  const figure: Block = {
    kind: "figure",
    ...pictureOf(drawn),
    alt: node.alt ?? node.actualText,
    labels: [],
    caption: inlineSpans(captions, context.inline)
  }
  const shown =
    figure.image !== undefined ||
    figure.region !== undefined ||
    figure.alt !== undefined ||
    figure.caption.length > 0
  return [...(shown ? [figure] : []), ...words]
}

const noteOf = (node: StructureElement, context: TaggedContext, depth: number): ReadonlyArray<Block> => {
  const blocks = childBlocks(node.children, context, depth)
  const [first, ...rest] = blocks
  if (first?.kind !== "paragraph") return blocks
  const mark = /^\s*\[?(\d{1,3}|[*†‡§¶]{1,3})\]?[.)]?\s*/.exec(textOfSpans(first.spans))
  if (mark === null) return blocks
  // The mark may be a separate element, before the note's paragraphs.
  if (mark[0] === textOfSpans(first.spans) && rest.length > 0)
    return [{ kind: "footnote", mark: mark[1] ?? "", blocks: rest }]
  const spans = inlineSpans(node.children, context.inline, mark[0].trimEnd().length)
  const body: Paragraph = { ...first, spans: rest.length === 0 ? spans : first.spans, seam: NO_SEAM }
  return [{ kind: "footnote", mark: mark[1] ?? "", blocks: [body, ...rest] }]
}

/** The blocks of one element. */
const blocksOf = (node: StructureElement, context: TaggedContext, depth: number): ReadonlyArray<Block> => {
  if (depth > MAX_DEPTH) return []
  const { children, type } = node
  const heading = /^H([1-6])?$/.exec(type)
  if (heading !== null || type === "Title") {
    const spans = inlineSpans([node], inHeading(context.inline))
    const level =
      type === "Title"
        ? 0
        : heading?.[1] === undefined
          ? 1 + Math.max(1, context.sections)
          : Number(heading[1])
    const text = textOfSpans(spans).trim()
    const isBold = linesUnder([node], context.inline).every(isBoldLine)
    // Authors leave a heading's style on the paragraphs behind it, and give it to captions.
    return text === "" || isTooLong(text, isBold) || captionStart(text)?.marked === true
      ? childBlocks(children, context, depth, node)
      : [{ kind: "heading", level, spans }]
  }
  switch (type) {
    case "Artifact":
      return []
    case "L":
      return taggedList(node, context, depth)
    case "Table":
      return taggedTable(node, context, depth)
    case "Figure":
      return figureOf(node, context, depth)
    case "Formula": {
      const text = node.actualText ?? node.alt
      const lines = linesUnder(children, context.inline)
      if (lines.length === 0 && idsUnder(children).some((id) => context.drawn.has(id)))
        return figureOf(node, context, depth)
      if (text === undefined) return context.formulas(lines)
      return text.trim() === ""
        ? []
        : [{ kind: "formula", text, label: undefined, math: undefined, region: undefined }]
    }
    case "Note":
    case "FENote":
      return noteOf(node, context, depth)
    case "BlockQuote":
      return [{ kind: "quote", blocks: childBlocks(children, context, depth) }]
    case "Code": {
      const lines = linesUnder(children, context.inline)
      return lines.length === 0 ? [] : [codeOf(lines)]
    }
    case "Sect":
    case "Art":
      return childBlocks(children, { ...context, sections: context.sections + 1 }, depth)
    default:
      return GROUPS.has(type)
        ? childBlocks(children, context, depth)
        : childBlocks(children, context, depth, node)
  }
}

/** The blocks of words that no tag accounts for. */
const untaggedText = (
  left: ReadonlyArray<Segment>,
  context: Pick<FlowContext, "bars" | "lowerPart" | "heading" | "inline">
): ReadonlyArray<Block> =>
  flowBlocks(left, greatest(left.map(({ x1 }) => x1)), {
    ...context,
    notes: new Set(),
    titled: false,
    contents: false
  })

/** The blocks of a page by its structure tree; undefined where that is empty, or covers too little. */
export const taggedBlocks = (analysis: PageAnalysis, page: PageContext): ReadonlyArray<Block> | undefined => {
  const { structure } = analysis.page
  const { main, turned } = analysis.readable
  if (structure.length === 0 || turned.length > 0 || analysis.readable.turn !== 0) return undefined
  if (areSuspect(analysis)) return undefined
  const running = new Set(
    [...runningLines(page.profile, analysis)].flatMap(({ segments }) =>
      piecesOf(segments).map(({ run }) => run)
    )
  )
  const runs = main.filter((run) => !running.has(run))
  const ids = new Set(idsUnder(structure))
  const isAccounted = ({ mcid }: TextRun): boolean => mcid !== undefined && ids.has(mcid)
  const accounted = runs.filter(isAccounted)
  if (accounted.length === 0 || lengthOf(accounted) < ACCOUNTED * lengthOf(runs)) return undefined
  const inlineContext = inlineContextOf(analysis, page.profile)
  const heading = {
    fonts: page.fonts,
    profile: page.profile,
    outline: page.outline,
    titles: page.outline.titles.get(analysis.page.index)
  }
  const fields = fieldsByContent(analysis)
  const drawings = taggedDrawings(analysis, accounted, page)
  const words = accounted.filter((run) => !fields.labels.has(run) && !drawings.words.has(run))
  const inline: TaggedInline = { context: inlineContext, marked: byMark(letterBullets(words)) }
  const loose = analysis.page.drawings.filter((drawing) => !drawings.drawn.has(drawing))
  const pictures = picturesBesideFigures({ ...analysis.page, drawings: loose })
  const bars = barsOf(analysis.page)
  const beside = new Map(fields.beside)
  for (const [mcid, blocks] of [...drawings.beside, ...pictures.beside])
    beside.set(mcid, [...(beside.get(mcid) ?? []), ...blocks])
  const headings = headingsIn(structure)
  const isTitle = isTitleAbove(analysis.page.index === 0 ? headings : [], inline)
  const context: TaggedContext = {
    inline,
    drawn: byMark(loose),
    blocks: childBlocks,
    sections: 0,
    beside,
    grids: gridsOf(analysis.page, analysis.segments),
    formulas: (lines) =>
      asFormulas(
        lines.flatMap(({ segments }) => segments),
        { fonts: page.fonts, bodySize: page.profile.bodySize, bars }
      ),
    listingParagraphs: page.profile.typewritten ? Infinity : 1,
    looksLike: (nodes) => {
      if (headings.length > 0) return isTitle(nodes) ? 0 : undefined
      const lines = linesUnder(nodes, inline)
      const [first] = lines
      // A document with tagged paragraphs but no tagged headings shows headings only by their size.
      if (first === undefined || first.size < 1.15 * page.profile.bodySize) return undefined
      return headingLevel({ ...APART, lines, marker: markerOf(first.text) }, heading)
    }
  }
  const blocks = childBlocks(structure, context, 0)
  const left = analysis.segments.filter(({ pieces }) =>
    pieces.every(({ run }) => !isAccounted(run) && !running.has(run) && !drawings.words.has(run))
  )
  const rest = untaggedText(left, {
    inline: inlineContext,
    heading,
    bars,
    lowerPart: LOWER_PART * analysis.page.height
  })
  return withNoteReferences(
    withCaptions([...blocks, ...beside.values(), ...fields.rest, ...pictures.rest, ...rest].flat())
  )
}
