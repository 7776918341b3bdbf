import { liesIn } from "../../../model/geometry.ts"
import type { Box } from "../../../model/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { type Matrix, mapBox } from "./geometry.ts"

// FPDF_PAGEOBJ_…, FPDF_TEXTRENDERMODE_INVISIBLE
const TEXT = 1
const PATH = 2
const IMAGE = 3
const INVISIBLE = 3

/** Limits on objects of a page that are examined, and on covers among them. */
const MAX_OBJECTS = 20_000
const MAX_COVERS = 200
/** Pictures that cover more of the page are a scan, and the text below them is its text layer. */
const MOST_COVERED = 0.5
/** Most of the page's texts that may be covered: more are a text layer. */
const MOST_TEXTS = 0.5
/** Smallest side of what covers words, points. */
const MIN_SIDE = 4
/** Pixels of the drawing's longer side: a letter of the smallest print leaves a trace. */
const SIDE = 1_000
/** FPDFBitmap_BGRx */
const COLOURS = 3
const WHITE = 0xffffffff

/** A page to examine. */
interface Looked {
  readonly page: number
  readonly width: number
  readonly height: number
  /** From the page's coordinates to those of its drawing, in points. */
  readonly matrix: Matrix
}

const boundsOf = ({ call, memory }: Pdfium, object: number): Box | undefined => {
  const { scratch } = memory
  if (call.FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0)
    return undefined
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = [0, 4, 8, 12].map((at) => memory.float(scratch + at))
  return { x0, y0, x1, y1 }
}

const isFilled = ({ call, memory }: Pdfium, object: number): boolean => {
  const { scratch } = memory
  return call.FPDFPath_GetDrawMode(object, scratch, scratch + 4) !== 0 && memory.int(scratch) !== 0
}

const areaOf = ({ x0, x1, y0, y1 }: Box): number => (x1 - x0) * (y1 - y0)

/** A text object and its box, in the page's coordinates. */
interface Text {
  readonly object: number
  readonly box: Box
}

/** Texts that something is drawn over later: it may be see-through, or cut off. */
const candidates = (pdfium: Pdfium, { height, page, width }: Looked): ReadonlyArray<Text> => {
  const { call } = pdfium
  const count = Math.max(0, call.FPDFPage_CountObjects(page))
  if (count > MAX_OBJECTS) return []
  const covers: Array<Box> = []
  const below: Array<Text> = []
  let [texts, pictures] = [0, 0]
  // From the last one drawn to the first.
  for (let at = count - 1; at >= 0; at--) {
    const object = call.FPDFPage_GetObject(page, at)
    const type = call.FPDFPageObj_GetType(object)
    if (type === TEXT) {
      if (call.FPDFTextObj_GetTextRenderMode(object) === INVISIBLE) continue
      texts += 1
      const box = covers.length === 0 ? undefined : boundsOf(pdfium, object)
      if (box !== undefined && covers.some((cover) => liesIn(box, cover, 1))) below.push({ object, box })
    } else if (type === IMAGE || (type === PATH && isFilled(pdfium, object))) {
      const box = boundsOf(pdfium, object)
      if (box === undefined || box.x1 - box.x0 < MIN_SIDE || box.y1 - box.y0 < MIN_SIDE) continue
      if (type === IMAGE) pictures += areaOf(box)
      if (areaOf(box) < MOST_COVERED * width * height && covers.length < MAX_COVERS) covers.push(box)
    }
  }
  const isScan = pictures > MOST_COVERED * width * height || below.length > MOST_TEXTS * texts
  return isScan ? [] : below
}

/** A drawing of a page: rows of `stride` bytes, four a pixel. */
interface Picture {
  readonly bytes: Buffer
  readonly stride: number
  readonly across: number
  readonly down: number
  /** Pixels a point. */
  readonly scale: number
}

const draw = ({ call, memory }: Pdfium, { height, page, width }: Looked): Picture | undefined => {
  const scale = SIDE / Math.max(width, height)
  const [across, down] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))]
  const bitmap = call.FPDFBitmap_CreateEx(across, down, COLOURS, 0, 0)
  if (bitmap === 0) return undefined
  try {
    call.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, WHITE)
    call.FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, 0, 0)
    const start = call.FPDFBitmap_GetBuffer(bitmap) >>> 0
    const stride = call.FPDFBitmap_GetStride(bitmap)
    return {
      bytes: Buffer.from(memory.bytes.subarray(start, start + down * stride)),
      stride,
      across,
      down,
      scale
    }
  } finally {
    call.FPDFBitmap_Destroy(bitmap)
  }
}

/** Whether two drawings of a page are alike within a box, and a pixel around it; a box beyond the page shows nothing. */
const areAlike = (one: Picture, other: Picture, { x0, x1, y0, y1 }: Box): boolean => {
  const { across, bytes, down, scale, stride } = one
  const [left, right] = [Math.max(0, Math.floor(x0 * scale) - 1), Math.min(across, Math.ceil(x1 * scale) + 1)]
  const [top, bottom] = [Math.max(0, Math.floor(y0 * scale) - 1), Math.min(down, Math.ceil(y1 * scale) + 1)]
  if (left >= right || top >= bottom) return false
  for (let row = top; row < bottom; row++) {
    const [from, to] = [row * stride + 4 * left, row * stride + 4 * right]
    if (bytes.compare(other.bytes, from, to, from, to) !== 0) return false
  }
  return true
}

/**
 * Texts that are hidden below later drawings: without all that may be, the page looks the same at their place. The text layer of a scan
 * lies below its picture, too, but is kept. A page is drawn twice at most.
 */
export const coveredTexts = (pdfium: Pdfium, page: Looked): ReadonlyArray<number> => {
  const { call } = pdfium
  const found = candidates(pdfium, page)
  const whole = found.length === 0 ? undefined : draw(pdfium, page)
  if (whole === undefined) return []
  for (const { object } of found) call.FPDFPageObj_SetIsActive(object, 0)
  const without = draw(pdfium, page)
  for (const { object } of found) call.FPDFPageObj_SetIsActive(object, 1)
  if (without === undefined) return []
  return found.flatMap(({ box, object }) =>
    areAlike(whole, without, mapBox(page.matrix, box.x0, box.y0, box.x1, box.y1)) ? [object] : []
  )
}
