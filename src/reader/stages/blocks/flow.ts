import {
  asList,
  asParagraph,
  type Block,
  BREAK,
  type Heading,
  type List,
  plain,
  textOfSpans
} from "../../model/block.ts"
import { least } from "../../model/lists.ts"
import type { Box } from "../../model/page-content.ts"
import { isLabelAlone } from "../lines/heading-words.ts"
import { type InlineContext, spansOf, spansIn } from "../lines/inline.ts"
import { type Line, linesOf } from "../lines/line.ts"
import { LEADER_LINE } from "../lines/markers.ts"
import { numberedLines } from "../lines/numbered-lines.ts"
import { paragraphStep } from "../lines/paragraph-step.ts"
import { type Group, groupsOf } from "../lines/paragraphs.ts"
import { rightEdge } from "../lines/right-edge.ts"
import { isListedEntry, isNumbered } from "../lines/section-number.ts"
import type { Segment } from "../lines/segment.ts"
import { withSignedCode } from "../lines/signed-code.ts"
import { formulasIn } from "../regions/formulas/find-formulas.ts"
import { algorithmOf } from "./algorithms.ts"
import { alignedBlock, alignedIn } from "./aligned.ts"
import { contentsIn } from "./contents.ts"
import { type Definitions, definitionsIn } from "./definitions.ts"
import { footnotesFrom, noteMark } from "./footnotes.ts"
import { Gathering, type GatheringContext, paragraph } from "./gathering.ts"
import { type FoundHeading, headingBy } from "./heading-rules.ts"
import { type HeadingContext, isBulleted } from "./headings.ts"
import { indexLines, indexOf } from "./index-entries.ts"
import { runInHeading } from "./run-in.ts"
import { stackedGroups } from "./stacked-lines.ts"

/** The context for reading a column's text. */
export interface FlowContext {
  readonly inline: InlineContext
  readonly heading: HeadingContext
  /** Top of the lower part of the page, which may have footnotes. */
  readonly lowerPart: number
  /** Thin level lines: bars of fractions, among others; undefined where the boxes of words are unreliable. */
  readonly bars: ReadonlyArray<Box> | undefined
  /** Notes below a footnote rule: they are rows of no table. */
  readonly notes: ReadonlySet<Segment>
  /** The page has the title of a table of contents, possibly in another column. */
  readonly titled: boolean
  /** The page is a table of contents: entries without leaders are entries, too. */
  readonly contents: boolean
}

/** Whether a group is an entry of a table of contents. */
const isEntry = ({ lines }: Group, contents: boolean): boolean =>
  lines.slice(-1).some((last) => LEADER_LINE.test(last.text) || (contents && isListedEntry(last)))

/** Greatest step between lines of one item, in font sizes. */
const ITEM_STEP = 1.25

const headingOf = (group: Group, { level, reason }: FoundHeading, context: FlowContext): Heading => ({
  kind: "heading",
  reason,
  top: group.lines[0]?.y0,
  level,
  size: group.lines[0]?.size,
  spans: spansOf(
    group.lines,
    { ...context.inline, ignoreBold: true },
    isBulleted(group) ? group.marker?.skipped : 0
  )
})

/** Greatest gap between "Chapter 3" and its title, in font sizes of the title. */
const LABEL_GAP = 5

/** Reads the text of one column, from top to bottom. */
class ColumnReader {
  readonly #context: FlowContext
  readonly #column: GatheringContext
  readonly #gathering: Gathering
  /** The column is what a term means: distinct lines in it are labels, unless they have a section's number. */
  readonly #isMeaning: boolean

  constructor(right: number, context: FlowContext, isMeaning: boolean) {
    this.#context = context
    this.#isMeaning = isMeaning
    this.#column = { inline: context.inline, bodySize: context.heading.profile.bodySize, right }
    this.#gathering = new Gathering(this.#column)
  }

  /** Reads the lines between formulas. A list of the document's parts below a heading is not a table. */
  read(lines: ReadonlyArray<Line>): void {
    let start = 0
    for (const { from, to } of contentsIn(lines, this.#context.titled)) {
      this.#tablesAndText(lines.slice(start, from))
      this.#gathering.flush()
      this.#text(lines.slice(from, to), true)
      this.#gathering.flush()
      start = to
    }
    this.#tablesAndText(lines.slice(start))
  }

  /** Adds a block that is not text, with its lines. */
  part(block: Block, lines: ReadonlyArray<Line>): void {
    this.#gathering.part(block, lines)
  }

  blocks(): ReadonlyArray<Block> {
    this.#gathering.flush()
    return this.#gathering.blocks
  }

  /** Lines without tables of contents, nor formulas. */
  #tablesAndText(lines: ReadonlyArray<Line>): void {
    const { contents, heading, inline, notes } = this.#context
    let start = 0
    const noted = lines.findIndex(({ segments }) => segments.every((segment) => notes.has(segment)))
    for (const table of alignedIn(noted < 0 ? lines : lines.slice(0, noted), inline.fonts)) {
      const { from, to } = table
      this.#text(lines.slice(start, from), contents)
      this.part(alignedBlock(table, lines, inline, heading.profile.typewritten), lines.slice(from, to))
      start = to
    }
    this.#text(lines.slice(start), contents)
  }

  /** Lines between tables. */
  #text(lines: ReadonlyArray<Line>, contents: boolean): void {
    const { lowerPart } = this.#context
    const { bodySize, right } = this.#column
    const groups = groupsOf(lines, { right, bodySize, entries: contents })
    const notes = footnotesFrom(groups, bodySize, lowerPart)
    const left = least(lines.map(({ x0 }) => x0))
    const stacked = stackedGroups(groups, this.#context.heading.profile)
    for (const group of groups.slice(0, notes)) this.#group(group, left, contents, stacked.has(group))
    if (notes < groups.length) this.#notes(groups.slice(notes))
  }

  #group(group: Group, left: number, contents: boolean, stacked: boolean): void {
    const gathering = this.#gathering
    const heading = { ...this.#context.heading, headed: gathering.isBelowHeading() }
    const ends = group.marker === undefined && group.gap < ITEM_STEP && gathering.continuesItem(group)
    const isLabel = this.#isMeaning && !isNumbered(group.lines[0]?.text ?? "")
    const found = ends || stacked || isLabel ? undefined : headingBy(group, heading)
    if (contents && isEntry(group, contents)) gathering.leader(group)
    else if (found !== undefined) this.#heading(group, found)
    else if (group.code) gathering.code(group)
    else if (group.marker !== undefined && runInHeading(group, heading) === undefined) gathering.item(group)
    else if (isEntry(group, contents)) gathering.leader(group)
    else if (gathering.continuesItem(group)) gathering.addToItem(group)
    else this.#paragraph(group, left)
  }

  /** Adds a heading, behind the one right above where that is "Chapter 3" alone. */
  #heading(group: Group, found: FoundHeading): void {
    const { blocks } = this.#gathering
    const last = blocks.at(-1)
    const heading = headingOf(group, found, this.#context)
    this.#gathering.flush()
    const goesOn =
      last?.kind === "heading" &&
      last === blocks.at(-1) &&
      isLabelAlone(textOfSpans(last.spans)) &&
      group.gap < LABEL_GAP
    if (!goesOn) return this.#gathering.add(heading)
    blocks[blocks.length - 1] = {
      ...last,
      level: Math.min(last.level, found.level),
      spans: [...last.spans, plain(" "), ...heading.spans]
    }
  }

  /** Adds a paragraph, and before it the heading in its first line. */
  #paragraph(group: Group, left: number): void {
    const runIn = runInHeading(group, this.#context.heading)
    if (runIn === undefined) return this.#gathering.text(group, { left, right: this.#column.right })
    const reason = { stage: "blocks", rule: "heading:run-in" }
    this.#gathering.add(
      headingOf({ ...group, lines: runIn.heading }, { level: runIn.level, reason }, this.#context)
    )
    this.#gathering.add(paragraph({ ...group, lines: runIn.text }, this.#column))
  }

  /** Adds footnotes. */
  #notes(groups: ReadonlyArray<Group>): void {
    this.#gathering.flush()
    const { blocks } = this.#gathering
    const { inline } = this.#context
    for (const group of groups) {
      const [line, last] = [group.lines[0], blocks.at(-1)]
      const mark = line === undefined ? undefined : noteMark(line, this.#column.bodySize, group.code)
      if (mark !== undefined) {
        const spans = spansOf(group.lines, inline, mark.length)
        blocks.push({ kind: "footnote", mark: mark.mark, blocks: [asParagraph({ spans })] })
      } else if (last?.kind === "footnote")
        blocks[blocks.length - 1] = { ...last, blocks: [...last.blocks, paragraph(group, this.#column)] }
    }
  }
}

/** Greatest depth of nested lists of definitions. */
const MOST_LEVELS = 3

/** The list of definitions; undefined where it contains a heading or a note. */
const listOfDefinitions = (
  { definitions }: Definitions,
  right: number,
  context: FlowContext,
  level: number
): List | undefined => {
  const { inline } = context
  const items = definitions.map(({ meaning, terms }) => ({
    term: terms.flatMap((term, at) => [...(at === 0 ? [] : [BREAK]), ...spansIn(term, inline)]),
    blocks: flowBlocks(meaning, right, context, level)
  }))
  const isList = items.every(({ blocks }) =>
    blocks.every(({ kind }) => kind !== "heading" && kind !== "footnote")
  )
  const [first] = definitions.flatMap(({ terms }) => terms[0]?.[0] ?? [])
  return isList ? asList(items, { top: first?.y0 }) : undefined
}

/**
 * The blocks of one column's text. `end`: its lower end, in points. `level`: number of enclosing lists of definitions.
 */
export const flowBlocks = (
  segments: ReadonlyArray<Segment>,
  end: number,
  context: FlowContext,
  level = 0
): ReadonlyArray<Block> => {
  const lines = withSignedCode(linesOf(segments, context.inline.fonts))
  const right = rightEdge(lines, end)
  const { bodySize } = context.heading.profile
  const step = paragraphStep(lines, bodySize)
  const reader = new ColumnReader(right, { ...context, heading: { ...context.heading, step } }, level > 0)
  let from = 0
  for (const part of partsOf(lines, right, context, level)) {
    reader.read(lines.slice(from, part.from))
    reader.part(part.block, lines.slice(part.from, part.to))
    from = part.to
  }
  reader.read(lines.slice(from))
  return reader.blocks()
}

/** The blocks among a column's lines that are not text, in order. */
const partsOf = (
  lines: ReadonlyArray<Line>,
  right: number,
  context: FlowContext,
  level: number
): ReadonlyArray<{ readonly from: number; readonly to: number; readonly block: Block }> => {
  const { bars, contents, heading, inline } = context
  const { bodySize } = heading.profile
  const listed: Array<{ readonly from: number; readonly to: number; readonly block: Block }> = [
    ...indexLines(lines).map((one) => ({
      ...one,
      block: indexOf(lines.slice(one.from, one.to), right, inline)
    })),
    ...numberedLines(lines).map((one) => ({ ...one, block: algorithmOf(one, lines, inline) }))
  ]
  const isListed = (found: { readonly from: number; readonly to: number }): boolean =>
    listed.some((one) => found.from < one.to && found.to > one.from)
  const definitions = contents || level >= MOST_LEVELS ? [] : definitionsIn(lines, right, inline.fonts)
  for (const one of definitions.filter((other) => !isListed(other))) {
    const block = listOfDefinitions(one, right, context, level + 1)
    if (block !== undefined) listed.push({ from: one.from, to: one.to, block })
  }
  const formulas = bars === undefined ? [] : formulasIn(lines, right, { fonts: inline.fonts, bodySize, bars })
  return [
    ...listed,
    ...formulas
      .filter((one) => !isListed(one))
      .map((one) => ({ ...one, block: { ...one.formula, top: lines[one.from]?.y0 } }))
  ].sort((a, b) => a.from - b.from)
}
