import type { Matrix } from "../content/geometry.ts"
import { mapX, mapY } from "../content/geometry.ts"
import type { Pdfium } from "../engine/pdfium.ts"

/**
 * Vertical lines of upright Chinese, Japanese and Korean signs. pdfium places each sign on a line from the left, whether a font writes
 * downwards or a program has placed every sign.
 */

/** Whether a character is of a script that is also written downwards. */
export const mayBeStacked = (code: number): boolean =>
  code >= 0x2e80 &&
  (code < 0xa4d0 ||
    (code >= 0xac00 && code < 0xd7b0) ||
    (code >= 0xf900 && code < 0xfb00) ||
    (code >= 0xfe10 && code < 0xfe70) ||
    (code >= 0xff00 && code < 0xfff0) ||
    (code >= 0x1f000 && code < 0x40000))

/** The place of a sign in its column: it is a character of a line that is written downwards. */
export interface Cell {
  readonly x: number
  readonly y: number
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  readonly across: number
  readonly start: number
  readonly end: number
  /** It is the first one of its column. */
  readonly begins: boolean
}

/** The step from one sign to the next, in font sizes: least, greatest, and greatest within one text object. */
const NEAREST = 0.75
const FURTHEST = 1.35
const FURTHEST_OF_ONE = 2.2
/** How far off the middle of a column a sign of it may be, and figures that are put into one place of it, in its sizes. */
const OFF_MIDDLE = 0.2
const OFF_PLACE = 0.6
/** Fewest signs of a column that no other one proves, and the part of all from which on they prove the rest. */
const FEWEST = 3
const MOSTLY = 0.5
/** Height of a sign above its baseline, in its sizes. */
const ABOVE = 0.88
/** Most figures or letters in one place of a column. */
const MOST_IN_PLACE = 4

/** Whether a sign is below the one before it, by the corners of their boxes. */
export const standsBelow = (
  before: { readonly x0: number; readonly y0: number },
  sign: { readonly x0: number; readonly y0: number },
  size: number
): boolean =>
  Math.abs(sign.x0 - before.x0) < OFF_MIDDLE * size &&
  sign.y0 - before.y0 > NEAREST * size &&
  sign.y0 - before.y0 < FURTHEST_OF_ONE * size

/** A character and its place. */
interface Sign {
  readonly at: number
  readonly object: number
  readonly size: number
  /** The middle of its place, from left to right, and its baseline. */
  readonly middle: number
  readonly y: number
  readonly width: number
  readonly wide: boolean
}

interface TextOfPage {
  readonly text: number
  readonly count: number
  readonly matrix: Matrix
}

/** The upright characters of a page, without those that pdfium adds. */
const signsOf = ({ call, memory }: Pdfium, { count, matrix, text }: TextOfPage): ReadonlyArray<Sign> => {
  const { scratch } = memory
  const signs: Array<Sign> = []
  for (let at = 0; at < count; at++) {
    const object = call.FPDFText_GetTextObject(text, at)
    const code = call.FPDFText_GetUnicode(text, at) >>> 0
    if (object === 0 || code <= 0x20) continue
    if (call.FPDFText_GetMatrix(text, at, scratch) === 0) continue
    const [a, b, d] = [memory.float(scratch), memory.float(scratch + 4), memory.float(scratch + 12)]
    if (a <= 0 || d <= 0 || Math.abs(b) > 0.01 * a) continue
    const size = Math.abs(call.FPDFText_GetFontSize(text, at) * d)
    if (!(size > 0) || call.FPDFText_GetCharOrigin(text, at, scratch, scratch + 8) === 0) continue
    const [originX, originY] = [memory.double(scratch), memory.double(scratch + 8)]
    const x = mapX(matrix, originX, originY)
    const y = mapY(matrix, originX, originY)
    const wide = mayBeStacked(code)
    let width = size
    if (!wide && call.FPDFText_GetLooseCharBox(text, at, scratch) !== 0) {
      const slot = scratch >>> 2
      width = Math.abs((memory.floats[slot + 2] ?? 0) - (memory.floats[slot] ?? 0))
    }
    if (Number.isFinite(x + y + width))
      signs.push({ at, object, size, middle: x + width / 2, y, width, wide })
  }
  return signs
}

/** The places of a column: most have one sign, some a few figures side by side. */
type Column = Array<Array<Sign>>

const isNext = (before: Sign, sign: Sign, { middle, size }: Sign): boolean => {
  const step = (sign.y - before.y) / size
  return (
    (sign.wide ? Math.abs(sign.size - size) < 0.1 * size : sign.size < 1.1 * size) &&
    Math.abs(sign.middle - middle) < (sign.wide && before.wide ? OFF_MIDDLE : OFF_PLACE) * size &&
    step > NEAREST &&
    step < (before.object === sign.object ? FURTHEST_OF_ONE : FURTHEST)
  )
}

/** Whether two signs are neighbours on a line from the left. */
const areBeside = (a: Sign | undefined, b: Sign): boolean =>
  a !== undefined && Math.abs(a.y - b.y) < 0.3 * b.size && Math.abs(a.middle - b.middle) < 1.6 * b.size

/** Whether figures share a place of a column, of which the first sign is given. */
const isInPlace = (before: Sign, sign: Sign, { middle, size }: Sign): boolean =>
  !sign.wide && !before.wide && areBeside(before, sign) && Math.abs(sign.middle - middle) < OFF_PLACE * size

const columnsOf = (signs: ReadonlyArray<Sign>): ReadonlyArray<Column> => {
  const columns: Array<Column> = []
  for (const sign of signs) {
    const column = columns.at(-1)
    const last = column?.at(-1)
    const [first, before] = [column?.[0]?.[0], last?.at(-1)]
    const isOpen = column !== undefined && last !== undefined && first?.wide === true && before !== undefined
    if (isOpen && isInPlace(before, sign, first) && last.length < MOST_IN_PLACE) last.push(sign)
    else if (isOpen && isNext(before, sign, first)) column.push([sign])
    else columns.push([[sign]])
  }
  return columns
}

const isWide = (place: ReadonlyArray<Sign>): boolean => place.length === 1 && place[0]?.wide === true

const cellsOf = (column: Column): ReadonlyArray<readonly [number, Cell]> => {
  const wide = column.find(isWide)?.[0]
  if (wide === undefined) return []
  const { middle, size } = wide
  return column.flatMap((place, row) =>
    place.map(({ at, y }, index) => {
      const begins = row + index === 0
      const top = y - ABOVE * size
      const [start, end] = [top + (size * index) / place.length, top + (size * (index + 1)) / place.length]
      const [x0, x1] = [middle - size / 2, middle + size / 2]
      return [at, { x: x0, y, x0, y0: start, x1, y1: end, across: -x0, start, end, begins }] as const
    })
  )
}

/** The places of signs in columns, by their index. Linear in the characters of the page. */
export const stackedSigns = (pdfium: Pdfium, page: TextOfPage): ReadonlyMap<number, Cell> => {
  const { matrix } = page
  if (matrix.b !== 0 || matrix.c !== 0 || matrix.a <= 0) return new Map()
  const signs = signsOf(pdfium, page)
  const columns = columnsOf(signs)
  const sure = columns.filter((column) => column.filter(isWide).length >= FEWEST)
  const proven = sure.reduce((sum, column) => sum + column.length, 0)
  // The last sign of a paragraph, and one between two words in other letters, have no neighbour that proves them.
  const rest =
    proven < MOSTLY * signs.filter(({ wide }) => wide).length
      ? []
      : columns.filter((column) => !sure.includes(column) && column.some(isWide))
  const beside = new Set(
    signs.flatMap((sign, at) =>
      areBeside(signs[at - 1], sign) || areBeside(signs[at + 1], sign) ? [sign.at] : []
    )
  )
  const lone = rest.filter((column) => !column.some(([first]) => first !== undefined && beside.has(first.at)))
  return new Map([...sure, ...lone].flatMap(cellsOf))
}
