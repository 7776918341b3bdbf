import { liesIn, touches } from "../../model/geometry.ts"
import type { Box, PageContent } from "../../model/page-content.ts"
import type { Segment } from "../lines/segment.ts"
import { framesOf } from "../regions/figures/frames.ts"
import { isPath } from "../runs/strokes.ts"

/** How far letters may reach over a box's edge, points. */
export const SLACK = 2
/** Smallest sides of a box, points. */
const MIN_SIDE = 40
const MIN_HEIGHT = 18
/** What is taller, as a part of the page, is a column. */
const MAX_HEIGHT = 0.7
/** Most boxes of a page: more are tiles, cells or a map. */
const MOST_BOXES = 200
/** A background in the page's white is invisible. */
const WHITE = 0xff_ff_ff

/** Whether a box holds two lines of code or more, and its edge cuts no words: one line may be framed in the middle of a sentence. */
const holdsListing = (
  box: Box,
  segments: ReadonlyArray<Segment>,
  isCode: (segment: Segment) => boolean
): boolean => {
  let [first, lines] = [0, 0]
  for (const segment of segments) {
    if (!touches(segment, box, -SLACK)) continue
    if (!liesIn(segment, box, SLACK)) return false
    if (!isCode(segment)) continue
    if (lines === 0) first = segment.baseline
    if (lines === 0 || Math.abs(segment.baseline - first) > segment.size / 2) lines += 1
  }
  return lines > 1
}

/** Most lines of a label, and the length of its longest one; least mean length of the lines at its side. */
const LABEL_LINES = 3
const LABEL = 24
const PROSE = 28
/** How near two baselines of one row are, in font sizes. */
const SAME_ROW = 0.15

/** Whether a box holds a short label, such as a word of warning, and lines of prose at its side that are no row with it. */
const holdsLabel = (box: Box, segments: ReadonlyArray<Segment>): boolean => {
  const inside = segments.filter((segment) => touches(segment, box, -SLACK))
  const isShort = inside.every((one) => liesIn(one, box, SLACK) && one.characters <= LABEL)
  if (inside.length === 0 || inside.length > LABEL_LINES || !isShort) return false
  const beside = segments.filter((one) => one.y1 > box.y0 && one.y0 < box.y1 && !inside.includes(one))
  const letters = beside.reduce((sum, { characters }) => sum + characters, 0)
  const rows = inside.filter(({ baseline, size }) =>
    beside.some((one) => Math.abs(one.baseline - baseline) < SAME_ROW * size)
  )
  return beside.length > 1 && letters >= PROSE * beside.length && rows.length < inside.length
}

/** True when two boxes are side by side, or one above the other, without room between: they are cells. */
const areCells = (a: Box, b: Box): boolean =>
  touches(a, b, SLACK) && !liesIn(a, b, SLACK) && !liesIn(b, a, SLACK)

/**
 * Areas with a frame or a background that hold a listing or a label: they are read separately from the text next to them.
 * `isCode`: true for a segment in typewriter.
 */
export const boxesOf = (
  page: PageContent,
  segments: ReadonlyArray<Segment>,
  isCode: (segment: Segment) => boolean
): ReadonlyArray<Box> => {
  const grounds = page.drawings.flatMap((drawing) =>
    isPath(drawing) && drawing.filled && drawing.color !== WHITE ? [drawing.box] : []
  )
  const large = [...framesOf(page), ...grounds].filter(
    ({ x0, x1, y0, y1 }) => x1 - x0 > MIN_SIDE && y1 - y0 > MIN_HEIGHT && y1 - y0 < MAX_HEIGHT * page.height
  )
  if (large.length > MOST_BOXES) return []
  return large.filter(
    (box) =>
      (holdsListing(box, segments, isCode) || holdsLabel(box, segments)) &&
      !large.some((other) => areCells(box, other))
  )
}
