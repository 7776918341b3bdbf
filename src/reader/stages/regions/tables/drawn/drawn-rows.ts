import { countUp, greatest, least } from "../../../../model/lists.ts"
import type { FontFace } from "../../../../model/page-content.ts"
import { SAME_LINE } from "../../../lines/line.ts"
import {
  isSizedByTypewriter,
  partOf,
  type Piece,
  type Segment,
  isBoldThroughout
} from "../../../lines/segment.ts"
import { CELL_GAP } from "../cells/table-cells.ts"

/** Lines that are drawn one after the other, below one another: a cell, if it is in a table. */
export interface Drawn {
  readonly segments: Array<Segment>
  x0: number
  x1: number
  readonly size: number
  /** Baselines of its first and its last line. */
  first: number
  last: number
  /** Right edge of its last line. */
  end: number
}

export interface DrawnRow {
  readonly cells: Array<Drawn>
  top: number
  bottom: number
  right: number
}

/** The step to the next line of a cell, in font sizes. */
export const LINE_STEP = 2.1
/** Greatest step between lines of a row's first cell, relative to that of text: beyond it the next row may begin. */
export const FIRST_STEP = 1.15
/** A line this much larger or smaller than the one above, code apart, is not of its cell. */
const OTHER_SIZE = 1.15
/** White before a word, in font sizes, where another cell may begin, and how many begin there. */
const LEAST_GAP = 0.2
const BEGINNINGS = 2
/** Limit on cells in a row of column names. */
const MOST_NAMES = 60

/** Words that a run has on average where a line's words are written at once, as far as they look the same. */
const AT_ONCE = 2
const WORDS = /\S+/g

/** Whether lines are written at once: a run that begins within one for no reason of its looks is then a cell. */
const areWrittenAtOnce = (segments: ReadonlyArray<Segment>): boolean => {
  const pieces = segments.flatMap((segment) => segment.pieces)
  const words = pieces.reduce((sum, { text }) => sum + (text.match(WORDS)?.length ?? 0), 0)
  return words >= AT_ONCE * pieces.length
}

const looksLike = ({ run: a }: Piece, { run: b }: Piece): boolean =>
  a !== b && a.font === b.font && a.color === b.color && a.size === b.size

/** Height of the bands of a page in which beginnings of cells are looked for, points. */
const BAND = 120

/** By how much words end elsewhere, in points. */
const OTHER_END = 0.5

/** What begins at a place. */
interface Place {
  lines: number
  /** On one line after wide white space. */
  isApart: boolean
  /** On one line in a new run, though it looks as the words before; on one that is bold. */
  isCut: boolean
  isNamed: boolean
  /** Between where the words before it end: what follows the same words is below one another by itself. */
  firstEnd: number
  lastEnd: number
}

/**
 * Places where words begin on several lines, on one of them after wide white space, or in a new run that looks as the words before it:
 * cells that are as near as words begin there, too.
 */
export class Beginnings {
  /** By the place, to the point, and the band. */
  readonly #places = new Map<string, Place>()

  constructor(segments: ReadonlyArray<Segment>, fonts: ReadonlyArray<FontFace>) {
    const left = least(segments.map(({ x0 }) => x0))
    const atOnce = areWrittenAtOnce(segments)
    for (const segment of segments) {
      const { baseline, pieces, size, x0 } = segment
      if (x0 > left + 1) this.#count(x0, baseline).isApart = true
      let before: Piece | undefined
      let isBold: boolean | undefined
      for (const piece of pieces) {
        if (before !== undefined && piece.raise === undefined && piece.x0 - before.x1 > LEAST_GAP * size) {
          const place = this.#count(piece.x0, baseline)
          place.firstEnd = Math.min(place.firstEnd, before.x1)
          place.lastEnd = Math.max(place.lastEnd, before.x1)
          if (atOnce && looksLike(before, piece)) {
            place.isCut = true
            isBold ??= isBoldThroughout(segment, fonts)
            place.isNamed ||= isBold
          }
        }
        before = piece
      }
    }
  }

  #keyOf(x: number, y: number, band = 0): string {
    return `${Math.round(x)}:${Math.floor(y / BAND) + band}`
  }

  #count(x: number, y: number): Place {
    const key = this.#keyOf(x, y)
    const place = this.#places.get(key) ?? {
      lines: 0,
      isApart: false,
      isCut: false,
      isNamed: false,
      firstEnd: Infinity,
      lastEnd: -Infinity
    }
    this.#places.set(key, place)
    place.lines += 1
    return place
  }

  /** Whether a cell may begin at a place. */
  has(x: number, y: number): boolean {
    const near = [-1, 0, 1].flatMap((band) => this.#places.get(this.#keyOf(x, y, band)) ?? [])
    const lines = near.reduce((sum, place) => sum + place.lines, 0)
    if (lines < BEGINNINGS) return false
    if (near.some(({ isApart }) => isApart)) return true
    const ends = greatest(near.map(({ lastEnd }) => lastEnd)) - least(near.map(({ firstEnd }) => firstEnd))
    return ends > OTHER_END && near.some(({ isCut, isNamed }) => isNamed || (isCut && lines > BEGINNINGS))
  }
}

/** Cuts a segment where cells begin. */
export const cutBefore = (segment: Segment, places: Beginnings): ReadonlyArray<Segment> => {
  const { baseline, pieces, size } = segment
  if (pieces.length < 2) return [segment]
  const parts: Array<Array<Piece>> = []
  let end = -Infinity
  for (const piece of pieces) {
    const begins =
      piece.raise === undefined && piece.x0 - end > LEAST_GAP * size && places.has(piece.x0, baseline)
    if (begins || parts.length === 0) parts.push([piece])
    else parts.at(-1)?.push(piece)
    end = Math.max(end, piece.x1)
  }
  return parts.length < 2 ? [segment] : parts.map((of) => partOf(segment, of))
}

const opened = (segment: Segment): Drawn => ({
  segments: [segment],
  x0: segment.x0,
  x1: segment.x1,
  size: segment.size,
  first: segment.baseline,
  last: segment.baseline,
  end: segment.x1
})

/** What is known of a page's segments before its rows are read. */
interface Looks {
  readonly fonts: ReadonlyArray<FontFace>
  readonly places: Beginnings
  /** How far lines of text are apart, in font sizes. */
  readonly step: number
}

/** The step from line to line that is met most often, in font sizes. */
export const usualStep = (segments: ReadonlyArray<Segment>): number => {
  const counts = new Map<number, number>()
  for (const [at, { baseline, size, x0, x1 }] of segments.entries()) {
    const above = segments[at - 1]
    if (above === undefined || x0 >= above.x1 || x1 <= above.x0) continue
    const step = Math.round((20 * (baseline - above.baseline)) / size) / 20
    if (step > 0.8 && step <= LINE_STEP) countUp(counts, step)
  }
  return [...counts].sort(([a, x], [b, y]) => y - x || a - b)[0]?.[0] ?? LINE_STEP
}

/** Whether a segment continues what was drawn before it: on the same line, or on the next. `left`: where the cell before ends. */
const continues = (drawn: Drawn, segment: Segment, left: number, { fonts, places, step }: Looks): boolean => {
  const { baseline, size, x0, x1 } = segment
  const down = baseline - drawn.last
  if (Math.abs(down) <= SAME_LINE * drawn.size) {
    const begins = x0 - drawn.end > LEAST_GAP * size && places.has(x0, baseline)
    return !begins && x0 >= drawn.end - SAME_LINE * drawn.size && x0 - drawn.end <= CELL_GAP * drawn.size
  }
  const most = left > -Infinity ? LINE_STEP : Math.min(LINE_STEP, FIRST_STEP * step)
  if (down <= 0 || down > most * Math.max(size, drawn.size) || x0 < left - 1) return false
  if (x0 >= drawn.x1 || x1 <= drawn.x0) return false
  const [small, large] = size < drawn.size ? [segment, drawn] : [drawn.segments.at(-1) ?? segment, segment]
  return large.size <= OTHER_SIZE * small.size || isSizedByTypewriter(small, fonts)
}

const extend = (drawn: Drawn, segment: Segment): void => {
  drawn.segments.push(segment)
  drawn.x0 = Math.min(drawn.x0, segment.x0)
  drawn.x1 = Math.max(drawn.x1, segment.x1)
  drawn.last = Math.max(drawn.last, segment.baseline)
  drawn.end = segment.x1
}

/** Whether the last words of each cell are bold: names of columns. */
const isBoldRow = ({ cells }: DrawnRow, fonts: ReadonlyArray<FontFace>): boolean =>
  cells.every(({ segments }) => {
    const last = segments.at(-1)
    return last !== undefined && isBoldThroughout(last, fonts)
  })

/** Rows of cells in drawing order: each cell right of the one before it, each row below the one before. */
export const rowsOf = (
  segments: ReadonlyArray<Segment>,
  looks: Looks
): ReadonlyArray<ReadonlyArray<DrawnRow>> => {
  const sequences: Array<Array<DrawnRow>> = []
  let row: DrawnRow | undefined
  let above = -Infinity
  let left = -Infinity
  let drawn: Drawn | undefined
  for (const segment of segments) {
    const { baseline, size, x0, x1 } = segment
    const isNamed =
      row !== undefined &&
      row.cells.length > 1 &&
      row.cells.length < MOST_NAMES &&
      isBoldRow(row, looks.fonts)
    const isNext = isNamed && !isBoldThroughout(segment, looks.fonts)
    if (row !== undefined && drawn !== undefined && !isNext && continues(drawn, segment, left, looks)) {
      extend(drawn, segment)
      row.bottom = Math.max(row.bottom, baseline)
      row.right = Math.max(row.right, x1)
      continue
    }
    const within = SAME_LINE * size
    drawn = opened(segment)
    if (
      row !== undefined &&
      x0 >= row.right - 1 &&
      baseline <= row.bottom + within &&
      baseline > above + within
    ) {
      left = row.right
      row.cells.push(drawn)
      row.top = Math.min(row.top, baseline)
      row.bottom = Math.max(row.bottom, baseline)
      row.right = Math.max(row.right, x1)
      continue
    }
    const isBelow: boolean = row !== undefined && baseline > row.bottom + 0.5 * size
    above = isBelow && row !== undefined ? row.bottom : -Infinity
    left = -Infinity
    row = { cells: [drawn], top: baseline, bottom: baseline, right: x1 }
    if (isBelow) sequences.at(-1)?.push(row)
    else sequences.push([row])
  }
  return sequences
}
