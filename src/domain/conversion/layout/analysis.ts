import type { FontFace, PageContent } from "../page-content.ts"
import { type Line, linesOf } from "./line.ts"
import { type ReadableRuns, readableRuns, type Segment, segmentsOf } from "./segment.ts"

/** A page, taken apart once for the statistics and for the layout. */
export interface PageAnalysis {
  readonly page: PageContent
  readonly fonts: ReadonlyArray<FontFace>
  readonly readable: ReadableRuns
  /** In the order of the content stream. */
  readonly segments: ReadonlyArray<Segment>
  /** Over the whole width of the page, columns not told apart, from top to bottom. */
  readonly rows: ReadonlyArray<Line>
}

/** Takes a page apart. */
export const analyse = (page: PageContent, fonts: ReadonlyArray<FontFace>): PageAnalysis => {
  const readable = readableRuns(page)
  const segments = segmentsOf(readable.main)
  return { page, fonts, readable, segments, rows: linesOf(segments, fonts) }
}
