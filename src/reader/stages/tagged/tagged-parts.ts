import {
  asList,
  asParagraph,
  type Block,
  type ListItem,
  NO_SEAM,
  plain,
  type Span,
  textOfSpans
} from "../../model/block.ts"
import type { StructureElement } from "../../model/page-content.ts"
import { isBoldLine } from "../lines/line.ts"
import { markerOf } from "../lines/markers.ts"
import { isCaptionBlock } from "../page/captions.ts"
import { NUMERIC } from "../regions/tables/cells/table-cells.ts"
import { headOf, type Looks } from "../regions/tables/cells/table-head.ts"
import { rowsAsDrawn } from "./rows-as-drawn.ts"
import {
  inlineSpans,
  isStructure,
  linesUnder,
  type StructureNode,
  type TaggedContext
} from "./tagged-content.ts"
import { type PlacedCell, withDrawnSpans } from "./tagged-spans.ts"

const elements = ({ children }: StructureElement): ReadonlyArray<StructureElement> =>
  children.filter(isStructure)

const ORDERED: ReadonlyMap<string, "1" | "a" | "A" | "i" | "I"> = new Map([
  ["Decimal", "1"],
  ["LowerAlpha", "a"],
  ["UpperAlpha", "A"],
  ["LowerRoman", "i"],
  ["UpperRoman", "I"]
])

interface Item {
  readonly label: string
  /** The label's words, where it is more than a marker. */
  readonly term?: ReadonlyArray<Span>
  readonly item: ListItem
}

/** Whether a label is no bullet or number: a font may have letters in the place of bullets. */
const isTerm = (label: string): boolean => /\p{L}{2}/u.test(label) && markerOf(`${label} `) === undefined

/** Puts an item's term before its words, for a list in which other items have no terms. */
const withTerm = ({ blocks: [first, ...rest] }: ListItem, term: ReadonlyArray<Span>): ListItem =>
  first?.kind === "paragraph"
    ? { blocks: [{ ...first, spans: [...term, plain(" "), ...first.spans] }, ...rest] }
    : {
        blocks: [asParagraph({ spans: term }), ...(first === undefined ? rest : [first, ...rest])]
      }

/** What begins an item's words and is no word of them: its marker, or a sign that no other list is marked with. */
const markIn = (text: string): string => {
  const marker = markerOf(text)
  return marker === undefined ? (/^\p{So}\s+/u.exec(text)?.[0] ?? "") : text.slice(0, marker.skipped)
}

/** An item without a label element may have its marker in its words. */
const withoutMarker = (blocks: ReadonlyArray<Block>): Item => {
  const [first, ...rest] = blocks
  if (first?.kind !== "paragraph") return { label: "", item: { blocks } }
  const text = textOfSpans(first.spans)
  const label = markIn(text)
  const [span, ...others] = first.spans
  if (label === "" || label === text || span?.kind !== "text" || span.text.length < label.length)
    return { label: "", item: { blocks } }
  // A marker in another face is a separate stretch.
  const left = span.text.slice(label.length)
  const spans = left === "" ? others : [{ ...span, text: left }, ...others]
  return { label, item: { blocks: [{ ...first, spans }, ...rest] } }
}

/** In cells and items a paragraph in code is a word of theirs, and no listing. */
const inParts = (context: TaggedContext): TaggedContext => ({
  ...context,
  listingParagraphs: Math.max(2, context.listingParagraphs)
})

const itemOf = (node: StructureElement, context: TaggedContext, depth: number): Item => {
  const label = elements(node).find(({ type }) => type === "Lbl")
  const rest = node.children.filter((child) => child !== label)
  const isBody = (child: StructureNode): child is StructureElement =>
    isStructure(child) && child.type === "LBody"
  const blocks = rest.flatMap((child, at) => {
    if (isBody(child)) return context.blocks(child.children, inParts(context), depth + 1, child)
    const before = rest[at - 1]
    if (before !== undefined && !isBody(before)) return []
    const end = rest.findIndex((one, index) => index > at && isBody(one))
    return context.blocks(rest.slice(at, end === -1 ? undefined : end), inParts(context), depth + 1)
  })
  if (label === undefined) return withoutMarker(blocks)
  const words = linesUnder([label], context.inline)
    .map(({ text }) => text)
    .join(" ")
    .trim()
  return {
    label: words,
    item: { blocks },
    ...(isTerm(words) ? { term: inlineSpans([label], context.inline) } : {})
  }
}

/** The blocks of an item that is a heading, its number before its words. */
const withNumber = ({ blocks: [first, ...rest] }: ListItem, label: string): ReadonlyArray<Block> =>
  first?.kind === "heading" && /[\p{L}\p{N}]/u.test(label)
    ? [{ ...first, spans: [plain(`${label} `), ...first.spans] }, ...rest]
    : first === undefined
      ? rest
      : [first, ...rest]

/** An item for a list in which other items have no terms. */
const worded = ({ item, term }: Item): ListItem => (term === undefined ? item : withTerm(item, term))

/** The items of a list that are not empty. */
const itemsOf = (node: StructureElement, context: TaggedContext, depth: number): ReadonlyArray<Item> => {
  const items: Array<Item> = []
  for (const child of elements(node)) {
    if (child.type === "LI") items.push(itemOf(child, context, depth + 1))
    else if (child.type === "L") {
      // A nested list that is a child of the list instead of an item belongs to the item before it.
      const nested = taggedList(child, context, depth + 1)
      const last = items.pop()
      items.push(
        last === undefined
          ? { label: "", item: { blocks: nested } }
          : { ...last, item: { blocks: [...last.item.blocks, ...nested] } }
      )
    } else if (child.type !== "Caption")
      items.push({ label: "", item: { blocks: context.blocks([child], context, depth + 1) } })
  }
  return items.filter(({ item, label }) => item.blocks.length > 0 || label.trim() !== "")
}

/** A list of the structure tree. */
export const taggedList = (
  node: StructureElement,
  context: TaggedContext,
  depth: number
): ReadonlyArray<Block> => {
  const captions = elements(node).filter(({ type }) => type === "Caption")
  const filled = itemsOf(node, context, depth)
  const before = captions.flatMap((caption) => context.blocks(caption.children, context, depth + 1, caption))
  const [first, ...others] = filled
  if (first === undefined) return before
  // Word processors count captions as they count items.
  if (others.length === 0 && isCaptionBlock(worded(first).blocks[0]))
    return [...before, ...worded(first).blocks]
  // Headings, too, are not a list.
  if (filled.every(({ item }) => item.blocks[0]?.kind === "heading"))
    return [...before, ...filled.flatMap(({ item, label }) => withNumber(item, label))]
  if (filled.every(({ item, term }) => term !== undefined && item.blocks.length > 0))
    return [
      ...before,
      asList(
        filled.map(({ item, term }) => ({ ...item, term })),
        { seam: { ...NO_SEAM, element: node.id } }
      )
    ]
  const numbering = ORDERED.get(String(node.attributes["ListNumbering"] ?? ""))
  const marker = markerOf(`${first.label.trim()} `)
  const style = numbering ?? (marker?.ordered === true ? marker.style : undefined)
  const number = marker?.ordered === true ? marker.number : undefined
  return [
    ...before,
    {
      kind: "list",
      ordered: style !== undefined,
      start: style !== undefined && number !== undefined && number !== 1 ? number : undefined,
      style: style === "1" ? undefined : style,
      items: filled.map(worded),
      seam: { ...NO_SEAM, element: node.id }
    }
  ]
}

const MAX_SPAN = 1000
const spanOf = (value: string | number | undefined): number => {
  const span = Math.floor(Number(value ?? 1))
  return span >= 1 && span <= MAX_SPAN ? span : 1
}

interface Row {
  readonly cells: ReadonlyArray<StructureElement>
  readonly head: boolean
}

const rowsOf = (node: StructureElement, head: boolean, depth = 0): ReadonlyArray<Row> =>
  elements(node).flatMap((child): ReadonlyArray<Row> => {
    if (child.type === "TR")
      return [{ cells: elements(child).filter(({ type }) => type === "TH" || type === "TD"), head }]
    if (child.type === "Caption" || depth > 8) return []
    return rowsOf(child, child.type === "THead", depth + 1)
  })

const looksOf = (cell: StructureElement, { inline }: TaggedContext): Looks => {
  const lines = linesUnder(cell.children, inline)
  const text = lines.map((line) => line.text).join(" ")
  return { lines, text, bold: lines.length > 0 && lines.every(isBoldLine), numeric: NUMERIC.test(text) }
}

const spansOf = ({ attributes }: StructureElement) => ({
  colSpan: spanOf(attributes["ColSpan"]),
  rowSpan: spanOf(attributes["RowSpan"])
})

/** How many rows look like names of columns. */
const headRowsByLook = (rows: ReadonlyArray<Row>, context: TaggedContext): number =>
  headOf(
    rows.map(({ cells }) => cells.map(spansOf)),
    rows.map(({ cells }) => cells.map((cell) => looksOf(cell, context)))
  )

/** A table of the structure tree. */
export const taggedTable = (
  node: StructureElement,
  context: TaggedContext,
  depth: number
): ReadonlyArray<Block> => {
  const rows = rowsOf(node, false).filter(({ cells }) => cells.length > 0)
  if (rows.length === 0) return context.blocks(node.children, context, depth + 1)
  const caption = inlineSpans(
    elements(node).filter(({ type }) => type === "Caption"),
    context.inline
  )
  const isHead = ({ cells, head }: Row): boolean =>
    head ||
    (cells.some(({ type }) => type === "TH") &&
      cells.every(
        ({ attributes, children, type }) =>
          children.length === 0 || (type === "TH" && attributes["Scope"] !== "Row")
      ))
  const firstBody = rows.findIndex((row) => !isHead(row))
  // Where every cell is a header, only the first row is; where none is, the look decides: many programs tag no headers.
  const isBare = rows.every(({ cells }) => cells.every(({ type }) => type === "TD"))
  const headRows =
    firstBody === -1
      ? Math.min(1, rows.length - 1)
      : firstBody === 0 && isBare
        ? headRowsByLook(rows, context)
        : firstBody
  const cells = rows.map((row, at) =>
    row.cells.map((cell): PlacedCell => {
      const th = cell.type === "TH" || at < headRows
      const inline = {
        ...context.inline,
        context: { ...context.inline.context, ignoreBold: context.inline.context.ignoreBold || th }
      }
      return {
        cell: {
          blocks: context.blocks(
            cell.children,
            { ...inParts(context), inline, looksLike: () => undefined },
            depth + 1
          ),
          header: at < headRows ? "column" : cell.type === "TH" ? "row" : undefined,
          ...spansOf(cell)
        },
        lines: linesUnder(cell.children, context.inline)
      }
    })
  )
  return [
    {
      kind: "table",
      caption,
      ...withDrawnSpans(rowsAsDrawn(cells), headRows, context.grids),
      seam: { ...NO_SEAM, element: node.id }
    }
  ]
}
