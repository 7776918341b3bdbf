import type { Segment } from "../lines/segment.ts"

/** White before a word, in font sizes, where another cell may begin. */
export const LEAST_GAP = 0.2
/** How many lines have a cell's edge at one place. */
const LINES = 2
/** Height of the bands of a page in which edges of cells are looked for, points. */
const BAND = 120
/** Largest difference of baselines within a line, in font sizes. */
export const SAME_LINE = 0.35

/** Places along the width, to the point, by the band of the page. */
class Places {
  readonly #counts = new Map<string, number>()
  readonly #apart = new Set<string>()

  #keyOf(x: number, y: number, band = 0): string {
    return `${Math.round(x)}:${Math.floor(y / BAND) + band}`
  }

  /** `apart`: the white there is as wide as a column's. */
  add(x: number, y: number, apart: boolean): void {
    const key = this.#keyOf(x, y)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    if (apart) this.#apart.add(key)
  }

  has(x: number, y: number): boolean {
    const near = [-1, 0, 1].map((band) => this.#keyOf(x, y, band))
    const lines = near.reduce((sum, key) => sum + (this.#counts.get(key) ?? 0), 0)
    return lines >= LINES && near.some((key) => this.#apart.has(key))
  }
}

/**
 * Where words begin or end on several lines, on one of them beside wide white: cells that stand as near as words begin there, too,
 * or end where their column is set to the right.
 */
export class CellEdges {
  readonly #begins = new Places()
  readonly #ends = new Places()

  constructor(segments: ReadonlyArray<Segment>) {
    const left = segments.reduce((least, { x0 }) => Math.min(least, x0), Infinity)
    for (const [at, { baseline, pieces, size, x0, x1 }] of segments.entries()) {
      if (x0 > left + 1) this.#begins.add(x0, baseline, true)
      const next = segments[at + 1]
      if (next !== undefined && next.x0 > x1 && Math.abs(next.baseline - baseline) < SAME_LINE * size)
        this.#ends.add(x1, baseline, true)
      let end = Infinity
      for (const piece of pieces) {
        if (piece.raise === undefined && piece.x0 - end > LEAST_GAP * size) {
          this.#begins.add(piece.x0, baseline, false)
          this.#ends.add(end, baseline, false)
        }
        end = piece.x1
      }
    }
  }

  /** Whether one cell may end and another begin at these places. */
  has(end: number, begin: number, y: number): boolean {
    return this.#begins.has(begin, y) || this.#ends.has(end, y)
  }
}
