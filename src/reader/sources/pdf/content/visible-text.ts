import type { Pdfium } from "../engine/pdfium.ts"
import { type Matrix, mapBox } from "./geometry.ts"

// FPDF_PAGEOBJ_TEXT, FPDF_TEXTRENDERMODE_FILL
const TEXT = 1
const FILL = 0

/** Limits on objects that are examined, and on marks around each. */
const MAX_OBJECTS = 32
const MAX_MARKS = 8
/** Ink that is certain to be seen at the resolution that blank pages are found with, points; spaces have none. */
const MIN_INK = 3
/** Darkest fill that still contrasts with white: no level of red, green and blue is higher. */
const MAX_LEVEL = 160
const MIN_ALPHA = 128

/** A page to examine. */
interface Looked {
  readonly page: number
  readonly width: number
  readonly height: number
  readonly matrix: Matrix
}

/** A layer may be switched off. */
const isInLayer = ({ call, memory }: Pdfium, object: number): boolean => {
  const count = call.FPDFPageObj_CountMarks(object)
  if (count > MAX_MARKS) return true
  return Array.from({ length: Math.max(0, count) }, (_, at) => call.FPDFPageObj_GetMark(object, at)).some(
    (mark) =>
      memory.utf16By((buffer, size, length) => call.FPDFPageObjMark_GetName(mark, buffer, size, length)) ===
      "OC"
  )
}

const isDark = ({ call, memory }: Pdfium, object: number): boolean => {
  const { scratch } = memory
  if (call.FPDFPageObj_GetFillColor(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0)
    return false
  return (
    [0, 4, 8].every((at) => memory.uint(scratch + at) <= MAX_LEVEL) && memory.uint(scratch + 12) >= MIN_ALPHA
  )
}

const isOnPage = ({ call, memory }: Pdfium, object: number, { height, matrix, width }: Looked): boolean => {
  const { scratch } = memory
  if (call.FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) return false
  const [left, bottom, right, top] = [0, 4, 8, 12].map((at) => memory.float(scratch + at))
  const box = mapBox(matrix, left ?? 0, bottom ?? 0, right ?? 0, top ?? 0)
  return (
    box.x0 >= 0 &&
    box.y0 >= 0 &&
    box.x1 <= width &&
    box.y1 <= height &&
    box.x1 - box.x0 >= MIN_INK &&
    box.y1 - box.y0 >= MIN_INK
  )
}

/**
 * Whether there is dark text near the beginning of a page: nearly every page with words on it, seen without drawing it, which
 * takes as long as all the rest. False proves nothing.
 */
export const showsText = (pdfium: Pdfium, page: Looked): boolean => {
  const { call } = pdfium
  const count = Math.min(MAX_OBJECTS, call.FPDFPage_CountObjects(page.page))
  for (let at = 0; at < count; at++) {
    const object = call.FPDFPage_GetObject(page.page, at)
    if (
      call.FPDFPageObj_GetType(object) === TEXT &&
      call.FPDFTextObj_GetTextRenderMode(object) === FILL &&
      isDark(pdfium, object) &&
      isOnPage(pdfium, object, page) &&
      !isInLayer(pdfium, object)
    )
      return true
  }
  return false
}
