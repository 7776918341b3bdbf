import { usualPlace } from "../../model/geometry.ts"
import type { Line } from "./line.ts"

/** Lines that end at one place which show where a justified text does, and the share of longer ones that stick out of it. */
const MIN_EVEN = 5
const EVEN = 0.2
const STICK_OUT = 0.15

/** Right edge of a column's lines: a few longer lines of a justified text, and things next to it, may extend beyond. */
export const rightEdge = (lines: ReadonlyArray<Line>, right: number): number => {
  const { count: most, place: edge } = usualPlace(lines.map(({ x1 }) => x1)) ?? { place: right, count: 0 }
  const longer = lines.filter(({ size, x1 }) => x1 > edge + 0.5 * size).length
  return most >= MIN_EVEN && most >= EVEN * lines.length && longer <= STICK_OUT * lines.length
    ? edge + 1
    : right
}
