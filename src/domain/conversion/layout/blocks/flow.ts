import { append, least } from "../../../lists.ts"
import type { Box } from "../../page-content.ts"
import { formulasIn } from "../formulas/find-formulas.ts"
import { type InlineContext, spansOf } from "../lines/inline.ts"
import { areLinesOfOne, type Extent, keepsLines } from "../lines/kept-lines.ts"
import { type Line, linesOf, wordsSize } from "../lines/line.ts"
import { LEADER_LINE, type Marker } from "../lines/markers.ts"
import { numberedLines } from "../lines/numbered-lines.ts"
import { paragraphStep, type Group, groupsOf, isOpen } from "../lines/paragraphs.ts"
import { isListedEntry } from "../lines/section-number.ts"
import type { Segment } from "../lines/segment.ts"
import { algorithmOf } from "./algorithms.ts"
import { alignedBlock, alignedIn } from "./aligned.ts"
import {
  type Block,
  BREAK,
  type Heading,
  NO_SEAM,
  type Paragraph,
  plain,
  type Seam,
  type Span,
  textOfSpans
} from "./block.ts"
import { contentsIn } from "./contents.ts"
import { footnotesFrom, noteMark } from "./footnotes.ts"
import { isLabelAlone } from "./heading-words.ts"
import { type HeadingContext, headingLevel, isBulleted } from "./headings.ts"
import { codeOf } from "./listing.ts"
import { listsOf, type LooseItem } from "./lists.ts"
import { runInHeading } from "./run-in.ts"

/** The context for reading a column's text. */
export interface FlowContext {
  readonly inline: InlineContext
  readonly heading: HeadingContext
  /** Footnotes may stand below this. */
  readonly bottomHalf: number
  /** Thin level lines: bars of fractions, among others; undefined where words do not stand as their boxes say. */
  readonly bars: ReadonlyArray<Box> | undefined
  /** Notes below a rule of their own: they are rows of no table. */
  readonly notes: ReadonlySet<Segment>
  /** The page has the title of a table of contents, be it in another column. */
  readonly titled: boolean
  /** The page is a table of contents: entries without leaders are entries, too. */
  readonly contents: boolean
}

/** Text that is smaller than running text by this factor stands aside. */
const SMALL = 0.94

const seamOf = (group: Group, context: FlowContext, right: number): Seam => ({
  element: undefined,
  open: isOpen(group, right),
  hyphenated: group.lines.at(-1)?.hyphenated ?? false,
  small: group.lines.slice(0, 1).every((line) => wordsSize(line) < SMALL * context.heading.profile.bodySize)
})

/** The words of lines, each on a line of its own. */
const brokenSpans = (lines: ReadonlyArray<Line>, { inline }: FlowContext): ReadonlyArray<Span> =>
  lines.flatMap((line, at) => [...(at === 0 ? [] : [BREAK]), ...spansOf([line], inline)])

const paragraph = (group: Group, context: FlowContext, right: number, broken = false): Paragraph => ({
  kind: "paragraph",
  top: group.lines[0]?.y0,
  spans: broken ? brokenSpans(group.lines, context) : spansOf(group.lines, context.inline),
  seam: seamOf(group, context, right),
  lang: undefined
})

/** Entries of a table of contents are a list without marks. */
const ENTRY: Marker = { ordered: false, length: 0, number: undefined, style: undefined, dress: "" }

/** Whether a group is an entry of a table of contents. */
const isEntry = ({ lines }: Group, { contents }: FlowContext): boolean =>
  lines.slice(-1).some((last) => LEADER_LINE.test(last.text) || (contents && isListedEntry(last)))

/** Lines of one item are no further apart, in font sizes. */
const ITEM_STEP = 1.25

/** Collects items, and turns them into blocks. */
class Gathering {
  readonly blocks: Array<Block> = []
  #items: Array<{ group: Group; item: LooseItem }> = []
  #code: Array<Line> = []
  #leaders: Array<Group> = []
  /** A paragraph whose lines may have been ended on purpose, so that the next line may belong to it. */
  #text: { readonly group: Group; readonly broken: boolean } | undefined
  readonly #context: FlowContext
  readonly #extent: Extent
  readonly #right: number

  constructor(context: FlowContext, extent: Extent) {
    this.#context = context
    this.#extent = extent
    this.#right = extent.right
  }

  text(group: Group): void {
    const above = this.#text?.group
    if (above !== undefined && areLinesOfOne(above, group, this.#extent)) {
      this.#text = { group: { ...above, lines: [...above.lines, ...group.lines] }, broken: true }
      return
    }
    this.flush()
    this.#text = { group, broken: keepsLines(group, this.#extent) }
  }

  item(group: Group): void {
    if (group.marker === undefined) return
    this.#flushText()
    this.#flushCode()
    this.#flushLeaders()
    const spans = spansOf(group.lines, this.#context.inline, group.marker.length)
    const seam = seamOf(group, this.#context, this.#right)
    const x0 = group.lines[0]?.x0 ?? 0
    const blocks: ReadonlyArray<Block> = [{ kind: "paragraph", spans, seam, lang: undefined }]
    this.#items.push({ group, item: { marker: group.marker, x0, blocks } })
  }

  /** Whether a plain group stands where the last item's words do: another paragraph of it. */
  continuesItem(group: Group): boolean {
    const [last, line] = [this.#items.at(-1), group.lines[0]]
    if (last === undefined || line === undefined) return false
    const words = last.group.lines[1]?.x0 ?? (last.group.lines[0]?.x0 ?? 0) + 1.2 * line.size
    return Math.abs(line.x0 - words) < 0.6 * line.size && group.gap < 3.5
  }

  addToItem(group: Group): void {
    const last = this.#items.pop()
    if (last === undefined) return
    const more = paragraph(group, this.#context, this.#right)
    this.#items.push({ ...last, item: { ...last.item, blocks: [...last.item.blocks, more] } })
  }

  code(group: Group): void {
    this.#flushText()
    this.#flushItems()
    this.#flushLeaders()
    append(this.#code, group.lines)
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

  #flushText(): void {
    const text = this.#text
    this.#text = undefined
    if (text !== undefined) this.blocks.push(paragraph(text.group, this.#context, this.#right, text.broken))
  }

  #flushItems(): void {
    const items = this.#items
    this.#items = []
    const [only] = items
    // "1984. It was …": one number does not make a list, unless the list continues from the page before.
    if (
      items.length === 1 &&
      only !== undefined &&
      only.group.marker?.ordered === true &&
      (only.group.marker.number ?? 0) < 2
    )
      this.blocks.push(paragraph(only.group, this.#context, this.#right), ...only.item.blocks.slice(1))
    else append(this.blocks, listsOf(items.map(({ item }) => item)))
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
      blocks: [{ ...paragraph(group, this.#context, this.#right), seam: NO_SEAM }]
    }))
    this.#leaders = []
    append(this.blocks, entries.length < 3 ? entries.flatMap(({ blocks }) => blocks) : listsOf(entries))
  }
}

const headingOf = (group: Group, level: number, context: FlowContext): Heading => ({
  kind: "heading",
  top: group.lines[0]?.y0,
  level,
  size: group.lines[0]?.size,
  spans: spansOf(
    group.lines,
    { ...context.inline, ignoreBold: true },
    isBulleted(group) ? group.marker?.length : 0
  )
})

/** Adds a paragraph, and before it the heading that stands in its first line. */
const addText = (gathering: Gathering, group: Group, right: number, context: FlowContext): void => {
  const runIn = runInHeading(group, context.heading)
  if (runIn === undefined) return gathering.text(group)
  gathering.add(headingOf({ ...group, lines: runIn.heading }, runIn.level, context))
  gathering.add(paragraph({ ...group, lines: runIn.text }, context, right))
}

/** White space between "Chapter 3" and its title at most, in font sizes of the title. */
const LABEL_GAP = 5

/** Lines between tables. */
const textBlocks = (
  lines: ReadonlyArray<Line>,
  right: number,
  context: FlowContext
): ReadonlyArray<Block> => {
  const { bodySize } = context.heading.profile
  const groups = groupsOf(lines, { right, bodySize, entries: context.contents })
  const notes = footnotesFrom(groups, bodySize, context.bottomHalf)
  const gathering = new Gathering(context, { left: least(lines.map(({ x0 }) => x0)), right })
  for (const group of groups.slice(0, notes)) {
    const ends = group.marker === undefined && group.gap < ITEM_STEP && gathering.continuesItem(group)
    const level = ends ? undefined : headingLevel(group, context.heading)
    const last = gathering.blocks.at(-1)
    if (context.contents && isEntry(group, context)) gathering.leader(group)
    else if (level !== undefined) {
      const heading = headingOf(group, level, context)
      gathering.flush()
      if (
        last?.kind === "heading" &&
        last === gathering.blocks.at(-1) &&
        isLabelAlone(textOfSpans(last.spans)) &&
        group.gap < LABEL_GAP
      )
        gathering.blocks[gathering.blocks.length - 1] = {
          ...last,
          level: Math.min(last.level, level),
          spans: [...last.spans, plain(" "), ...heading.spans]
        }
      else gathering.add(heading)
    } else if (group.code) gathering.code(group)
    else if (group.marker !== undefined && runInHeading(group, context.heading) === undefined)
      gathering.item(group)
    else if (isEntry(group, context)) gathering.leader(group)
    else if (gathering.continuesItem(group)) gathering.addToItem(group)
    else addText(gathering, group, right, context)
  }
  gathering.flush()
  const blocks = [...gathering.blocks]
  for (const group of groups.slice(notes)) {
    const [line, last] = [group.lines[0], blocks.at(-1)]
    const mark = line === undefined ? undefined : noteMark(line, bodySize, group.code)
    if (mark !== undefined)
      blocks.push({
        kind: "footnote",
        mark: mark.mark,
        blocks: [
          {
            kind: "paragraph",
            spans: spansOf(group.lines, context.inline, mark.length),
            seam: NO_SEAM,
            lang: undefined
          }
        ]
      })
    else if (last?.kind === "footnote")
      blocks[blocks.length - 1] = { ...last, blocks: [...last.blocks, paragraph(group, context, right)] }
  }
  return blocks
}

/** The blocks of one column's text. */
export const flowBlocks = (
  segments: ReadonlyArray<Segment>,
  right: number,
  context: FlowContext
): ReadonlyArray<Block> => {
  const lines = linesOf(segments, context.inline.fonts)
  const { bodySize } = context.heading.profile
  const step = paragraphStep(lines, bodySize)
  const within: FlowContext = { ...context, heading: { ...context.heading, step } }
  const blocks: Array<Block> = []
  let from = 0
  const { bars } = context
  const formulas =
    bars === undefined ? [] : formulasIn(lines, right, { fonts: context.inline.fonts, bodySize, bars })
  const algorithms = numberedLines(lines)
  const isStep = (found: { readonly from: number; readonly to: number }): boolean =>
    algorithms.some((one) => found.from < one.to && found.to > one.from)
  const parts = [
    ...algorithms.map((one) => ({ ...one, block: algorithmOf(one, lines, context.inline) })),
    ...formulas
      .filter((one) => !isStep(one))
      .map((one) => ({ ...one, block: { ...one.formula, top: lines[one.from]?.y0 } }))
  ]
  for (const part of parts.sort((a, b) => a.from - b.from)) {
    append(blocks, contentsAndText(lines.slice(from, part.from), right, within))
    blocks.push(part.block)
    from = part.to
  }
  append(blocks, contentsAndText(lines.slice(from), right, within))
  return blocks
}

/** Lines without tables of contents, nor formulas. */
const tablesAndText = (
  lines: ReadonlyArray<Line>,
  right: number,
  context: FlowContext
): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let from = 0
  const notes = lines.findIndex(({ segments }) => segments.every((segment) => context.notes.has(segment)))
  for (const table of alignedIn(notes < 0 ? lines : lines.slice(0, notes), context.inline.fonts)) {
    append(blocks, textBlocks(lines.slice(from, table.from), right, context))
    blocks.push(alignedBlock(table, lines, context.inline, context.heading.profile.typewritten))
    from = table.to
  }
  append(blocks, textBlocks(lines.slice(from), right, context))
  return blocks
}

/** Lines between formulas. What a heading lists of the document is no table. */
const contentsAndText = (
  lines: ReadonlyArray<Line>,
  right: number,
  context: FlowContext
): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let start = 0
  for (const { from, to } of contentsIn(lines, context.titled)) {
    append(blocks, tablesAndText(lines.slice(start, from), right, context))
    append(blocks, textBlocks(lines.slice(from, to), right, { ...context, contents: true }))
    start = to
  }
  append(blocks, tablesAndText(lines.slice(start), right, context))
  return blocks
}
