import type { Box, Drawing } from "../../../../model/page-content.ts"
import { isGround } from "./word-grounds.ts"

/** Widest margin of a cell with a separate background, in points. */
const WIDEST = 12

/** A ground's colour and height, and one of its sides: to half a point. */
const sideOf = (color: number, { y0, y1 }: Box, x: number): string =>
  [color, ...[y0, y1, x].map((at) => Math.round(2 * at))].join(":")

/**
 * Drawings with one background for each cell: Word draws separate ones for the words and for the margins left and right
 * of them, which have no border between.
 */
export const withPaddedGrounds = (drawings: ReadonlyArray<Drawing>): ReadonlyArray<Drawing> => {
  const margins = new Map<string, Box>()
  for (const drawing of drawings) {
    if (!isGround(drawing) || drawing.box.x1 - drawing.box.x0 > WIDEST) continue
    margins.set(sideOf(drawing.color, drawing.box, drawing.box.x0), drawing.box)
    margins.set(sideOf(drawing.color, drawing.box, drawing.box.x1), drawing.box)
  }
  if (margins.size === 0) return drawings
  return drawings.map((drawing) => {
    if (!isGround(drawing) || drawing.box.x1 - drawing.box.x0 <= WIDEST) return drawing
    const { box, color } = drawing
    const x0 = margins.get(sideOf(color, box, box.x0))?.x0 ?? box.x0
    const x1 = margins.get(sideOf(color, box, box.x1))?.x1 ?? box.x1
    return { ...drawing, box: { ...box, x0, x1 } }
  })
}
