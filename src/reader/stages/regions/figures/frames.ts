import type { Box, PageContent } from "../../../model/page-content.ts"
import { THIN, isPath } from "../../runs/strokes.ts"
import { NOTHING, type Region } from "./regions.ts"

/** Smallest sides of a frame, points. */
const MIN_SIDE = 40
/** How far the ends of rules that make a corner may be apart, points. */
const CORNER = 3
/** A page with more upright rules holds tables. */
const MOST_RULES = 200

const near = (a: number, b: number): boolean => Math.abs(a - b) <= CORNER

/**
 * Frames of a page: boxes drawn as one, and pairs of upright rules as tall as each other that level rules close. What is framed
 * may be a picture that was never pasted in.
 */
export const framesOf = ({ drawings }: PageContent): ReadonlyArray<Region> => {
  const upright: Array<Box> = []
  const level: Array<Box> = []
  const frames: Array<Region> = []
  const add = ({ x0, x1, y0, y1 }: Box, parts: number): void => {
    if (x1 - x0 < MIN_SIDE || y1 - y0 < MIN_SIDE) return
    frames.push({ ...NOTHING, x0, y0, x1, y1, drawings: parts, rules: parts, placed: false })
  }
  for (const drawing of drawings) {
    if (!isPath(drawing)) continue
    const { box } = drawing
    const [width, height] = [box.x1 - box.x0, box.y1 - box.y0]
    if (width < THIN && height >= MIN_SIDE) upright.push(box)
    else if (height < THIN && width >= MIN_SIDE) level.push(box)
    else if (drawing.stroked && !drawing.curved) add(box, 1)
    if (upright.length > MOST_RULES || level.length > MOST_RULES || frames.length > MOST_RULES) return []
  }
  for (const [at, left] of upright.entries())
    for (const right of upright.slice(at + 1)) {
      if (!near(left.y0, right.y0) || !near(left.y1, right.y1)) continue
      const [x0, x1] = [Math.min(left.x0, right.x0), Math.max(left.x1, right.x1)]
      const sides = level.filter((side) => near(side.x0, x0) && near(side.x1, x1))
      const [top, foot] = [left.y0, left.y1].map((y) => sides.some((side) => near(side.y0, y)))
      if (top === true && foot === true) add({ x0, x1, y0: left.y0, y1: left.y1 }, 4)
    }
  return frames
}
