import { append } from "../../model/lists.ts"
import type { PageContent, TextRun, Box } from "../../model/page-content.ts"
import { isPath } from "../figures/strokes.ts"
import { middleY } from "../geometry.ts"
import { follows, type Marker } from "../lines/markers.ts"
import { type Block, type List, type ListItem, NO_SEAM } from "./block.ts"

/** A list item before lists are built. */
export interface LooseItem {
  /** Undefined for what goes on with an item above, whose marker stands there. */
  readonly marker: Marker | undefined
  /** Where its marker stands. */
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

/** Items within which a numbered list has to go on behind another one that stands inside of it without an indent. */
const GOES_ON_WITHIN = 40

/** Whether a numbered list goes on behind the items from `at` on, which stand where its own do. */
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

/** Sides of a bullet, points. */
const SMALLEST = 1.5
const LARGEST = 8
/** How far the words stand behind it, points. */
const NEAREST = 2
const FURTHEST = 26
/** Height of the slots in which lines are looked up, points. */
const SLOT = 8
/** More small shapes are a diagram's dots. */
const MOST = 300

/**
 * Recognises bullets that are drawn as shapes, as browsers print them: a small disc or square just before a line. Returns
 * letters.
 */
export const drawnBullets = (page: PageContent, runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  const shapes = page.drawings.filter(isPath).filter(({ box }) => {
    const [width, height] = [box.x1 - box.x0, box.y1 - box.y0]
    return width >= SMALLEST && width <= LARGEST && Math.abs(width - height) < 0.2 * width + 0.3
  })
  if (shapes.length === 0 || shapes.length > MOST) return []
  const slotOf = (box: Box): number => Math.floor(middleY(box) / SLOT)
  const slots = Map.groupBy(runs, (run) => slotOf(run.box))
  return shapes.flatMap(({ box }): ReadonlyArray<TextRun> => {
    const [y, slot] = [middleY(box), slotOf(box)]
    const level = [slot - 1, slot, slot + 1]
      .flatMap((near) => slots.get(near) ?? [])
      .filter(({ box: line }) => line.y0 < y && y < line.y1)
    const words = level.find(({ box: line }) => line.x0 - box.x1 > NEAREST && line.x0 - box.x1 < FURTHEST)
    if (words === undefined || level.some(({ box: line }) => line.x0 < box.x0 && line.x1 > box.x0 - FURTHEST))
      return []
    const at = { x0: box.x0, y0: words.box.y0, x1: box.x1, y1: words.box.y1 }
    return [{ ...words, text: "•", box: at, edges: [box.x0, box.x1], hyphenated: false, mcid: undefined }]
  })
}

/** White space after a bullet, in font sizes: more than after a word. */
const AFTER_BULLET = 0.6

/**
 * Word processors set the bullets of inner lists as the letter `o` of another face: those become bullets. Each is a run of its own
 * that stands before its words in the stream, with white space between.
 */
export const letterBullets = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> =>
  runs.map((run, at) => {
    if (run.text.trim() !== "o") return run
    const [before, words] = [runs[at - 1], runs[at + 1]]
    const begins = before === undefined || before.baseline !== run.baseline || before.box.x0 > run.box.x1
    const apart = words !== undefined && words.box.x0 - run.box.x1 > AFTER_BULLET * words.size
    return begins && apart && words.baseline === run.baseline && words.font !== run.font
      ? { ...run, text: "◦" }
      : run
  })
