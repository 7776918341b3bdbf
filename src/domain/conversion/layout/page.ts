import type { FontFace } from "../page-content.ts"
import type { PageAnalysis } from "./analysis.ts"
import type { Block } from "./block.ts"
import { withCaptions } from "./captions.ts"
import { fieldsOf } from "./fields.ts"
import { figuresOf } from "./figures.ts"
import { flowBlocks, type FlowContext } from "./flow.ts"
import { withNoteReferences } from "./footnotes.ts"
import type { OutlineIndex } from "./headings.ts"
import { LinkIndex } from "./inline.ts"
import { type DocumentProfile, runningLines } from "./profile.ts"
import { readingOrder } from "./reading-order.ts"
import { ruledTables } from "./ruled-table.ts"
import { joinColumns } from "./seams.ts"
import { segmentsOf } from "./segment.ts"

/** What a page is laid out with. */
export interface PageContext {
  readonly fonts: ReadonlyArray<FontFace>
  readonly profile: DocumentProfile
  readonly outline: OutlineIndex
}

/** The blocks of a page that says nothing of its structure, by geometry alone. */
export const untaggedBlocks = (analysis: PageAnalysis, context: PageContext): ReadonlyArray<Block> => {
  const { page, readable } = analysis
  const { fonts, outline, profile } = context
  const links = new LinkIndex(readable.turn === 0 ? page.links : [])
  const flow: FlowContext = {
    inline: { fonts, links, ignoreBold: profile.bodyBold },
    heading: { profile, outline: outline.get(page.index), outlined: outline.size > 0 },
    bottomHalf: readable.turn === 0 ? page.height * 0.4 : -Infinity
  }
  const running = new Set([...runningLines(profile, analysis)].flatMap(({ segments }) => segments))
  const kept =
    running.size === 0 ? analysis.segments : analysis.segments.filter((segment) => !running.has(segment))
  const upright = readable.turn === 0
  const { placed: tables, taken } = upright
    ? ruledTables(page, kept, flow.inline)
    : { placed: [], taken: new Set() }
  const loose = taken.size === 0 ? kept : kept.filter((segment) => !taken.has(segment))
  const placed = upright
    ? [...tables, ...figuresOf(page, analysis.segments.length > 3), ...fieldsOf(page, analysis.rows)]
    : []
  const columns = readingOrder(loose, placed, profile.bodySize).map((leaf): ReadonlyArray<Block> =>
    leaf.kind === "placed" ? [leaf.placed.block] : flowBlocks(leaf.segments, leaf.x1, flow)
  )
  const aside = readable.turned.flatMap((runs) => {
    const segments = segmentsOf(runs)
    const right = segments.reduce((most, { x1 }) => Math.max(most, x1), -Infinity)
    return flowBlocks(segments, right, { ...flow, inline: { ...flow.inline, links: new LinkIndex([]) } }).map(
      (block): Block =>
        block.kind === "heading"
          ? {
              kind: "paragraph",
              spans: block.spans,
              lang: undefined,
              seam: { element: undefined, open: false, hyphenated: false }
            }
          : block
    )
  })
  const blocks = withCaptions(joinColumns(columns))
  // Notes stand last, in the order of the columns that they stood in.
  const notes = blocks.filter(({ kind }) => kind === "footnote")
  const text = notes.length === 0 ? blocks : blocks.filter(({ kind }) => kind !== "footnote")
  return withNoteReferences([...text, ...aside, ...notes])
}
