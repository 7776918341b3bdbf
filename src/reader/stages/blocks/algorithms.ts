import { asList, asParagraph, type List } from "../../model/block.ts"
import { type InlineContext, spansOf } from "../lines/inline.ts"
import type { Line } from "../lines/line.ts"
import type { NumberedLines } from "../lines/numbered-lines.ts"

/** The steps of an algorithm as a list, by their numbers. */
export const algorithmOf = (
  { from, start, steps }: NumberedLines,
  lines: ReadonlyArray<Line>,
  context: InlineContext
): List =>
  asList(
    steps.map((step) => ({
      blocks: [asParagraph({ spans: spansOf(lines.slice(step.from, step.to), context, step.skip) })]
    })),
    { top: lines[from]?.y0, ordered: true, start: start === 1 ? undefined : start }
  )
