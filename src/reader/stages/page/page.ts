import type { Block } from "../../model/block.ts"
import { flowBlocks } from "../blocks/flow.ts"
import { withNoteReferences } from "../blocks/footnotes.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { boxesOf } from "../order/boxes.ts"
import { type Leaf, readingOrder } from "../order/reading-order.ts"
import { withCaptions } from "./captions.ts"
import { type Claims, claimRegions } from "./detectors.ts"
import { withFrontMatter } from "./front-matter.ts"
import { type PageContext, type PageFacts, pageFacts } from "./page-context.ts"
import { withoutRepeatedTitles } from "./repeated-titles.ts"
import { joinColumns, withNotices } from "./seams.ts"
import { withTableNotes } from "./table-notes.ts"

/** Puts regions and the columns of free text in the order in which they are read. */
const orderOf = ({ free, placed }: Claims, { isCode, page, profile }: PageFacts): ReadonlyArray<Leaf> =>
  readingOrder(free, placed, profile.bodySize, { isCode, boxes: boxesOf(page, free, isCode) })

/** Reads the blocks of a column; a region is one. */
const columnOf = (leaf: Leaf, { flow }: PageFacts): ReadonlyArray<Block> =>
  leaf.kind === "placed"
    ? [{ ...leaf.placed.block, top: leaf.placed.y0 }]
    : flowBlocks(leaf.segments, leaf.x1, flow)

/** Moves footnotes to the end, in the order of their columns, behind content that is read after the text. */
const withNotesLast = (blocks: ReadonlyArray<Block>, { aside }: Claims): ReadonlyArray<Block> => {
  const notes = blocks.filter(({ kind }) => kind === "footnote")
  const text = notes.length === 0 ? blocks : blocks.filter(({ kind }) => kind !== "footnote")
  return [...text, ...aside, ...notes]
}

/** A step that looks at a page's blocks as a whole. */
interface BlockStage {
  readonly id: string
  readonly run: (blocks: ReadonlyArray<Block>, facts: PageFacts, claims: Claims) => ReadonlyArray<Block>
}

/** The stages that a page's blocks go through, in their order. */
export const BLOCK_STAGES: ReadonlyArray<BlockStage> = [
  { id: "notices", run: (blocks) => withNotices(blocks) },
  { id: "repeated-titles", run: (blocks) => withoutRepeatedTitles(blocks) },
  { id: "captions", run: (blocks) => withCaptions(blocks) },
  { id: "table-notes", run: (blocks) => withTableNotes(blocks) },
  { id: "front-matter", run: (blocks, { page }) => withFrontMatter(blocks, page.index) },
  { id: "notes-last", run: (blocks, _, claims) => withNotesLast(blocks, claims) },
  { id: "note-references", run: (blocks) => withNoteReferences(blocks) }
]

/** Reads the blocks of an untagged page by geometry alone. `contents`: true for a table of contents. */
export const untaggedBlocks = (
  analysis: PageAnalysis,
  context: PageContext,
  contents: boolean
): ReadonlyArray<Block> => {
  const facts = pageFacts(analysis, context, contents)
  const claims = claimRegions(facts)
  const columns = orderOf(claims, facts).map((leaf) => columnOf(leaf, facts))
  return BLOCK_STAGES.reduce((blocks, { run }) => run(blocks, facts, claims), joinColumns(columns))
}
