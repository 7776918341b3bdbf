import { greatest, least, countUp } from "./lists.ts"
import type { Box } from "./page-content.ts"

/** From where to where something reaches along the width, points. */
type Across = Pick<Box, "x0" | "x1">

/** The middle of a box, across. */
export const middleX = ({ x0, x1 }: Across): number => (x0 + x1) / 2

/** The middle of a box, down. */
export const middleY = ({ y0, y1 }: Pick<Box, "y0" | "y1">): number => (y0 + y1) / 2

/** What boxes take up of the width. */
export const acrossOf = (boxes: ReadonlyArray<Across>): Across => {
  let [x0, x1] = [Infinity, -Infinity]
  for (const box of boxes) [x0, x1] = [Math.min(x0, box.x0), Math.max(x1, box.x1)]
  return { x0, x1 }
}

/** What is around boxes. */
export const hull = (boxes: ReadonlyArray<Box>): Box => ({
  ...acrossOf(boxes),
  y0: least(boxes.map(({ y0 }) => y0)),
  y1: greatest(boxes.map(({ y1 }) => y1))
})

/** The smallest box around two. */
export const joined = (a: Box, b: Box): Box => ({
  x0: Math.min(a.x0, b.x0),
  y0: Math.min(a.y0, b.y0),
  x1: Math.max(a.x1, b.x1),
  y1: Math.max(a.y1, b.y1)
})

/** True when the horizontal extents overlap, at any vertical distance. */
export const overlapAcross = (a: Across, b: Across): boolean => a.x0 < b.x1 && a.x1 > b.x0

/** True when the extent reaches beyond a place on both sides by more than `slack`. */
export const crosses = ({ x0, x1 }: Across, x: number, slack: number): boolean =>
  x0 < x - slack && x1 > x + slack

/** True when two boxes overlap, or are within `slack` of each other. */
export const touches = (a: Box, b: Box, slack = 0): boolean =>
  a.x0 < b.x1 + slack && a.x1 > b.x0 - slack && a.y0 < b.y1 + slack && a.y1 > b.y0 - slack

/** Whether a box lies in another, but for a little. */
export const liesIn = (inner: Box, outer: Box, slack: number): boolean =>
  inner.x0 > outer.x0 - slack &&
  inner.x1 < outer.x1 + slack &&
  inner.y0 > outer.y0 - slack &&
  inner.y1 < outer.y1 + slack

/** Whether a place lies in a box, or this near to it. */
const isAt = (box: Box, x: number, y: number, slack = 0): boolean =>
  x > box.x0 - slack && x < box.x1 + slack && y > box.y0 - slack && y < box.y1 + slack

/** Whether the middle of a box lies in another, or this near to it. */
export const centreIn = (inner: Box, outer: Box, slack = 0): boolean =>
  isAt(outer, middleX(inner), middleY(inner), slack)

/** The place, to the point, that most of some places are at, and how many are. */
export const usualPlace = (
  places: ReadonlyArray<number>
): { readonly place: number; readonly count: number } | undefined => {
  const counts = new Map<number, number>()
  for (const place of places) countUp(counts, Math.round(place))
  let best: { readonly place: number; readonly count: number } | undefined
  for (const [place, count] of counts) if (count > (best?.count ?? 0)) best = { place, count }
  return best
}
