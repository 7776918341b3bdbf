import type { FontFace, PageContent, TextRun } from "../page-content.ts"
import type { PageAnalysis } from "./analysis.ts"
import { asParagraph, type Block, NO_SEAM } from "./blocks/block.ts"
import { contentsIn } from "./blocks/contents.ts"
import { fieldsOf, MAX_FIELDS } from "./blocks/fields.ts"
import { withCaptions, figuresOf } from "./blocks/figures.ts"
import { flowBlocks, type FlowContext } from "./blocks/flow.ts"
import { withNoteReferences } from "./blocks/footnotes.ts"
import { withFrontMatter } from "./blocks/front-matter.ts"
import { notesBelowRules } from "./blocks/note-rules.ts"
import type { Outline } from "./blocks/outline.ts"
import { withoutRepeatedTitles } from "./blocks/repeated-titles.ts"
import { joinColumns, withNotices } from "./blocks/seams.ts"
import { withTableNotes } from "./blocks/table-notes.ts"
import { drawnFigures } from "./figures/drawn-figures.ts"
import { barsOf } from "./formulas/bars.ts"
import type { Placed } from "./gutters.ts"
import { LinkIndex, spansOf } from "./lines/inline.ts"
import type { Line } from "./lines/line.ts"
import { readableRuns } from "./lines/readable-runs.ts"
import { isTypewriter, type Segment, segmentsOf } from "./lines/segment.ts"
import { marginNotes } from "./margin-notes.ts"
import { type DocumentProfile, isRunningAside, runningLines } from "./profile.ts"
import { readingOrder } from "./reading-order.ts"
import { drawnTables } from "./tables/drawn-table.ts"
import { ruledTables } from "./tables/ruled-table.ts"
import { tableOf } from "./tables/table-cells.ts"

/** What a page is laid out with. */
export interface PageContext {
  readonly fonts: ReadonlyArray<FontFace>
  readonly profile: DocumentProfile
  readonly outline: Outline
}

const without = (segments: ReadonlyArray<Segment>, taken: ReadonlySet<Segment>): ReadonlyArray<Segment> =>
  taken.size === 0 ? segments : segments.filter((segment) => !taken.has(segment))

/** Longest stamp in a margin, characters; more of text that is turned is a table or a drawing. */
const MAX_STAMP = 300

/** Pictures in a drawn figure are parts of it. */
const holds = (figure: Placed, { x0, x1, y0, y1 }: Placed): boolean =>
  x0 > figure.x0 - 2 && x1 < figure.x1 + 2 && y0 > figure.y0 - 2 && y1 < figure.y1 + 2

/** The page's fields as segments without words, so that a table's cells have them. */
const fieldSegments = ({ fields }: PageContent): ReadonlyArray<Segment> =>
  fields.slice(0, MAX_FIELDS).map((field) => ({
    ...field.box,
    baseline: field.box.y1,
    size: field.box.y1 - field.box.y0,
    pieces: [],
    order: 0,
    characters: 0,
    hyphenated: false,
    field
  }))

/** The tables that stand apart from the text: by their rules, else by the order of drawing; and the segments that are in none. */
const tablesOn = (
  page: PageContent,
  segments: ReadonlyArray<Segment>,
  /** What a heading lists of the document: it is in no table. */
  listed: ReadonlySet<Segment>,
  { contents, inline, notes }: FlowContext
): {
  readonly placed: ReadonlyArray<Placed>
  readonly rest: ReadonlyArray<Segment>
  /** Fields that stand in no table. */
  readonly unplaced: PageContent["fields"]
} => {
  const fields = fieldSegments(page)
  const ruled = ruledTables(page, [...without(segments, notes), ...fields], inline)
  const unruled = without(segments, ruled.taken)
  const drawn = contents ? [] : drawnTables(without(without(unruled, listed), notes), inline.fonts)
  const placed = drawn.map(({ rows, x0, x1, y0, y1 }): Placed => ({
    block: tableOf(rows, inline, undefined),
    x0,
    x1,
    y0,
    y1
  }))
  return {
    placed: [...ruled.placed, ...placed],
    rest: without(unruled, new Set(drawn.flatMap(({ segments: taken }) => taken))),
    unplaced: fields.flatMap((one) => (one.field === undefined || ruled.taken.has(one) ? [] : [one.field]))
  }
}

/** The blocks of text that is turned on a page of upright text. */
const turnedBlocks = (runs: ReadonlyArray<TextRun>, context: FlowContext): ReadonlyArray<Block> => {
  const segments = segmentsOf(runs)
  const right = segments.reduce((most, { x1 }) => Math.max(most, x1), -Infinity)
  const blocks = withCaptions(flowBlocks(segments, right, context)).map((block): Block =>
    block.kind === "heading" ? asParagraph(block) : block
  )
  const letters = runs.reduce((sum, { text }) => sum + text.length, 0)
  return letters > MAX_STAMP || blocks.some(({ kind }) => kind === "table")
    ? blocks
    : [{ kind: "aside", blocks }]
}

/** A note of the margin as a block: it comes right before the line of text that it begins beside. */
const placedNote = (lines: ReadonlyArray<Line>, edge: number, { inline }: FlowContext): Placed => {
  const spans = spansOf(lines, inline)
  const { baseline = 0, size = 0 } = lines[0] ?? {}
  return {
    // Like small print it may stand between the halves of a paragraph.
    block: { kind: "paragraph", spans, seam: { ...NO_SEAM, small: true }, lang: undefined },
    x0: edge,
    x1: edge + 1,
    y0: baseline - size,
    y1: baseline
  }
}

/** The blocks of a page that says nothing of its structure, by geometry alone. `contents`: it is a table of contents. */
export const untaggedBlocks = (
  analysis: PageAnalysis,
  context: PageContext,
  contents: boolean
): ReadonlyArray<Block> => {
  const { page, readable } = analysis
  const { fonts, outline, profile } = context
  const links = new LinkIndex(page.links)
  const bars = barsOf(page)
  const bottomHalf = page.height * 0.4
  const { bodySize } = profile
  const flow: FlowContext = {
    inline: { fonts, links, ignoreBold: profile.bodyBold },
    heading: { fonts, profile, outline, titles: outline.titles.get(page.index) },
    bottomHalf,
    bars,
    notes: notesBelowRules(analysis.rows, bars, { bodySize, bottomHalf, width: page.width }),
    contents
  }
  const repeated = runningLines(profile, analysis)
  const running = new Set(
    analysis.rows
      .filter((row) => repeated.has(row) || outline.running.has(row))
      .flatMap(({ segments }) => segments)
  )
  const shown =
    running.size === 0 ? analysis.segments : analysis.segments.filter((segment) => !running.has(segment))
  const { edge, notes: inMargin, text: kept } = marginNotes(shown, fonts)
  const listed = new Set(
    contentsIn(analysis.rows).flatMap(({ from, to }) =>
      analysis.rows.slice(from, to).flatMap(({ segments }) => segments)
    )
  )
  const figures = drawnFigures(page, kept, bodySize)
  const undrawn = without(kept, figures.taken)
  const { placed: tables, rest: untabled, unplaced: loneFields } = tablesOn(page, undrawn, listed, flow)
  const fields = fieldsOf(loneFields, analysis.rows, new Set(untabled))
  const loose = without(untabled, fields.taken)
  const pictures = figuresOf(page, analysis.segments.length > 3)
  const placed = [
    ...tables,
    ...inMargin.map((note) => placedNote(note, edge, flow)),
    ...figures.placed,
    ...pictures.filter((picture) => !figures.placed.some((figure) => holds(figure, picture))),
    ...fields.placed
  ]
  const isCode = ({ pieces: [first] }: Segment) => first !== undefined && isTypewriter(fonts[first.run.font])
  const columns = readingOrder(loose, placed, bodySize, isCode).map((leaf): ReadonlyArray<Block> =>
    leaf.kind === "placed"
      ? [{ ...leaf.placed.block, top: leaf.placed.y0 }]
      : flowBlocks(leaf.segments, leaf.x1, flow)
  )
  const turned =
    figures.turned.size === 0
      ? readable.turned
      : readableRuns({ ...page, runs: page.runs.filter((run) => !figures.turned.has(run)) }).turned
  const unplaced: FlowContext = {
    ...flow,
    inline: { ...flow.inline, links: new LinkIndex([]) },
    bars: undefined
  }
  const aside = turned.flatMap((runs) => (isRunningAside(profile, runs) ? [] : turnedBlocks(runs, unplaced)))
  const blocks = withFrontMatter(
    withTableNotes(withCaptions(withoutRepeatedTitles(withNotices(joinColumns(columns))))),
    page.index
  )
  // Notes stand last, in the order of the columns that they stood in.
  const notes = blocks.filter(({ kind }) => kind === "footnote")
  const text = notes.length === 0 ? blocks : blocks.filter(({ kind }) => kind !== "footnote")
  return withNoteReferences([...text, ...aside, ...notes])
}
