import { type Matrix, mapBox } from "../content/geometry.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import type { Style } from "./open-run.ts"

/** The character that is read: its baseline, its box, and where it begins and ends on its line. One a thread: no garbage. */
export const place = { x: 0, y: 0, across: 0, x0: 0, y0: 0, x1: 0, y1: 0, start: 0, end: 0 }

/** Height of the mathematical axis above the baseline, in font sizes. */
const AXIS = 0.25

/**
 * Writes the ink box of a hanging glyph to `place`, with the baseline that it would have on a line: brackets and sums
 * are centred on the axis.
 */
const readInk = ({ call, memory }: Pdfium, matrix: Matrix, text: number, at: number, size: number) => {
  const { scratch } = memory
  if (call.FPDFText_GetCharBox(text, at, scratch, scratch + 8, scratch + 16, scratch + 24) === 0) return
  const [left, right, bottom, top] = [0, 8, 16, 24].map((offset) => memory.double(scratch + offset))
  Object.assign(place, mapBox(matrix, left ?? 0, bottom ?? 0, right ?? 0, top ?? 0))
  place.y = (place.y0 + place.y1) / 2 + AXIS * size
  place.across = place.y
}

/** The box of a character of a page's text into `place`; its baseline where it has none. `matrix`: puts the text on the page. */
export const readBox = (pdfium: Pdfium, matrix: Matrix, text: number, at: number, style: Style) => {
  const { call, memory } = pdfium
  place.x0 = place.x1 = place.x
  place.y0 = place.y1 = place.y
  if (style.tex?.hanging === true && style.angle === 0) return readInk(pdfium, matrix, text, at, style.size)
  if (call.FPDFText_GetLooseCharBox(text, at, memory.scratch) === 0) return
  // FS_RECTF: left, top, right, bottom.
  const { floats } = memory
  const slot = memory.scratch >>> 2
  const left = floats[slot] ?? 0
  const top = floats[slot + 1] ?? 0
  const right = floats[slot + 2] ?? 0
  const bottom = floats[slot + 3] ?? 0
  const { a, b, c, d, e, f } = matrix
  if (b === 0 && c === 0) {
    place.x0 = a * left + e
    place.x1 = a * right + e
    place.y0 = d * top + f
    place.y1 = d * bottom + f
    if (place.x0 > place.x1) [place.x0, place.x1] = [place.x1, place.x0]
    if (place.y0 > place.y1) [place.y0, place.y1] = [place.y1, place.y0]
  } else Object.assign(place, mapBox(matrix, left, bottom, right, top))
}

/** Writes the begin and the end of the character along its line to `place`. */
export const readSpan = ({ angle, dx, dy }: Style) => {
  const { x0, x1, y0, y1 } = place
  place.start = x0
  place.end = x1
  if (angle === 0) return
  // Along a slanted line the upright box is too wide: what it has along the direction is the nearest to the width.
  const along = ((x0 + x1) / 2) * dx + ((y0 + y1) / 2) * dy
  const reach = Math.abs(dx) > Math.abs(dy) ? ((x1 - x0) * Math.abs(dx)) / 2 : ((y1 - y0) * Math.abs(dy)) / 2
  place.start = along - reach
  place.end = along + reach
}
