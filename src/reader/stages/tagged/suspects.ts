import { centreIn } from "../../model/geometry.ts"
import type { Box, TextRun } from "../../model/page-content.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { byMark, idsUnder } from "./tagged-content.ts"

/** Part of the narrower run's width that two of one column share. */
const SHARED = 0.5

const shared = (a: TextRun, b: TextRun): number =>
  (Math.min(a.box.x1, b.box.x1) - Math.max(a.box.x0, b.box.x0)) /
  Math.max(1, Math.min(a.box.x1 - a.box.x0, b.box.x1 - b.box.x0))

/**
 * How often the tags of a page go on to another line, and how often to a higher one of the same column: a reader goes down. Labels of
 * `figures` are in no such order.
 */
export const upwardMoves = (
  analysis: PageAnalysis,
  figures: ReadonlyArray<Box> = []
): { readonly up: number; readonly moves: number } => {
  const { main } = analysis.readable
  const marked = byMark(
    figures.length === 0 ? main : main.filter(({ box }) => !figures.some((figure) => centreIn(box, figure)))
  )
  const runs = idsUnder(analysis.page.structure).flatMap((id) => marked.get(id) ?? [])
  let [up, moves] = [0, 0]
  for (const [at, run] of runs.entries()) {
    const before = runs[at - 1]
    if (before === undefined || Math.abs(before.baseline - run.baseline) < run.size / 2) continue
    moves += 1
    if (run.baseline < before.baseline && shared(before, run) > SHARED) up += 1
  }
  return { up, moves }
}

/**
 * Whether a page is better read by its looks than by its tags: its author's program says of some of its content that it does not know
 * its order, or says so of the document, and the tags go up a column.
 */
export const areSuspect = (analysis: PageAnalysis): boolean =>
  analysis.readable.main.some(({ suspect }) => suspect === true) ||
  (analysis.page.suspects === true && upwardMoves(analysis).up > 0)
