import { type Block, type List, type ListItem, NO_SEAM } from "./block.ts"
import { follows, type Marker } from "./markers.ts"

/** A list item before items are put together. */
export interface LooseItem {
  readonly marker: Marker
  /** Where its marker stands. */
  readonly x0: number
  readonly blocks: ReadonlyArray<Block>
}

/** Markers of one list stand this near, points. */
const SAME_INDENT = 6
/** Deepest nesting; what goes on deeper stays on the last. */
const MAX_DEPTH = 8

interface OpenList {
  readonly x0: number
  readonly first: Marker
  last: Marker
  readonly items: Array<{ blocks: Array<Block> }>
}

const closed = ({ first, items }: OpenList): List => ({
  kind: "list",
  ordered: first.ordered,
  start: first.ordered && first.number !== undefined && first.number !== 1 ? first.number : undefined,
  style: first.style === "1" ? undefined : first.style,
  items: items.map((item): ListItem => ({ blocks: item.blocks })),
  seam: NO_SEAM
})

/** Puts items together to lists: one further right is nested, one that does not follow begins another list. */
export const listsOf = (items: ReadonlyArray<LooseItem>): ReadonlyArray<List> => {
  const done: Array<List> = []
  const open: Array<OpenList> = []
  const closeLast = () => {
    const last = open.pop()
    if (last === undefined) return
    const outer = open.at(-1)?.items.at(-1)
    if (outer === undefined) done.push(closed(last))
    else outer.blocks.push(closed(last))
  }
  for (const { blocks, marker, x0 } of items) {
    while (open.length > 0 && x0 < (open.at(-1)?.x0 ?? 0) - SAME_INDENT) closeLast()
    const last = open.at(-1)
    if (last !== undefined && (x0 <= last.x0 + SAME_INDENT || open.length >= MAX_DEPTH)) {
      if (follows(last.last, marker)) {
        last.items.push({ blocks: [...blocks] })
        last.last = marker
        continue
      }
      closeLast()
    }
    open.push({ x0, first: marker, last: marker, items: [{ blocks: [...blocks] }] })
  }
  while (open.length > 0) closeLast()
  return done
}
