import type { Picture } from "../../../model/pdf-document.ts"
import { fileAccess } from "../engine/file-access.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import type { OpenPage } from "./document.ts"

/** FPDFBitmap_BGRA: the last of four bytes is alpha. */
const BGRA = 4
/** Limit on pixels of an image, a sheet at 300 dpi: larger ones are usually photographs, and take long. */
const MAX_PIXELS = 10_000_000
/** A pixel of another colour differs by more, summed over its bytes: decoders round. */
const ANOTHER = 96
/** Share of the pixels from which on others are seen. */
const OTHERS = 0.002

/** Offset of a bitmap's pixels, four bytes each; undefined where they have another form. */
const pixelsAt = ({ call }: Pdfium, bitmap: number) => {
  const start = bitmap === 0 ? 0 : call.FPDFBitmap_GetBuffer(bitmap) >>> 0
  if (start === 0 || call.FPDFBitmap_GetFormat(bitmap) !== BGRA) return undefined
  return { start, length: call.FPDFBitmap_GetStride(bitmap) * call.FPDFBitmap_GetHeight(bitmap) }
}

/** Whether two bitmaps show the same, but for a few pixels; what cannot be compared is taken for the same. */
const isSame = (pdfium: Pdfium, one: number, other: number): boolean => {
  const [a, b] = [pixelsAt(pdfium, one), pixelsAt(pdfium, other)]
  if (a === undefined || b === undefined) return true
  if (a.length !== b.length) return false
  const { bytes } = pdfium.memory
  let others = 0
  for (let at = 0; at < a.length; at += 4) {
    let apart = 0
    for (let byte = at; byte < at + 4; byte++)
      apart += Math.abs((bytes[a.start + byte] ?? 0) - (bytes[b.start + byte] ?? 0))
    if (apart > ANOTHER) others += 1
  }
  return others <= (OTHERS * a.length) / 4
}

/** A bitmap of a JPEG by itself at the place of an image: colour space, `Decode` and masks of the PDF are not applied. */
const aloneOf = (pdfium: Pdfium, document: number, image: number, { bytes }: Picture): number => {
  const { call, memory } = pdfium
  const alone = call.FPDFPageObj_NewImageObj(document)
  const access = fileAccess(pdfium, {
    size: bytes.length,
    read: (target, from) => {
      target.set(bytes.subarray(from, from + target.length))
      return from + target.length <= bytes.length
    }
  })
  try {
    const isPlaced =
      call.FPDFPageObj_GetMatrix(image, memory.scratch) !== 0 &&
      call.FPDFPageObj_SetMatrix(alone, memory.scratch) !== 0 &&
      call.FPDFImageObj_LoadJpegFileInline(0, 0, alone, access.pointer) !== 0
    return isPlaced ? call.FPDFImageObj_GetRenderedBitmap(document, 0, alone) : 0
  } finally {
    access.free()
    call.FPDFPageObj_Destroy(alone)
  }
}

/** Whether an image of the page looks as its JPEG does by itself: nothing masks it or turns its colours. */
export const looksAsShown = (
  pdfium: Pdfium,
  { document, page }: OpenPage,
  image: number,
  jpeg: Picture
): boolean => {
  if (jpeg.width * jpeg.height > MAX_PIXELS) return true
  const { call } = pdfium
  const empty = call.FPDF_CreateNewDocument()
  if (empty === 0) return true
  const alone = aloneOf(pdfium, empty, image, jpeg)
  const shown = call.FPDFImageObj_GetRenderedBitmap(document, page, image)
  try {
    return isSame(pdfium, alone, shown)
  } finally {
    for (const bitmap of [alone, shown]) if (bitmap !== 0) call.FPDFBitmap_Destroy(bitmap)
    call.FPDF_CloseDocument(empty)
  }
}
