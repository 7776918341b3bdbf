import { greatest, least } from "../../../model/lists.ts"
import type { Box } from "../../../model/page-content.ts"

/** x' = a x + c y + e, y' = b x + d y + f. */
export interface Matrix {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly d: number
  readonly e: number
  readonly f: number
}

export const IDENTITY: Matrix = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 }

/** First `inner`, then `outer`. */
export const multiply = (inner: Matrix, outer: Matrix): Matrix => ({
  a: inner.a * outer.a + inner.b * outer.c,
  b: inner.a * outer.b + inner.b * outer.d,
  c: inner.c * outer.a + inner.d * outer.c,
  d: inner.c * outer.b + inner.d * outer.d,
  e: inner.e * outer.a + inner.f * outer.c + outer.e,
  f: inner.e * outer.b + inner.f * outer.d + outer.f
})

export const mapX = (m: Matrix, x: number, y: number): number => m.a * x + m.c * y + m.e
export const mapY = (m: Matrix, x: number, y: number): number => m.b * x + m.d * y + m.f

/** The upright rectangle around a mapped one. */
export const mapBox = (m: Matrix, x0: number, y0: number, x1: number, y1: number): Box => {
  if (m.b === 0 && m.c === 0) {
    const [left, right] = [m.a * x0 + m.e, m.a * x1 + m.e]
    const [top, bottom] = [m.d * y0 + m.f, m.d * y1 + m.f]
    return {
      x0: Math.min(left, right),
      y0: Math.min(top, bottom),
      x1: Math.max(left, right),
      y1: Math.max(top, bottom)
    }
  }
  const xs = [mapX(m, x0, y0), mapX(m, x1, y0), mapX(m, x0, y1), mapX(m, x1, y1)]
  const ys = [mapY(m, x0, y0), mapY(m, x1, y0), mapY(m, x0, y1), mapY(m, x1, y1)]
  return { x0: least(xs), y0: least(ys), x1: greatest(xs), y1: greatest(ys) }
}

/** How much a matrix enlarges, as one figure. */
export const scaleOf = (m: Matrix): number => Math.sqrt(Math.abs(m.a * m.d - m.b * m.c))

/** Rounds to hundredths of a point, below what is visible, so that rows and messages between threads stay short. */
export const round = (value: number): number => Math.round(value * 100) / 100 + 0

export const roundBox = (box: Box): Box => ({
  x0: round(box.x0),
  y0: round(box.y0),
  x1: round(box.x1),
  y1: round(box.y1)
})

/**
 * From PDF's user space (origin bottom left, not rotated) to the page as shown: crop box at the origin, y down, turned by
 * `rotation` quarter turns clockwise.
 */
export const pageMatrix = (crop: Box, rotation: number): Matrix => {
  switch (rotation & 3) {
    case 1:
      return { a: 0, b: 1, c: 1, d: 0, e: -crop.y0, f: -crop.x0 }
    case 2:
      return { a: -1, b: 0, c: 0, d: 1, e: crop.x1, f: -crop.y0 }
    case 3:
      return { a: 0, b: -1, c: -1, d: 0, e: crop.y1, f: crop.x1 }
    default:
      return { a: 1, b: 0, c: 0, d: -1, e: -crop.x0, f: crop.y1 }
  }
}
