import { type Block, asParagraph } from "../../model/block.ts"
import { countUp } from "../../model/lists.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { spansOf } from "../lines/inline.ts"
import { type Line, linesOf } from "../lines/line.ts"
import { isNumberAlone } from "../lines/page-numbers.ts"
import { segmentsOf } from "../lines/segment.ts"
import { type PageContext, runningRows } from "../page/page-context.ts"
import { inlineContextOf } from "../profile/inline-context.ts"
import type { DocumentProfile } from "../profile/profile.ts"

/** Most lines that are marked as artifacts and kept: more are a page's background. */
const MAX_ARTIFACTS = 40

/** The lines of a page that are marked as artifacts; none where they are its background. */
const artifactLines = ({ fonts, page: { runs } }: PageAnalysis): ReadonlyArray<Line> => {
  const lines = linesOf(
    segmentsOf(
      runs.filter(
        ({ angle, artifact, invisible, text }) => artifact && !invisible && angle === 0 && /\S/.test(text)
      )
    ),
    fonts
  )
  return lines.length > MAX_ARTIFACTS ? [] : lines
}

/** Blocks above a page's text, and below. */
interface Around {
  readonly head: ReadonlyArray<Block>
  readonly foot: ReadonlyArray<Block>
}

const around = (
  { page: { height } }: PageAnalysis,
  lines: ReadonlyArray<Line>,
  blockOf: (line: Line) => Block
): Around => ({
  head: lines.filter(({ baseline }) => baseline < height / 2).map(blockOf),
  foot: lines.filter(({ baseline }) => baseline >= height / 2).map(blockOf)
})

/** A page's running lines and numbers above and below its text, which results leave out by default (DOC-20). */
export const runningNotes = (analysis: PageAnalysis, context: PageContext): Around => {
  const lines = [...runningRows(analysis, context), ...artifactLines(analysis)].sort(
    (a, b) => a.baseline - b.baseline
  )
  const inline = { ...inlineContextOf(analysis, context.profile), ignoreBold: true }
  return around(analysis, lines, (line) => ({
    kind: "aside",
    blocks: [asParagraph({ spans: spansOf([line], inline) })]
  }))
}

const WORD = /\p{L}{2}/u

const withoutDigits = (text: string): string => text.replaceAll(/\d+/g, "#")

/**
 * Artifacts that only one page has, though all pages mark artifacts: content, such as the bank account at a letter's
 * foot.
 */
export const saidOnce = (
  analyses: ReadonlyArray<PageAnalysis>,
  profile: DocumentProfile
): ReadonlyMap<PageAnalysis, Around> => {
  const pages = analyses.map((analysis) => ({ analysis, lines: artifactLines(analysis) }))
  const counts = new Map<string, number>()
  for (const { lines } of pages)
    for (const text of new Set(lines.map((line) => withoutDigits(line.text)))) countUp(counts, text)
  return new Map(
    pages.map(({ analysis, lines }) => {
      const once = lines.filter(
        ({ text }) =>
          counts.get(withoutDigits(text)) === 1 &&
          WORD.test(text) &&
          !isNumberAlone(text) &&
          !analysis.rows.some((row) => row.text === text)
      )
      const inline = inlineContextOf(analysis, profile)
      return [analysis, around(analysis, once, (line) => asParagraph({ spans: spansOf([line], inline) }))]
    })
  )
}
