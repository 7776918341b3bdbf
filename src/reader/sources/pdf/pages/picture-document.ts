import type { FileReader } from "../engine/file-reader.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { pdfError } from "../failure.ts"

/** What a picture's file begins with. */
const SIGNATURES: ReadonlyArray<readonly ["png" | "jpeg", Uint8Array]> = [
  ["png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ["jpeg", new Uint8Array([0xff, 0xd8, 0xff])]
]

/** Area of an A4 sheet, in square inches: most photographed sheets have this size. */
const SHEET = 97
/** Resolution of a screen, below which a picture shows less than a sheet. */
const SCREEN_DPI = 96

/** Which kind of picture a file is, by its first bytes; undefined: none. */
export const pictureKind = (file: FileReader): "png" | "jpeg" | undefined => {
  const head = new Uint8Array(Math.min(8, file.size))
  if (!file.read(head, 0)) return undefined
  return SIGNATURES.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte))?.[0]
}

/** The image object of a picture in a document; 0 where pdfium cannot decode it. */
const imageOf = (
  { call, memory }: Pdfium,
  document: number,
  file: FileReader,
  kind: "png" | "jpeg"
): number => {
  const bytes = call.malloc(file.size)
  const image = call.FPDFPageObj_NewImageObj(document)
  try {
    const isRead = bytes !== 0 && file.read(memory.bytes.subarray(bytes >>> 0, (bytes >>> 0) + file.size), 0)
    const set = kind === "png" ? call.EPDFImageObj_SetPng : call.EPDFImageObj_SetJpeg
    if (isRead && set(0, 0, image, bytes, file.size) !== 0) return image
    call.FPDFPageObj_Destroy(image)
    return 0
  } finally {
    call.free(bytes)
  }
}

/** Puts the whole image on a new page, as large as the sheet or screen that it probably shows. */
const place = ({ call, memory }: Pdfium, document: number, image: number): boolean => {
  const { scratch } = memory
  if (call.FPDFImageObj_GetImagePixelSize(image, scratch, scratch + 4) === 0) return false
  const [across, down] = [memory.uint(scratch), memory.uint(scratch + 4)]
  if (across === 0 || down === 0) return false
  const dpi = Math.max(SCREEN_DPI, Math.sqrt((across * down) / SHEET))
  const [width, height] = [(across / dpi) * 72, (down / dpi) * 72]
  const page = call.FPDFPage_New(document, 0, width, height)
  if (page === 0) return false
  try {
    return (
      call.FPDFImageObj_SetMatrix(image, width, 0, 0, height, 0, 0) !== 0 &&
      (call.FPDFPage_InsertObject(page, image), call.FPDFPage_GenerateContent(page) !== 0)
    )
  } finally {
    call.FPDF_ClosePage(page)
  }
}

/** Makes a document of a picture: its only page shows it. Throws `broken` where it cannot be decoded. */
export const openPicture = (pdfium: Pdfium, file: FileReader, kind: "png" | "jpeg"): number => {
  const { call } = pdfium
  const document = call.FPDF_CreateNewDocument()
  if (document === 0) throw pdfError("broken")
  const image = imageOf(pdfium, document, file, kind)
  if (image !== 0 && place(pdfium, document, image)) return document
  call.FPDF_CloseDocument(document)
  throw pdfError("broken")
}
