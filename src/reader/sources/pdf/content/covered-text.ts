import { liesIn } from "../../../model/geometry.ts"
import type { Box } from "../../../model/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"

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

/** How often texts are halved to tell those that are seen from the others: a page is drawn for each part. */
const DEPTH = 4

/** A page to examine. */
interface Looked {
  readonly page: number
  readonly width: number
  readonly height: number
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

/** Texts that something is drawn over later: it may be see-through, or cut off. */
const candidates = (pdfium: Pdfium, { height, page, width }: Looked): ReadonlyArray<number> => {
  const { call } = pdfium
  const count = Math.max(0, call.FPDFPage_CountObjects(page))
  if (count > MAX_OBJECTS) return []
  const covers: Array<Box> = []
  const below: Array<number> = []
  let [texts, pictures] = [0, 0]
  // From the last one drawn to the first.
  for (let at = count - 1; at >= 0; at--) {
    const object = call.FPDFPage_GetObject(page, at)
    const type = call.FPDFPageObj_GetType(object)
    if (type === TEXT) {
      if (call.FPDFTextObj_GetTextRenderMode(object) === INVISIBLE) continue
      texts += 1
      const box = covers.length === 0 ? undefined : boundsOf(pdfium, object)
      if (box !== undefined && covers.some((cover) => liesIn(box, cover, 1))) below.push(object)
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

/** The pixels of a page. */
const drawn = ({ call, memory }: Pdfium, { height, page, width }: Looked): Buffer | undefined => {
  const scale = SIDE / Math.max(width, height)
  const [across, down] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))]
  const bitmap = call.FPDFBitmap_CreateEx(across, down, COLOURS, 0, 0)
  if (bitmap === 0) return undefined
  try {
    call.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, WHITE)
    call.FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, 0, 0)
    const start = call.FPDFBitmap_GetBuffer(bitmap) >>> 0
    return Buffer.from(memory.bytes.subarray(start, start + down * call.FPDFBitmap_GetStride(bitmap)))
  } finally {
    call.FPDFBitmap_Destroy(bitmap)
  }
}

/**
 * Texts that are hidden below later drawings: the page looks the same without them. The text layer of a scan lies below its picture, too,
 * but is kept.
 */
export const coveredTexts = (pdfium: Pdfium, page: Looked): ReadonlyArray<number> => {
  const { call } = pdfium
  const found = candidates(pdfium, page)
  const whole = found.length === 0 ? undefined : drawn(pdfium, page)
  if (whole === undefined) return []
  const looksTheSame = (without: ReadonlyArray<number>): boolean => {
    for (const object of without) call.FPDFPageObj_SetIsActive(object, 0)
    const other = drawn(pdfium, page)
    for (const object of without) call.FPDFPageObj_SetIsActive(object, 1)
    return other !== undefined && whole.equals(other)
  }
  /** By halves, as long as few of them are seen. */
  const covered = (objects: ReadonlyArray<number>, depth: number): ReadonlyArray<number> => {
    if (objects.length === 0 || looksTheSame(objects)) return objects
    if (objects.length === 1 || depth === 0) return []
    const middle = objects.length >> 1
    return [...covered(objects.slice(0, middle), depth - 1), ...covered(objects.slice(middle), depth - 1)]
  }
  return covered(found, DEPTH)
}
