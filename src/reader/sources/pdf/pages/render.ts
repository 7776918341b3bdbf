import { MAX_PICTURE_PIXELS, type Picture } from "../../../model/pdf-document.ts"
import type { GreyPicture, Turn } from "../../../model/recognised-text.ts"
import { readObjects } from "../content/drawings.ts"
import { encodePng, type Pixels, shrink } from "../content/png.ts"
import { holdsText } from "../content/undrawn-text.ts"
import { showsText } from "../content/visible-text.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { pdfError } from "../failure.ts"
import type { OpenDocument, OpenPage } from "./document.ts"
import { looksAsShown } from "./own-jpeg.ts"

// FPDFBitmap_…: bytes a pixel by format.
const GRAY = 1
const BGR = 2
const BYTES_PER_PIXEL: Readonly<Record<number, number>> = { 1: 1, 2: 3, 3: 4, 4: 4, 5: 4 }
/** FPDF_ANNOT: annotations are drawn, too. */
export const ANNOTATIONS = 1
export const WHITE = 0xffffffff

/** Most pixels of a drawn page's side. */
const MAX_SIDE = 16_000

/** Resolution at which a page is drawn for recognition. A higher one does not improve the result. */
const SCAN_DPI = 200
/** Resolution and number of grey levels of a page picture that is shown next to its text. */
const SHOWN_DPI = 110
const SHOWN_STEP = 17

/** Enough to see whether there is anything, quick enough to ask of every page. */
const BLANK_DPI = 24
/** Invisible difference of grey levels. */
const BLANK_SPREAD = 5

/** Most pixels of an image that is decoded at all. */
const MAX_IMAGE_PIXELS = 100_000_000
/** A JPEG that is larger is decoded and made smaller. */
const MAX_JPEG_BYTES = 4 * 1024 * 1024
/** FPDF_COLORSPACE_… of JPEGs that every browser shows: grey, RGB, ICC. */
const PLAIN_COLOR_SPACES = new Set([1, 2, 4, 5, 7])

/** Rows of a bitmap of pdfium's without padding and alpha, red first. */
export const pixelsOf = ({ call, memory }: Pdfium, bitmap: number): Pixels | undefined => {
  const [width, height] = [call.FPDFBitmap_GetWidth(bitmap), call.FPDFBitmap_GetHeight(bitmap)]
  const stride = call.FPDFBitmap_GetStride(bitmap)
  const size = BYTES_PER_PIXEL[call.FPDFBitmap_GetFormat(bitmap)]
  const start = call.FPDFBitmap_GetBuffer(bitmap) >>> 0
  if (size === undefined || start === 0 || width <= 0 || height <= 0) return undefined
  const bytes = memory.bytes.subarray(start, start + stride * height)
  const channels = size === 1 ? 1 : 3
  const data = new Uint8Array(width * height * channels)
  let to = 0
  for (let y = 0; y < height; y++)
    for (let x = 0, from = y * stride; x < width; x++, from += size) {
      if (channels === 1) {
        data[to++] = bytes[from] ?? 0
        continue
      }
      data[to++] = bytes[from + 2] ?? 0
      data[to++] = bytes[from + 1] ?? 0
      data[to++] = bytes[from] ?? 0
    }
  return { width, height, channels, data }
}

/** How the page is drawn: at this resolution or the one that the limits allow, turned clockwise. */
interface Drawn {
  readonly dpi: number
  readonly format: number
  readonly turn?: Turn
}

const renderPixels = (
  pdfium: Pdfium,
  { form, page, ...size }: OpenPage,
  { dpi, format, turn = 0 }: Drawn
) => {
  const { call } = pdfium
  const [width, height] = turn % 180 === 0 ? [size.width, size.height] : [size.height, size.width]
  const wanted = (dpi / 72) ** 2 * width * height
  const scale = Math.min(
    (dpi / 72) * Math.min(1, Math.sqrt(MAX_PICTURE_PIXELS / wanted)),
    MAX_SIDE / Math.max(width, height)
  )
  const [across, down] = [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))]
  const bitmap = call.FPDFBitmap_CreateEx(across, down, format, 0, 0)
  if (bitmap === 0) return undefined
  try {
    call.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, WHITE)
    call.FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, turn / 90, ANNOTATIONS)
    if (form !== 0) call.FPDF_FFLDraw(form, bitmap, page, 0, 0, across, down, turn / 90, ANNOTATIONS)
    return pixelsOf(pdfium, bitmap)
  } finally {
    call.FPDFBitmap_Destroy(bitmap)
  }
}

export const asPicture = (pixels: Pixels): Picture => ({
  mediaType: "image/png",
  bytes: encodePng(pixels),
  width: pixels.width,
  height: pixels.height
})

/** Draws the page. */
export const renderPage = (document: OpenDocument, index: number, dpi: number): Picture =>
  document.withPage(index, (page) => {
    const pixels = renderPixels(document.pdfium, page, { dpi, format: BGR })
    if (pixels === undefined) throw pdfError("bomb", index)
    return asPicture(pixels)
  })

/** The page in levels of grey, to be read. */
export const scanPage = (document: OpenDocument, index: number): GreyPicture =>
  document.withPage(index, (page) => {
    const pixels = renderPixels(document.pdfium, page, { dpi: SCAN_DPI, format: GRAY })
    if (pixels === undefined) throw pdfError("bomb", index)
    const { data, height, width } = pixels
    return { width, height, dpi: (width / page.width) * 72, bytes: data }
  })

/** A page that was read from its picture, upright and legible, small enough to go into the result. */
export const pictureOfScan = (document: OpenDocument, index: number, turn: Turn): Picture =>
  document.withPage(index, (page) => {
    const pixels = renderPixels(document.pdfium, page, { dpi: SHOWN_DPI, format: GRAY, turn })
    if (pixels === undefined) throw pdfError("bomb", index)
    // Paper is noise: fewer levels are seen as well, and take a fifth of the room.
    const data = pixels.data.map((level) => Math.min(255, Math.round(level / SHOWN_STEP) * SHOWN_STEP))
    return asPicture({ ...pixels, data })
  })

/** The level of grey that an open page is drawn in throughout; undefined where more than one is to be seen. */
const onlyLevel = (pdfium: Pdfium, page: OpenPage): number | undefined => {
  const pixels = renderPixels(pdfium, page, { dpi: BLANK_DPI, format: GRAY })
  if (pixels === undefined) return undefined
  let [darkest, lightest] = [255, 0]
  for (const level of pixels.data) {
    if (level < darkest) darkest = level
    if (level > lightest) lightest = level
    if (lightest - darkest > BLANK_SPREAD) return undefined
  }
  return lightest
}

/** Whether nothing is seen on an open page, and no words are lost with it: those of a font that cannot be drawn here are there. */
export const showsNothing = (pdfium: Pdfium, page: OpenPage): boolean => {
  const level = onlyLevel(pdfium, page)
  return level !== undefined && !holdsText(pdfium, page, level, BLANK_SPREAD)
}

/** Whether the page shows nothing. One with dark text at its beginning does, and need not be drawn. */
export const isBlankPage = (document: OpenDocument, index: number): boolean =>
  document.withPage(index, (page) => !showsText(document.pdfium, page) && showsNothing(document.pdfium, page))

/** The embedded JPEG bytes, where a browser can show them. */
const rawJpeg = (
  pdfium: Pdfium,
  page: number,
  image: number,
  width: number,
  height: number
): Picture | undefined => {
  const { call, memory } = pdfium
  const { scratch } = memory
  if (call.FPDFImageObj_GetImageFilterCount(image) !== 1) return undefined
  if (
    memory.ascii((buffer, size) => call.FPDFImageObj_GetImageFilter(image, 0, buffer, size)) !== "DCTDecode"
  )
    return undefined
  // FPDF_IMAGEOBJ_METADATA: width, height, two resolutions, bits a pixel, colour space, mcid.
  if (call.FPDFImageObj_GetImageMetadata(image, page, scratch) === 0) return undefined
  if (!PLAIN_COLOR_SPACES.has(memory.int(scratch + 20)) || memory.int(scratch + 16) > 24) return undefined
  const length = call.FPDFImageObj_GetImageDataRaw(image, 0, 0)
  if (length <= 0 || length > MAX_JPEG_BYTES || width * height > MAX_PICTURE_PIXELS) return undefined
  const buffer = call.malloc(length)
  try {
    call.FPDFImageObj_GetImageDataRaw(image, buffer, length)
    return { mediaType: "image/jpeg", bytes: memory.slice(buffer, length), width, height }
  } finally {
    call.free(buffer)
  }
}

const sizeOf = ({ call, memory }: Pdfium, image: number) =>
  call.FPDFImageObj_GetImagePixelSize(image, memory.scratch, memory.scratch + 4) === 0
    ? undefined
    : { width: memory.uint(memory.scratch), height: memory.uint(memory.scratch + 4) }

/** An image's embedded JPEG, where a browser shows it as the page does. */
export const jpegOf = (pdfium: Pdfium, open: OpenPage, image: number): Picture | undefined => {
  const size = sizeOf(pdfium, image)
  const jpeg = size === undefined ? undefined : rawJpeg(pdfium, open.page, image, size.width, size.height)
  return jpeg !== undefined && looksAsShown(pdfium, open, image, jpeg) ? jpeg : undefined
}

/**
 * The page's n-th image, in the order of its `Drawing`s; null where it has no such image or it is too large to decode.
 */
export const imageOfPage = (document: OpenDocument, index: number, image: number): Picture | null =>
  document.withPage(index, (open) => {
    const { pdfium } = document
    const { call } = pdfium
    const object = readObjects(pdfium, open).images[image]
    const size = object === undefined ? undefined : sizeOf(pdfium, object)
    if (object === undefined || size === undefined) return null
    const jpeg = jpegOf(pdfium, open, object)
    if (jpeg !== undefined) return jpeg
    if (size.width * size.height > MAX_IMAGE_PIXELS) return null
    const bitmap = call.FPDFImageObj_GetBitmap(object)
    if (bitmap === 0) return null
    try {
      const pixels = pixelsOf(pdfium, bitmap)
      return pixels === undefined ? null : asPicture(shrink(pixels, MAX_PICTURE_PIXELS))
    } finally {
      call.FPDFBitmap_Destroy(bitmap)
    }
  })
