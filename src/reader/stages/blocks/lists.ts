import { type Block, type List, type ListItem, NO_SEAM } from "../../model/block.ts"
import { append } from "../../model/lists.ts"
import { follows, type Marker } from "../lines/markers.ts"

/** A list item before lists are built. */
export interface LooseItem {
  /** Undefined for the continuation of the item above, which has the marker. */
  readonly marker: Marker | undefined
  /** Left edge of its marker. */
  readonly x0: number
  readonly blocks: ReadonlyArray<Block>
}

/** Largest difference between the markers of one list, points. */
export const SAME_INDENT = 6
/** Deepest nesting; deeper items are put on the last level. */
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

/**
 * Greatest number of items of an inner list without an indent, behind which the outer numbered list has to continue.
 */
const GOES_ON_WITHIN = 40

/** True when a numbered list continues behind the items from `at` on, at the same left edge. */
const goesOn = ({ last, x0 }: OpenList, items: ReadonlyArray<LooseItem>, at: number): boolean => {
  for (const item of items.slice(at, at + GOES_ON_WITHIN)) {
    if (item.x0 < x0 - SAME_INDENT) return false
    if (item.x0 <= x0 + SAME_INDENT && item.marker?.ordered === true) return follows(last, item.marker)
  }
  return false
}

/**
 * Builds lists from items: one further right is nested, and so are bullets between a number and the next one; an item that does not
 * follow begins another list.
 */
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
  for (const [at, { blocks, marker, x0 }] of items.entries()) {
    const isAside = ({ x0: left }: OpenList): boolean => x0 > left + SAME_INDENT && open.length < MAX_DEPTH
    while (open.length > 0 && x0 < (open.at(-1)?.x0 ?? 0) - SAME_INDENT) closeLast()
    if (marker === undefined) {
      append(open.at(-1)?.items.at(-1)?.blocks ?? [], blocks)
      continue
    }
    for (let last = open.at(-1); last !== undefined && !isAside(last); last = open.at(-1)) {
      if (follows(last.last, marker)) break
      if (!marker.ordered && open.length < MAX_DEPTH && goesOn(last, items, at)) break
      closeLast()
    }
    const last = open.at(-1)
    if (last !== undefined && !isAside(last) && follows(last.last, marker)) {
      last.items.push({ blocks: [...blocks] })
      last.last = marker
    } else open.push({ x0, first: marker, last: marker, items: [{ blocks: [...blocks] }] })
  }
  while (open.length > 0) closeLast()
  return done
}
