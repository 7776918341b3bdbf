import {
  type Block,
  BREAK,
  type Code,
  NO_SEAM,
  type Paragraph,
  type Seam,
  type Span,
  textOfSpans
} from "../../model/block.ts"
import { append, least } from "../../model/lists.ts"
import { spansOf, type InlineContext } from "../lines/inline.ts"
import { areLinesOfOne, type Extent, keepsLines } from "../lines/kept-lines.ts"
import { type Line, wordsSize } from "../lines/line.ts"
import { follows, type Marker } from "../lines/markers.ts"
import { type Group, isOpen } from "../lines/paragraphs.ts"
import { piecesOf } from "../lines/segment.ts"
import { SMALLER } from "./footnotes.ts"
import { codeOf } from "./listing.ts"
import { listsOf, type LooseItem, SAME_INDENT } from "./lists.ts"

/** What a column's groups are read with. */
export interface GatheringContext {
  readonly inline: InlineContext
  /** Size of running text, points. */
  readonly bodySize: number
  /** Right edge of the column's lines, in points. */
  readonly right: number
}

const seamOf = (group: Group, { bodySize, right }: GatheringContext): Seam => ({
  element: undefined,
  open: isOpen(group, right),
  hyphenated: group.lines.at(-1)?.hyphenated ?? false,
  small: group.lines.slice(0, 1).every((line) => wordsSize(line) < SMALLER * bodySize)
})

/** The words of lines, with the line breaks kept. */
const brokenSpans = (lines: ReadonlyArray<Line>, inline: InlineContext): ReadonlyArray<Span> =>
  lines.flatMap((line, at) => [...(at === 0 ? [] : [BREAK]), ...spansOf([line], inline)])

/** A group as a paragraph; `broken`: its lines were ended on purpose. */
export const paragraph = (group: Group, context: GatheringContext, broken = false): Paragraph => ({
  kind: "paragraph",
  top: group.lines[0]?.y0,
  spans: broken ? brokenSpans(group.lines, context.inline) : spansOf(group.lines, context.inline),
  seam: seamOf(group, context),
  lang: undefined
})

/** Entries of a table of contents are a list without marks. */
const ENTRY: Marker = {
  ordered: false,
  length: 0,
  skipped: 0,
  number: undefined,
  style: undefined,
  dress: ""
}

/** Greatest distance of an item's further content to the left of its words, and below, in font sizes. */
const OUT = 0.6
const BELOW = 3.5

/** Place in the alphabet of the last capital that may be the only item of a list on a page. */
const LAST_LONE = 8

/** An item that may continue; the outermost comes first. */
interface OpenItem {
  readonly marker: Marker
  readonly x0: number
  /** Left edge of its words. */
  readonly words: number
}

/** Left edge of an item's words: from its second line, where that is indented, or behind its marker. */
const wordsOf = (lines: ReadonlyArray<Line>, { length }: Marker): number => {
  const [first, second] = lines
  if (first === undefined) return 0
  if (second !== undefined) return second.x0
  let left = length
  for (const { text, x0, x1 } of piecesOf(first.segments)) {
    if (text.length > left) return x0 + (Math.max(0, left) / text.length) * (x1 - x0)
    // There is white space between a separate marker and its words.
    left -= Math.max(text.length, text.trimEnd().length + 1)
  }
  return first.x0
}

/** A paragraph, and whether its lines may have been ended on purpose, so that the next line may belong to it. */
interface Text {
  readonly group: Group
  readonly broken: boolean
}

/** Content below an item. It belongs to the item where the item or its list continues further below. */
type Below =
  | { readonly kind: "lines"; readonly lines: Array<Line> }
  | { readonly kind: "block"; readonly block: Block }
  | ({ readonly kind: "text" } & Text)

const isWordless = (block: Block): boolean =>
  block.kind === "paragraph" && textOfSpans(block.spans).trim() === ""

const withWords = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> =>
  blocks.filter((block) => !isWordless(block))

/** Whether a list has no words, or holds one that has none. */
const isHollow = (block: Block): boolean =>
  block.kind === "list" &&
  (block.items.every(({ blocks }) => blocks.every(isWordless)) ||
    block.items.some(({ blocks }) => blocks.some(isHollow) || (blocks.length > 1 && blocks.some(isWordless))))

/** Collects items, and turns them into blocks. */
export class Gathering {
  readonly blocks: Array<Block> = []
  #items: Array<{ group: Group; item: LooseItem & { blocks: Array<Block> } }> = []
  #open: Array<OpenItem> = []
  #below: Array<Below> = []
  /** Baseline of what was added last. */
  #bottom = 0
  #code: Array<Line> = []
  #leaders: Array<Group> = []
  #text: Text | undefined
  readonly #context: GatheringContext

  constructor(context: GatheringContext) {
    this.#context = context
  }

  text(group: Group, extent: Extent): void {
    const isSetIn = this.#isSetIn(group)
    const last = this.#below.at(-1)
    const above = isSetIn ? (last?.kind === "text" ? last : undefined) : this.#text
    const goesOn = above !== undefined && areLinesOfOne(above.group, group, extent)
    const text: Text = goesOn
      ? { group: { ...above.group, lines: [...above.group.lines, ...group.lines] }, broken: true }
      : { group, broken: keepsLines(group, extent) }
    if (isSetIn) {
      if (goesOn) this.#below.pop()
      this.#below.push({ kind: "text", ...text })
      this.#bottom = group.lines.at(-1)?.baseline ?? this.#bottom
      return
    }
    if (!goesOn) this.flush()
    this.#text = text
  }

  item(group: Group): void {
    const { marker } = group
    if (marker === undefined) return
    this.#flushText()
    this.#flushCode()
    this.#flushLeaders()
    const x0 = group.lines[0]?.x0 ?? 0
    const isInList = (open: OpenItem): boolean =>
      Math.abs(x0 - open.x0) <= SAME_INDENT &&
      follows(open.marker, marker) &&
      marker.dress === open.marker.dress
    const last = this.#items.at(-1)
    if (last !== undefined && this.#below.length > 0) {
      const within = x0 > (this.#open.at(-1)?.x0 ?? x0) + SAME_INDENT || this.#open.some(isInList)
      if (within && this.#isNear(group.lines[0])) append(last.item.blocks, this.#takeBelow())
      else this.#flushItems()
    }
    const spans = spansOf(group.lines, this.#context.inline, marker.skipped)
    const seam = seamOf(group, this.#context)
    this.#items.push({
      group,
      item: { marker, x0, blocks: [{ kind: "paragraph", spans, seam, lang: undefined }] }
    })
    this.#open = [
      ...this.#open.filter((open) => open.x0 < x0 - SAME_INDENT),
      { marker, x0, words: wordsOf(group.lines, marker) }
    ]
    this.#bottom = group.lines.at(-1)?.baseline ?? this.#bottom
  }

  /** True when a plain group is aligned with the words of an open item: another paragraph of it. */
  continuesItem(group: Group): boolean {
    return this.#continued(group) !== undefined
  }

  addToItem(group: Group): void {
    const open = this.#continued(group)
    const last = this.#items.at(-1)
    if (open === undefined || last === undefined) return
    const more = [...this.#takeBelow(), paragraph(group, this.#context)]
    if (open === this.#open.at(-1)) append(last.item.blocks, more)
    else this.#items.push({ group, item: { marker: undefined, x0: open.x0, blocks: more } })
    this.#open = this.#open.slice(0, this.#open.indexOf(open) + 1)
    this.#bottom = group.lines.at(-1)?.baseline ?? this.#bottom
  }

  code({ lines }: Group): void {
    this.#flushText()
    this.#flushLeaders()
    if (!this.#isBelowItem(lines)) {
      this.#flushItems()
      append(this.#code, lines)
      return
    }
    const last = this.#below.at(-1)
    if (last?.kind === "lines") append(last.lines, lines)
    else this.#below.push({ kind: "lines", lines: [...lines] })
    this.#bottom = lines.at(-1)?.baseline ?? this.#bottom
  }

  /** Adds a block that is not text: a formula, a table. */
  part(block: Block, lines: ReadonlyArray<Line>): void {
    if (!this.#isBelowItem(lines)) return this.add(block)
    this.#below.push({ kind: "block", block })
    this.#bottom = lines.at(-1)?.baseline ?? this.#bottom
  }

  leader(group: Group): void {
    this.#flushText()
    this.#flushItems()
    this.#flushCode()
    this.#leaders.push(group)
  }

  add(block: Block): void {
    this.flush()
    this.blocks.push(block)
  }

  flush(): void {
    this.#flushText()
    this.#flushItems()
    this.#flushCode()
    this.#flushLeaders()
  }

  /** Whether what was added last is a heading. */
  isBelowHeading(): boolean {
    const isGathering = [this.#items, this.#below, this.#code, this.#leaders].some(({ length }) => length > 0)
    return !isGathering && this.#text === undefined && this.blocks.at(-1)?.kind === "heading"
  }

  /** The item that a group continues: the innermost with words at the left edge of all of its lines. */
  #continued({ lines }: Group): OpenItem | undefined {
    const [line] = lines
    if (line === undefined || !this.#isNear(line)) return undefined
    const far = OUT * line.size
    const left = least(lines.map(({ x0 }) => x0))
    return this.#open.findLast(({ words }) => Math.abs(line.x0 - words) < far && left > words - far)
  }

  /** Whether a plain group is set in below an item's words. */
  #isSetIn({ lines }: Group): boolean {
    const words = this.#open.at(-1)?.words
    return (
      words !== undefined && this.#isNear(lines[0]) && lines.every(({ size, x0 }) => x0 > words + OUT * size)
    )
  }

  #isNear(line: Line | undefined): boolean {
    return line !== undefined && line.baseline - this.#bottom < BELOW * line.size
  }

  #isBelowItem(lines: ReadonlyArray<Line>): boolean {
    const [outer] = this.#open
    return (
      outer !== undefined &&
      this.#isNear(lines[0]) &&
      lines.every(({ size, x0 }) => x0 > outer.x0 - OUT * size)
    )
  }

  #takeBelow(): ReadonlyArray<Block> {
    const below = this.#below
    this.#below = []
    return below.map((one): Block | Code => {
      if (one.kind === "block") return one.block
      return one.kind === "lines" ? codeOf(one.lines) : paragraph(one.group, this.#context, one.broken)
    })
  }

  #flushText(): void {
    const text = this.#text
    this.#text = undefined
    if (text !== undefined) this.blocks.push(paragraph(text.group, this.#context, text.broken))
  }

  #flushItems(): void {
    const items = this.#items
    this.#items = []
    this.#open = []
    const [only, another] = items
    const marker = another === undefined ? only?.group.marker : undefined
    // "1984. It was …": one number does not make a list, unless the list continues from the page before.
    // "P. IVA 0123": a letter far down the alphabet makes none either.
    const isInitial = marker?.style === "A" && (marker.number ?? 0) > LAST_LONE
    const isLone = marker?.ordered === true && ((marker.number ?? 0) < 2 || isInitial)
    if (isLone && only !== undefined)
      this.blocks.push(paragraph(only.group, this.#context), ...withWords(only.item.blocks.slice(1)))
    else this.#lists(items)
    append(this.blocks, this.#takeBelow())
  }

  /**
   * Adds lists of items. "(3)" next to a formula is a mark without words, and makes no list; a bullet without words is
   * dropped.
   */
  #lists(items: ReadonlyArray<{ readonly group: Group; readonly item: LooseItem }>): void {
    const lists = listsOf(items.map(({ item }) => item))
    if (!lists.some(isHollow)) return append(this.blocks, lists)
    let list: Array<LooseItem> = []
    for (const { group, item } of items) {
      const blocks = withWords(item.blocks)
      if (blocks.length > 0) {
        list.push({ ...item, blocks: [...blocks] })
        continue
      }
      append(this.blocks, listsOf(list))
      list = []
      if (item.marker?.ordered === true) this.blocks.push(paragraph(group, this.#context))
    }
    append(this.blocks, listsOf(list))
  }

  #flushCode(): void {
    if (this.#code.length > 0) this.blocks.push(codeOf(this.#code))
    this.#code = []
  }

  #flushLeaders(): void {
    const entries = this.#leaders.map((group): LooseItem => ({
      marker: ENTRY,
      x0: group.lines[0]?.x0 ?? 0,
      // A page's number ends the entry, wherever its line ends.
      blocks: [{ ...paragraph(group, this.#context), seam: NO_SEAM }]
    }))
    this.#leaders = []
    append(this.blocks, entries.length < 3 ? entries.flatMap(({ blocks }) => blocks) : listsOf(entries))
  }
}
