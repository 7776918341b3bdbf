import type { PageAnalysis } from "../analysis.ts"
import { inlineContextOf } from "../inline-context.ts"
import { spansOf } from "../lines/inline.ts"
import { linesOf } from "../lines/line.ts"
import { segmentsOf } from "../lines/segment.ts"
import { type PageContext, runningRows } from "../page.ts"
import { type Block, asParagraph } from "./block.ts"

/** Most lines that are marked as artifacts and kept: more are a page's background. */
const MAX_ARTIFACTS = 40

/** A page's running lines and numbers, which results leave out as a rule (DOC-20): what stands above its text, and what below. */
export const runningNotes = (
  analysis: PageAnalysis,
  context: PageContext
): { readonly head: ReadonlyArray<Block>; readonly foot: ReadonlyArray<Block> } => {
  const { page } = analysis
  const artifacts = linesOf(
    segmentsOf(
      page.runs.filter(
        ({ angle, artifact, invisible, text }) => artifact && !invisible && angle === 0 && /\S/.test(text)
      )
    ),
    context.fonts
  )
  const lines = [
    ...runningRows(analysis, context),
    ...(artifacts.length > MAX_ARTIFACTS ? [] : artifacts)
  ].sort((a, b) => a.baseline - b.baseline)
  const inline = { ...inlineContextOf(analysis, context.profile), ignoreBold: true }
  const noteOf = (of: typeof lines): ReadonlyArray<Block> =>
    of.map((line) => ({
      kind: "aside",
      blocks: [asParagraph({ spans: spansOf([line], inline) })]
    }))
  return {
    head: noteOf(lines.filter(({ baseline }) => baseline < page.height / 2)),
    foot: noteOf(lines.filter(({ baseline }) => baseline >= page.height / 2))
  }
}
