import type { Block } from "../../model/block.ts"
import { centreIn } from "../../model/geometry.ts"
import { addTo } from "../../model/lists.ts"
import type { Box, Drawing, StructureElement, TextRun } from "../../model/page-content.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { beginsInCode, segmentText, piecesOf } from "../lines/segment.ts"
import type { PageContext } from "../page/page-context.ts"
import { drawnFigures } from "../regions/figures/drawn-figures.ts"
import { idsUnder, isStructure, idsIn } from "./tagged-content.ts"

/** The drawings of a tagged page, found by geometry. */
interface TaggedDrawings {
  /** By the marked content next to them. */
  readonly beside: ReadonlyMap<number, ReadonlyArray<Block>>
  readonly words: ReadonlySet<TextRun>
  readonly drawn: ReadonlySet<Drawing>
}

/** Elements that tell more of their words than a drawing's label needs. */
const TOLD = /^(?:H[1-6]?|Title|L|Table|TOC|Formula|Note|FENote|Code)$/

/** True when a drawing must leave an element alone: an element with more meaning, or a picture with words. */
const isTold = ({ actualText, alt, children, type }: StructureElement): boolean =>
  TOLD.test(type) ||
  (type === "Figure" &&
    ((alt ?? actualText) !== undefined ||
      children.some((child) => isStructure(child) && child.type === "Caption")))

/** The words right above a place. */
const wordsAbove = ({ x0, x1, y0 }: Box, runs: ReadonlyArray<TextRun>): TextRun | undefined => {
  let last: TextRun | undefined
  for (const run of runs) {
    const isAbove = run.baseline <= y0 && run.box.x0 < x1 && run.box.x1 > x0
    if (isAbove && (last === undefined || run.baseline > last.baseline)) last = run
  }
  return last
}

/**
 * Figures that are drawn on a tagged page. Programs tag each part of a drawing as a picture and each of its words as a
 * paragraph, often at the page's beginning. Such a drawing is shown whole, with its words as labels, next to its
 * caption, else below the words above it, else at the tag of its first part. `accounted`: the words that are tagged.
 */
export const taggedDrawings = (
  { page, segments }: PageAnalysis,
  accounted: ReadonlyArray<TextRun>,
  { fonts, profile }: PageContext
): TaggedDrawings => {
  const { placed, taken } = drawnFigures(page, segments, profile.bodySize, beginsInCode(fonts))
  const beside = new Map<number, Array<Block>>()
  const words = new Set<TextRun>()
  const drawn = new Set<Drawing>()
  if (placed.length === 0) return { beside, words, drawn }
  const told = new Set(idsIn(page.structure, isTold))
  const order = idsUnder(page.structure)
  for (const { block, ...box } of placed) {
    const labels = piecesOf([...taken].filter((segment) => centreIn(segment, box))).map(({ run }) => run)
    const parts = page.drawings.filter((drawing) => centreIn(drawing.box, box))
    const ids = new Set([...labels, ...parts].flatMap(({ mcid }) => mcid ?? []))
    if ([...ids].some((id) => told.has(id)) || page.fields.some((field) => centreIn(field.box, box))) continue
    const start = block.kind === "figure" ? block.captionStart : undefined
    // Pictures without lines stay where they are tagged.
    if (start === undefined && parts.every(({ kind }) => kind === "image")) continue
    const caption = segments.find((segment) => segmentText(segment).trim() === start)
    const partIds = new Set(parts.flatMap(({ mcid }) => mcid ?? []))
    const place =
      caption?.pieces[0]?.run.mcid ?? wordsAbove(box, accounted)?.mcid ?? order.find((id) => partIds.has(id))
    if (place === undefined || !order.includes(place)) continue
    addTo(beside, place, block)
    for (const run of labels) words.add(run)
    for (const part of parts) drawn.add(part)
  }
  return { beside, words, drawn }
}
