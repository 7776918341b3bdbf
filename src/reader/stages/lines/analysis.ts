import type { FontFace, PageContent, TextRun } from "../../model/page-content.ts"
import { withAccentedLetters } from "../runs/accented-letters.ts"
import { drawnBullets, letterBullets } from "../runs/bullets.ts"
import { withDrawnBoxes } from "../runs/drawn-boxes.ts"
import { withDrawnRatings } from "../runs/drawn-ratings.ts"
import { withInitials } from "../runs/initials.ts"
import { withSpacedWords } from "../runs/spaced-words.ts"
import { withStrikes } from "../runs/strikes.ts"
import { uprightPage } from "../runs/turned.ts"
import { withUnderlines } from "../runs/underlines.ts"
import { withUnderscores } from "../runs/underscores.ts"
import { withWholeSigns } from "../runs/whole-signs.ts"
import { type PageHyphens, pageHyphens } from "./hyphens.ts"
import { lineNumberEdges, withoutLineNumbers } from "./line-numbers.ts"
import { type Line, linesOf } from "./line.ts"
import { type ReadableRuns, readableRuns } from "./readable-runs.ts"
import { lengthOf, type Segment, segmentsOf } from "./segment.ts"

/** A page, analysed once for the statistics and for the layout. */
export interface PageAnalysis {
  /** Upright. */
  readonly page: PageContent
  /** By how much it was turned for that: clockwise degrees of its writing. */
  readonly turn: number
  /** Only its lines were turned: its signs and its pictures are upright. */
  readonly stacked: boolean
  readonly fonts: ReadonlyArray<FontFace>
  readonly readable: ReadableRuns
  /** In the order of the content stream. */
  readonly segments: ReadonlyArray<Segment>
  /** Over the whole width of the page, columns not separated, from top to bottom. */
  readonly rows: ReadonlyArray<Line>
  readonly hyphens: PageHyphens
}

/** A step that cleans the runs of a page. */
interface RunStage {
  readonly id: string
  readonly why: string
  readonly run: (
    runs: ReadonlyArray<TextRun>,
    page: PageContent,
    numberedAt: ReadonlyArray<number>
  ) => ReadonlyArray<TextRun>
}

/** What is done to a page's runs, upright, before they are segments. */
export const RUN_STAGES: ReadonlyArray<RunStage> = [
  {
    id: "line-numbers",
    why: "numbers in the margin of a draft belong to no line of text",
    run: (runs, { width }, numberedAt) => withoutLineNumbers(runs, width, numberedAt)
  },
  {
    id: "initials",
    why: "a letter that reaches down over several lines begins the word behind it",
    run: withInitials
  },
  {
    id: "accented-letters",
    why: "an accent that is drawn over a letter is one with it",
    run: withAccentedLetters
  },
  {
    id: "spaced-words",
    why: "letters that are set far apart are one word",
    run: withSpacedWords
  },
  { id: "whole-signs", why: "a sign that is drawn in parts is one", run: withWholeSigns },
  {
    id: "drawn-bullets",
    why: "a shape before a line is the bullet of an item; tags mark lists where there are any",
    run: (runs, page) => (page.structure.length === 0 ? withBullets(runs, drawnBullets(page, runs)) : runs)
  },
  { id: "letter-bullets", why: "a letter of a symbol face before a line is a bullet", run: letterBullets }
]

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

const isStacked = (run: TextRun): boolean => run.stacked === true

/** Analyses a page; one that is written sideways is turned. `numberedAt`: where other pages have numbers of their lines. */
export const analyse = (
  read: PageContent,
  fonts: ReadonlyArray<FontFace>,
  numberedAt: ReadonlyArray<number> = []
): PageAnalysis => {
  const shown = withStrikes(withUnderlines(withUnderscores(withDrawnBoxes(withDrawnRatings(read)))))
  const asShown = readableRuns(shown)
  const page = asShown.turn === 0 ? shown : uprightPage(shown, asShown.turn)
  const readable = asShown.turn === 0 ? asShown : readableRuns(page)
  const segments = segmentsOf(
    RUN_STAGES.reduce((runs, { run }) => run(runs, page, numberedAt), readable.main)
  )
  const rows = linesOf(segments, fonts)
  const hyphens = pageHyphens(segments, rows.length)
  const stacked =
    asShown.turn !== 0 && 2 * lengthOf(readable.main.filter(isStacked)) > lengthOf(readable.main)
  return { page, turn: asShown.turn, stacked, fonts, readable, segments, rows, hyphens }
}

/** Analyses pages; a page with few lines has the numbers of its lines where the others have them. */
export const analysePages = (
  pages: ReadonlyArray<PageContent>,
  fonts: ReadonlyArray<FontFace>
): ReadonlyArray<PageAnalysis> => {
  const alone = pages.map((page) => analyse(page, fonts))
  const edges = alone.map(({ page, readable }) => lineNumberEdges(readable.main, page.width))
  const known = edges.flat()
  if (known.length === 0) return alone
  return alone.map((page, at) =>
    edges[at]?.length === 0 && pages[at] !== undefined ? analyse(pages[at], fonts, known) : page
  )
}
