import { asParagraph, type Block } from "../../model/block.ts"
import { touches, hull } from "../../model/geometry.ts"
import { append } from "../../model/lists.ts"
import type { PageContent, Box } from "../../model/page-content.ts"
import type { Placed } from "../../model/placed.ts"
import { flowBlocks, type FlowContext } from "../blocks/flow.ts"
import { LinkIndex } from "../lines/inline.ts"
import type { TurnedRuns } from "../lines/readable-runs.ts"
import { type Segment, segmentsOf, lengthOf } from "../lines/segment.ts"
import { readingOrder } from "../order/reading-order.ts"
import { uprightPage } from "../runs/turned.ts"
import { withCaptions } from "./captions.ts"
import { tablesOn } from "./page-tables.ts"
import { joinColumns } from "./seams.ts"

/** Longest stamp in a margin, characters; more of text that is turned is a table or a drawing. */
const MAX_STAMP = 300
/** How far a table's rules reach over its words, points. */
const REACH = 20

const boxOf = ({ asShown }: TurnedRuns): Box => hull(asShown.map(({ box }) => box))

/** The blocks of text in one direction, its rules turned with it. */
const blocksOf = (page: PageContent, turned: TurnedRuns, context: FlowContext): ReadonlyArray<Block> => {
  const box = boxOf(turned)
  const drawings = page.drawings.filter((drawing) => touches(drawing.box, box, REACH))
  const upright = uprightPage({ ...page, runs: turned.asShown, drawings, fields: [] }, turned.turn)
  const flow: FlowContext = {
    ...context,
    inline: { ...context.inline, links: new LinkIndex([]) },
    bars: undefined
  }
  const { placed, rest } = tablesOn(upright, segmentsOf(upright.runs), new Set(), flow)
  const columns = readingOrder(rest, placed, context.heading.profile.bodySize).map((leaf) =>
    leaf.kind === "placed" ? [leaf.placed.block] : flowBlocks(leaf.segments, leaf.x1, flow)
  )
  return withCaptions(joinColumns(columns)).map((block) =>
    block.kind === "heading" ? asParagraph(block) : block
  )
}

/**
 * Turned text on a page of upright text. A table without upright words in it stays at its place; other turned text is
 * read last, and becomes a stamp where it is short.
 */
export const turnedText = (
  page: PageContent,
  directions: ReadonlyArray<TurnedRuns>,
  upright: ReadonlyArray<Segment>,
  context: FlowContext
): { readonly placed: ReadonlyArray<Placed>; readonly aside: ReadonlyArray<Block> } => {
  const placed: Array<Placed> = []
  const aside: Array<Block> = []
  for (const turned of directions) {
    const blocks = blocksOf(page, turned, context)
    const box = boxOf(turned)
    const isTable = blocks.some(({ kind }) => kind === "table")
    if (isTable && !upright.some((segment) => touches(segment, box)))
      append(
        placed,
        blocks.map((block) => ({ ...box, block }))
      )
    else if (isTable || lengthOf(turned.asShown) > MAX_STAMP) append(aside, blocks)
    else aside.push({ kind: "aside", blocks })
  }
  return { placed, aside }
}
