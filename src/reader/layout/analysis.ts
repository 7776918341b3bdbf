import type { FontFace, PageContent, TextRun } from "../model/page-content.ts"
import { drawnBullets, letterBullets } from "./blocks/lists.ts"
import { withDrawnNotes } from "./figures/notation.ts"
import { withAccentedLetters } from "./formulas/accented-letters.ts"
import { withWholeSigns } from "./formulas/whole-signs.ts"
import { type PageHyphens, pageHyphens } from "./lines/hyphens.ts"
import { withoutLineNumbers } from "./lines/line-numbers.ts"
import { type Line, linesOf } from "./lines/line.ts"
import { type ReadableRuns, readableRuns } from "./lines/readable-runs.ts"
import { type Segment, segmentsOf } from "./lines/segment.ts"
import { uprightPage } from "./lines/turned.ts"
import { withUnderlines } from "./lines/underlines.ts"
import { withUnderscores } from "./lines/underscores.ts"

/** A page, analysed once for the statistics and for the layout. */
export interface PageAnalysis {
  /** Upright. */
  readonly page: PageContent
  /** By how much it was turned for that: clockwise degrees of its writing. */
  readonly turn: number
  readonly fonts: ReadonlyArray<FontFace>
  readonly readable: ReadableRuns
  /** In the order of the content stream. */
  readonly segments: ReadonlyArray<Segment>
  /** Over the whole width of the page, columns not separated, from top to bottom. */
  readonly rows: ReadonlyArray<Line>
  readonly hyphens: PageHyphens
}

/** Each bullet precedes, in the stream, the words that it belongs to. */
const withBullets = (
  runs: ReadonlyArray<TextRun>,
  bullets: ReadonlyArray<TextRun>
): ReadonlyArray<TextRun> => {
  if (bullets.length === 0) return runs
  const before = new Map(bullets.map((bullet) => [`${bullet.baseline}:${bullet.box.y0}`, bullet]))
  return runs.flatMap((run) => {
    const key = `${run.baseline}:${run.box.y0}`
    const bullet = before.get(key)
    if (bullet === undefined || bullet.box.x1 > run.box.x0) return [run]
    before.delete(key)
    return [bullet, run]
  })
}

/** Analyses a page; one that is written sideways is turned. */
export const analyse = (read: PageContent, fonts: ReadonlyArray<FontFace>): PageAnalysis => {
  const shown = withUnderlines(withUnderscores(withDrawnNotes(read, fonts)))
  const asShown = readableRuns(shown)
  const page = asShown.turn === 0 ? shown : uprightPage(shown, asShown.turn)
  const readable = asShown.turn === 0 ? asShown : readableRuns(page)
  // Where the page's structure marks lists, shapes are not needed.
  const bullets = page.structure.length === 0 ? drawnBullets(page, readable.main) : []
  const numberless = withoutLineNumbers(readable.main, page.width)
  const segments = segmentsOf(
    letterBullets(withBullets(withWholeSigns(withAccentedLetters(numberless)), bullets))
  )
  const rows = linesOf(segments, fonts)
  const hyphens = pageHyphens(segments, rows.length)
  return { page, turn: asShown.turn, fonts, readable, segments, rows, hyphens }
}
