import { type Block, NO_SEAM } from "../../model/block.ts"
import { liesIn } from "../../model/geometry.ts"
import type { FontFace } from "../../model/page-content.ts"
import type { Placed } from "../../model/placed.ts"
import { contentsIn, isTitled } from "../blocks/contents.ts"
import { flowBlocks, type FlowContext } from "../blocks/flow.ts"
import { withNoteReferences, LOWER_PART } from "../blocks/footnotes.ts"
import { notesBelowRules } from "../blocks/note-rules.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { spansOf } from "../lines/inline.ts"
import type { Line } from "../lines/line.ts"
import { readableRuns } from "../lines/readable-runs.ts"
import { beginsInCode } from "../lines/segment.ts"
import { boxesOf } from "../order/boxes.ts"
import { readingOrder } from "../order/reading-order.ts"
import { inlineContextOf } from "../profile/inline-context.ts"
import type { Outline } from "../profile/outline.ts"
import type { DocumentProfile } from "../profile/profile.ts"
import { isRunningAside, runningLines } from "../profile/running-lines.ts"
import { fieldsOf } from "../regions/fields/fields.ts"
import { drawnFigures } from "../regions/figures/drawn-figures.ts"
import { figuresOf } from "../regions/figures/pictures.ts"
import { barsOf } from "../regions/formulas/bars.ts"
import { marginNotes } from "../regions/margins/margin-notes.ts"
import { withoutRunningBorders } from "../regions/tables/grid/running-borders.ts"
import { withCaptions } from "./captions.ts"
import { withFrontMatter } from "./front-matter.ts"
import { tablesOn, without } from "./page-tables.ts"
import { withoutRepeatedTitles } from "./repeated-titles.ts"
import { joinColumns, withNotices } from "./seams.ts"
import { withTableNotes } from "./table-notes.ts"
import { turnedText } from "./turned-text.ts"

/** What a page is laid out with. */
export interface PageContext {
  readonly fonts: ReadonlyArray<FontFace>
  readonly profile: DocumentProfile
  readonly outline: Outline
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

/** The rows that are running lines. */
export const runningRows = (analysis: PageAnalysis, { outline, profile }: PageContext): ReadonlySet<Line> => {
  const repeated = runningLines(profile, analysis)
  return new Set(analysis.rows.filter((row) => repeated.has(row) || outline.running.has(row)))
}

/** The blocks of a page that says nothing of its structure, by geometry alone. `contents`: it is a table of contents. */
export const untaggedBlocks = (
  analysis: PageAnalysis,
  context: PageContext,
  contents: boolean
): ReadonlyArray<Block> => {
  const { readable } = analysis
  const { fonts, outline, profile } = context
  const running = runningRows(analysis, context)
  const drawings = withoutRunningBorders(analysis.page.drawings, analysis.rows, running)
  const page = { ...analysis.page, drawings }
  const bars = barsOf(page)
  const lowerPart = LOWER_PART * page.height
  const { bodySize } = profile
  const flow: FlowContext = {
    inline: inlineContextOf(analysis, profile),
    heading: { fonts, profile, outline, titles: outline.titles.get(page.index) },
    lowerPart,
    bars,
    titled: isTitled(analysis.segments),
    notes: notesBelowRules(analysis.rows, bars, { bodySize, lowerPart, width: page.width }),
    contents
  }
  const shown = without(analysis.segments, new Set([...running].flatMap(({ segments }) => segments)))
  const { edge, notes: inMargin, text: kept } = marginNotes(shown, fonts)
  const listed = new Set(
    contentsIn(analysis.rows, flow.titled).flatMap(({ from, to }) =>
      analysis.rows.slice(from, to).flatMap(({ segments }) => segments)
    )
  )
  const isCode = beginsInCode(fonts)
  const figures = drawnFigures(page, kept, bodySize, isCode)
  const undrawn = without(kept, figures.taken)
  const { placed: tables, rest: untabled, unplaced: loneFields } = tablesOn(page, undrawn, listed, flow)
  const fields = fieldsOf(loneFields, analysis.rows, new Set(untabled))
  const loose = without(untabled, fields.taken)
  const pictures = figuresOf(page, analysis.segments.length > 3)
  const sideways =
    figures.turned.size === 0
      ? readable.turned
      : readableRuns({ ...page, runs: page.runs.filter((run) => !figures.turned.has(run)) }).turned
  const turned = turnedText(
    page,
    sideways.filter(({ runs }) => !isRunningAside(profile, runs)),
    kept,
    flow
  )
  const placed = [
    ...tables,
    ...inMargin.map((note) => placedNote(note, edge, flow)),
    ...figures.placed,
    // Pictures in a drawn figure are parts of it.
    ...pictures.filter((picture) => !figures.placed.some((figure) => liesIn(picture, figure, 2))),
    ...fields.placed,
    ...turned.placed
  ]
  const boxes = boxesOf(page, loose, isCode)
  const columns = readingOrder(loose, placed, bodySize, { isCode, boxes }).map((leaf): ReadonlyArray<Block> =>
    leaf.kind === "placed"
      ? [{ ...leaf.placed.block, top: leaf.placed.y0 }]
      : flowBlocks(leaf.segments, leaf.x1, flow)
  )
  const blocks = withFrontMatter(
    withTableNotes(withCaptions(withoutRepeatedTitles(withNotices(joinColumns(columns))))),
    page.index
  )
  // Notes stand last, in the order of the columns that they stood in.
  const notes = blocks.filter(({ kind }) => kind === "footnote")
  const text = notes.length === 0 ? blocks : blocks.filter(({ kind }) => kind !== "footnote")
  return withNoteReferences([...text, ...turned.aside, ...notes])
}
