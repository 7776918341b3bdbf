import type { FontFace, PageContent } from "../../model/page-content.ts"
import { isTitled } from "../blocks/contents.ts"
import type { FlowContext } from "../blocks/flow.ts"
import { LOWER_PART } from "../blocks/footnotes.ts"
import { notesBelowRules } from "../blocks/note-rules.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import type { KnownWords } from "../lines/inline.ts"
import type { Line } from "../lines/line.ts"
import { beginsInCode, type Segment } from "../lines/segment.ts"
import { inlineContextOf } from "../profile/inline-context.ts"
import type { Outline } from "../profile/outline.ts"
import type { DocumentProfile } from "../profile/profile.ts"
import { runningLines } from "../profile/running-lines.ts"
import { barsOf } from "../regions/formulas/bars.ts"
import { withoutRunningBorders } from "../regions/tables/grid/running-borders.ts"

/** Facts of the document that every page is laid out with. */
export interface PageContext {
  readonly fonts: ReadonlyArray<FontFace>
  readonly profile: DocumentProfile
  readonly outline: Outline
  readonly words: () => KnownWords
}

/** Facts of one page, computed once, that its detectors and stages read. */
export interface PageFacts extends PageContext {
  readonly analysis: PageAnalysis
  /** The page without borders that every page has. */
  readonly page: PageContent
  readonly running: ReadonlySet<Line>
  readonly flow: FlowContext
  readonly isCode: (segment: Segment) => boolean
}

/** The rows that are running lines. */
export const runningRows = (analysis: PageAnalysis, { outline, profile }: PageContext): ReadonlySet<Line> => {
  const repeated = runningLines(profile, analysis)
  return new Set(analysis.rows.filter((row) => repeated.has(row) || outline.running.has(row)))
}

/** Computes the facts of a page. `contents`: it is a table of contents. */
export const pageFacts = (analysis: PageAnalysis, context: PageContext, contents: boolean): PageFacts => {
  const { fonts, outline, profile, words } = context
  const running = runningRows(analysis, context)
  const drawings = withoutRunningBorders(analysis.page.drawings, analysis.rows, running)
  const page = { ...analysis.page, drawings }
  const bars = barsOf(page)
  const lowerPart = LOWER_PART * page.height
  const flow: FlowContext = {
    inline: { ...inlineContextOf(analysis, profile), words },
    heading: { fonts, profile, outline, titles: outline.titles.get(page.index) },
    lowerPart,
    bars,
    titled: isTitled(analysis.segments),
    notes: notesBelowRules(analysis.rows, bars, { bodySize: profile.bodySize, lowerPart, width: page.width }),
    contents
  }
  return { ...context, analysis, page, running, flow, isCode: beginsInCode(fonts) }
}
