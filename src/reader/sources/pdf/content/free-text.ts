import type { Box, TextRun } from "../../../model/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { type Matrix, mapBox, round, roundBox } from "./geometry.ts"

// FPDF_ANNOT_FREETEXT, FPDF_ANNOT_FLAG_…
const FREE_TEXT = 3
const HIDDEN = 2
const NO_VIEW = 32

/** Limits on annotations, and on lines of one. */
const MAX_ANNOTATIONS = 1_000
const MAX_LINES = 200
/** Size of its letters, points, where it names none (`/Helv 11 Tf`) and its box asks for no smaller ones; a line's height in sizes. */
const SIZE = 12
const NAMED_SIZE = /(\d{1,3}(?:\.\d{1,6})?)\s+Tf\b/
const LEADING = 1.2
/** A letter's usual width, in sizes. */
const WIDTH = 0.5
/** How far below a line's top its baseline is, in sizes. */
const ASCENT = 0.9

const rectangleOf = ({ call, memory }: Pdfium, annotation: number, matrix: Matrix): Box | undefined => {
  const { scratch } = memory
  if (call.FPDFAnnot_GetRect(annotation, scratch) === 0) return undefined
  // FS_RECTF: left, top, right, bottom.
  const [left, top, right, bottom] = [0, 4, 8, 12].map((offset) => memory.float(scratch + offset))
  const box = mapBox(matrix, left ?? 0, bottom ?? 0, right ?? 0, top ?? 0)
  return Number.isFinite(box.x0 + box.x1 + box.y0 + box.y1) ? box : undefined
}

const runsOf = (text: string, appearance: string, box: Box, font: number): ReadonlyArray<TextRun> => {
  const lines = text.split(/\r\n?|\n/).slice(0, MAX_LINES)
  const named = Number(NAMED_SIZE.exec(appearance)?.[1] ?? 0) || SIZE
  const size = round(Math.max(1, Math.min(named, (box.y1 - box.y0) / (LEADING * lines.length))))
  return lines.flatMap((line, at): ReadonlyArray<TextRun> => {
    const words = line.replaceAll(/\s+/g, " ").trim()
    if (words === "") return []
    const y0 = box.y0 + at * LEADING * size
    const x1 = Math.min(box.x1, box.x0 + words.length * WIDTH * size)
    const step = (x1 - box.x0) / words.length
    return [
      {
        text: words,
        box: roundBox({ x0: box.x0, x1, y0, y1: y0 + size }),
        baseline: round(y0 + ASCENT * size),
        edges: Array.from({ length: words.length + 1 }, (_, edge) => round(box.x0 + edge * step)),
        font,
        size,
        angle: 0,
        color: 0,
        mcid: undefined,
        artifact: false,
        hyphenated: false,
        invisible: false
      }
    ]
  })
}

/**
 * What was typed onto a page (annotations of type FreeText): so people fill in and stamp a PDF. It is seen as the page's own text is.
 * `font`: of the page's text.
 */
export const readFreeText = (
  pdfium: Pdfium,
  page: number,
  matrix: Matrix,
  font: number
): ReadonlyArray<TextRun> => {
  const { call, memory } = pdfium
  const count = Math.min(MAX_ANNOTATIONS, call.FPDFPage_GetAnnotCount(page))
  return Array.from({ length: Math.max(0, count) }, (_, at) => at).flatMap((at) => {
    const annotation = call.FPDFPage_GetAnnot(page, at)
    if (annotation === 0) return []
    try {
      if (call.FPDFAnnot_GetSubtype(annotation) !== FREE_TEXT) return []
      if ((call.FPDFAnnot_GetFlags(annotation) & (HIDDEN | NO_VIEW)) !== 0) return []
      const box = rectangleOf(pdfium, annotation, matrix)
      const valueOf = (name: string) =>
        memory.withString(name, (key) =>
          memory.utf16((buffer, size) => call.FPDFAnnot_GetStringValue(annotation, key, buffer, size))
        )
      return box === undefined ? [] : runsOf(valueOf("Contents"), valueOf("DA"), box, font)
    } finally {
      call.FPDFPage_CloseAnnot(annotation)
    }
  })
}
