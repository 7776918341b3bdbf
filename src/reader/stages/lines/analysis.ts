import type { FontFace, PageContent, TextRun } from "../../model/page-content.ts"
import { withAccentedLetters } from "../runs/accented-letters.ts"
import { drawnBullets, letterBullets } from "../runs/bullets.ts"
import { withDrawnNotes } from "../runs/notation.ts"
import { uprightPage } from "../runs/turned.ts"
import { withUnderlines } from "../runs/underlines.ts"
import { withUnderscores } from "../runs/underscores.ts"
import { withWholeSigns } from "../runs/whole-signs.ts"
import { type PageHyphens, pageHyphens } from "./hyphens.ts"
import { withoutLineNumbers } from "./line-numbers.ts"
import { type Line, linesOf } from "./line.ts"
import { type ReadableRuns, readableRuns } from "./readable-runs.ts"
import { type Segment, segmentsOf } from "./segment.ts"

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
