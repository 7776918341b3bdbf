import { type InlineContext, spansOf } from "../lines/inline.ts"
import type { Line } from "../lines/line.ts"
import type { NumberedLines } from "../lines/numbered-lines.ts"
import { type List, NO_SEAM } from "./block.ts"

/** The steps of an algorithm as a list, by their numbers. */
export const algorithmOf = (
  { from, start, steps }: NumberedLines,
  lines: ReadonlyArray<Line>,
  context: InlineContext
): List => ({
  kind: "list",
  top: lines[from]?.y0,
  ordered: true,
  start: start === 1 ? undefined : start,
  style: undefined,
  items: steps.map((step) => ({
    blocks: [
      {
        kind: "paragraph",
        spans: spansOf(lines.slice(step.from, step.to), context, step.skip),
        seam: NO_SEAM,
        lang: undefined
      }
    ]
  })),
  seam: NO_SEAM
})
