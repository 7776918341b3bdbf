import type { Pdfium } from "../engine/pdfium.ts"

// FPDF_PAGEOBJ_…, FPDF_TEXTRENDERMODE_…
const TEXT = 1
const PATH = 2
const IMAGE = 3
const FORM = 5
const INVISIBLE = 3
const CLIP = 7

/**
 * Limits on objects that are drawn alone to find out whether they are shown, on nested forms, and on objects of one
 * form.
 */
const MAX_DRAWN = 50
const MAX_DEPTH = 4
const MAX_OBJECTS = 5_000

/** Pixels of the drawing's longer side: enough for a mark of a point's size to leave a trace. */
const SIDE = 400
/** FPDFBitmap_Gray, and the grounds on one of which everything can be seen. */
const GRAY = 1
const GROUNDS = [0xffffffff, 0xff000000]

/** The part of a page that is needed to draw it. */
interface Drawn {
  readonly page: number
  readonly width: number
  readonly height: number
}

/** True when an active object of a page is visible. */
const shows = ({ call, memory }: Pdfium, { height, page, width }: Drawn): boolean => {
  const scale = SIDE / Math.max(width, height)
  const [across, down] = [width, height].map((side) => Math.max(1, Math.round(side * scale)))
  if (across === undefined || down === undefined) return true
  return GROUNDS.some((ground) => {
    const bitmap = call.FPDFBitmap_CreateEx(across, down, GRAY, 0, 0)
    if (bitmap === 0) return true
    try {
      call.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, ground)
      call.FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, 0, 0)
      const stride = call.FPDFBitmap_GetStride(bitmap)
      const start = call.FPDFBitmap_GetBuffer(bitmap) >>> 0
      return Array.from({ length: down }, (_, row) => start + row * stride).some((row) =>
        memory.bytes.subarray(row, row + across).some((level) => level !== (ground & 0xff))
      )
    } finally {
      call.FPDFBitmap_Destroy(bitmap)
    }
  })
}

const childrenOf = ({ call }: Pdfium, form: number): ReadonlyArray<number> =>
  Array.from({ length: Math.min(MAX_OBJECTS, Math.max(0, call.FPDFFormObj_CountObjects(form))) }, (_, at) =>
    call.FPDFFormObj_GetObject(form, at)
  )

/**
 * True when an object is visible unless it is switched off. Invisible words, such as those behind a scan, do not count.
 */
const isToBeSeen = (pdfium: Pdfium, object: number, depth: number): boolean => {
  const { call } = pdfium
  const type = call.FPDFPageObj_GetType(object)
  if (type === TEXT) {
    const mode = call.FPDFTextObj_GetTextRenderMode(object)
    return mode !== INVISIBLE && mode !== CLIP
  }
  if (type === FORM)
    return depth < MAX_DEPTH && childrenOf(pdfium, object).some((one) => isToBeSeen(pdfium, one, depth + 1))
  return type === IMAGE || type === PATH
}

/**
 * The forms and images of a page that are in a layer which is off by their `OC` entry, and not by a mark around them.
 * pdfium does not report these, but does not draw them either: each is drawn alone to find out.
 */
export const hiddenObjects = (pdfium: Pdfium, drawn: Drawn): ReadonlySet<number> => {
  const { call } = pdfium
  const hidden = new Set<number>()
  let left = MAX_DRAWN
  const look = (objects: ReadonlyArray<number>, depth: number): void => {
    for (const one of objects) call.FPDFPageObj_SetIsActive(one, 0)
    for (const one of objects) {
      const type = call.FPDFPageObj_GetType(one)
      if ((type !== FORM && type !== IMAGE) || left-- <= 0) continue
      call.FPDFPageObj_SetIsActive(one, 1)
      if (!shows(pdfium, drawn)) {
        if (isToBeSeen(pdfium, one, depth)) hidden.add(one)
      } else if (type === FORM && depth < MAX_DEPTH) look(childrenOf(pdfium, one), depth + 1)
      call.FPDFPageObj_SetIsActive(one, 0)
    }
    for (const one of objects) call.FPDFPageObj_SetIsActive(one, 1)
  }
  const count = Math.min(MAX_OBJECTS, Math.max(0, call.FPDFPage_CountObjects(drawn.page)))
  look(
    Array.from({ length: count }, (_, at) => call.FPDFPage_GetObject(drawn.page, at)),
    0
  )
  return hidden
}

/** True when a page has forms or images. */
export const hasFormsOrImages = ({ call }: Pdfium, page: number): boolean => {
  const count = Math.min(MAX_OBJECTS, Math.max(0, call.FPDFPage_CountObjects(page)))
  for (let at = 0; at < count; at++) {
    const type = call.FPDFPageObj_GetType(call.FPDFPage_GetObject(page, at))
    if (type === FORM || type === IMAGE) return true
  }
  return false
}

/** An `OC` entry of an object, as pdfium writes it; a mark names the layer instead. */
const LAYER = /\/OC(?: \d+ 0 R|\s*<<)/

/** True when a document that pdfium wrote has an object with an `OC` entry. */
export const namesLayer = (pdf: Uint8Array): boolean =>
  LAYER.test(Buffer.from(pdf.buffer, pdf.byteOffset, pdf.length).toString("latin1"))
