import { firstNotBefore, addTo } from "../../../../model/lists.ts"
import type { Drawing } from "../../../../model/page-content.ts"
import type { Segment } from "../../../lines/segment.ts"

/** Words begin and end this near to the sides of a ground that is drawn for them, points; cells have margins. */
const TIGHT = 1
/** A space at its end and the spaces within it are part of a ground, in font sizes. */
const SPACE = 1
/** Greatest height of a background, in font sizes: it has one line. */
const HIGH = 1.7
/** Limit on word backgrounds per page. Above it, the page has no tables. */
const MOST = 3000

/** Whether a drawing is a coloured ground: filled, without a line around it. */
export const isGround = (drawing: Drawing): drawing is Extract<Drawing, { readonly kind: "path" }> =>
  drawing.kind === "path" && drawing.filled && !drawing.stroked

interface Words {
  readonly x0: number
  readonly x1: number
  readonly baseline: number
  readonly size: number
}

/** Words by the whole points of their baselines, from left to right. */
const byBaseline = (segments: ReadonlyArray<Segment>): ReadonlyMap<number, ReadonlyArray<Words>> => {
  const lines = new Map<number, Array<Words>>()
  for (const { pieces, size } of segments)
    for (const { run, x0, x1 } of pieces)
      addTo(lines, Math.floor(run.baseline), { x0, x1, baseline: run.baseline, size })
  for (const line of lines.values()) line.sort((a, b) => a.x1 - b.x1)
  return lines
}

/** Whether words of one line fill a box from its left side to its right one. */
const isFilled = ({ box }: Drawing, line: ReadonlyArray<Words>): boolean => {
  let end = box.x0 + TIGHT
  const first = firstNotBefore(line, ({ x1 }) => x1 <= end)
  const before = line[first - 1]
  // The space between two phrases may belong to the second one's ground: no cell's words end at its border.
  if (before !== undefined && before.x1 > box.x0 - TIGHT) end += SPACE * before.size
  for (let at = first; at < line.length; at++) {
    const words = line[at]
    if (words === undefined || box.y1 - box.y0 > HIGH * words.size) return false
    if (words.baseline < box.y0 || words.baseline > box.y1) continue
    if (words.x0 > end) return false
    end = words.x1 + SPACE * words.size
    if (end >= box.x1) return true
  }
  return false
}

/**
 * Drawings without the coloured grounds of single words and phrases, as a highlighter or the colours of a program's source make
 * them: they border on each other like cells.
 */
export const withoutWordGrounds = (
  drawings: ReadonlyArray<Drawing>,
  segments: ReadonlyArray<Segment>
): ReadonlyArray<Drawing> => {
  const grounds = drawings.filter(isGround).length
  if (grounds === 0 || grounds > MOST) return drawings
  const lines = byBaseline(segments)
  return drawings.filter((drawing) => {
    if (!isGround(drawing)) return true
    const { y0, y1 } = drawing.box
    for (let at = Math.floor(y0); at <= y1 && at < y0 + 100; at++)
      if (isFilled(drawing, lines.get(at) ?? [])) return false
    return true
  })
}
