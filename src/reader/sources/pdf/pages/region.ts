import type { Box } from "../../../model/page-content.ts"
import type { Picture } from "../../../model/pdf-document.ts"
import { type PageObjects, readObjects } from "../content/drawings.ts"
import type { Pixels } from "../content/png.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import type { OpenPage } from "./document.ts"
import { ANNOTATIONS, asPicture, jpegOf, pixelsOf, WHITE } from "./render.ts"

/** FPDFBitmap_BGRx: four bytes a pixel. */
const BGRX = 3
const COLOR = 0xffffff
/** Colours of a palette. */
const MOST_COLORS = 256

/** Pixels a point of a drawing, of a picture of many colours, and the most of them across. */
const FINE = 2
const COARSE = 1.5
const MOST_ACROSS = 1_400

/** A colour rounded to five bits a channel, white and black kept: smooth edges of one colour become few. */
const rounded = (color: number): number => (color & 0xf8f8f8) | ((color >> 5) & 0x070707)

/** A bitmap with a byte a pixel, where so few colours are used that a palette holds them. */
const fewColors = (
  { call, memory }: Pdfium,
  bitmap: number,
  colorOf: (color: number) => number
): Pixels | undefined => {
  const [width, height] = [call.FPDFBitmap_GetWidth(bitmap), call.FPDFBitmap_GetHeight(bitmap)]
  const start = call.FPDFBitmap_GetBuffer(bitmap) >>> 0
  if (start === 0 || call.FPDFBitmap_GetStride(bitmap) !== 4 * width) return undefined
  const pixels = new Uint32Array(memory.bytes.buffer, start, width * height)
  const places = new Map<number, number>()
  const data = new Uint8Array(pixels.length)
  let [before, place] = [-1, 0]
  for (let at = 0; at < pixels.length; at++) {
    const color = (pixels[at] ?? 0) & COLOR
    if (color !== before) {
      before = color
      const kept = colorOf(color)
      const known = places.get(kept)
      if (known === undefined && places.size === MOST_COLORS) return undefined
      place = known ?? places.size
      if (known === undefined) places.set(kept, place)
    }
    if (place !== 0) data[at] = place
  }
  const palette = Buffer.alloc(3 * places.size)
  for (const [color, index] of places) palette.writeUIntBE(color, 3 * index, 3)
  return { width, height, channels: 1, data, palette }
}

/** Draws a part of the page, and reads what was drawn. */
const drawn = (
  { call }: Pdfium,
  open: OpenPage,
  { region, scale, turn }: { readonly region: Box; readonly scale: number; readonly turn: number },
  read: (bitmap: number) => Pixels | undefined
): Pixels | undefined => {
  const [width, height] = turn % 180 === 0 ? [open.width, open.height] : [open.height, open.width]
  const [left, top] = [Math.max(0, region.x0), Math.max(0, region.y0)].map((edge) => Math.floor(edge * scale))
  const right = Math.ceil(Math.min(width, region.x1) * scale)
  const bottom = Math.ceil(Math.min(height, region.y1) * scale)
  if (left === undefined || top === undefined || !(right > left && bottom > top)) return undefined
  const bitmap = call.FPDFBitmap_CreateEx(right - left, bottom - top, BGRX, 0, 0)
  if (bitmap === 0) return undefined
  try {
    const whole = [-left, -top, Math.round(width * scale), Math.round(height * scale)] as const
    // Quarters of a turn, clockwise.
    const rotate = (4 - turn / 90) % 4
    call.FPDFBitmap_FillRect(bitmap, 0, 0, right - left, bottom - top, WHITE)
    call.FPDF_RenderPageBitmap(bitmap, open.page, ...whole, rotate, ANNOTATIONS)
    if (open.form !== 0) call.FPDF_FFLDraw(open.form, bitmap, open.page, ...whole, rotate, ANNOTATIONS)
    return read(bitmap)
  } finally {
    call.FPDFBitmap_Destroy(bitmap)
  }
}

/** A part of a page, in points of the page turned upright where its writing is turned by `turn`; or its n-th image. */
export type Part = { readonly region: Box; readonly turn: number } | { readonly image: number }

/** Share of a drawing from which on an image in it has more colours than a palette holds. */
const PHOTOGRAPHIC = 0.3

const areaOf = ({ x0, x1, y0, y1 }: Box): number => Math.max(0, x1 - x0) * Math.max(0, y1 - y0)

const isPhotographic = (region: Box, { drawings }: PageObjects): boolean =>
  drawings.some(({ box, kind }) => kind === "image" && areaOf(box) > PHOTOGRAPHIC * areaOf(region))

const pictureOf = (
  pdfium: Pdfium,
  open: OpenPage,
  { region, turn }: { readonly region: Box; readonly turn: number },
  photographic = false
): Picture | null => {
  const most = MOST_ACROSS / Math.max(region.x1 - region.x0, region.y1 - region.y0)
  const fine = { region, turn, scale: Math.min(FINE, most) }
  const coarse = { region, turn, scale: Math.min(COARSE, most) }
  const pixels =
    (photographic
      ? undefined
      : drawn(
          pdfium,
          open,
          fine,
          (bitmap) => fewColors(pdfium, bitmap, (color) => color) ?? fewColors(pdfium, bitmap, rounded)
        )) ?? drawn(pdfium, open, coarse, (bitmap) => pixelsOf(pdfium, bitmap))
  return pixels === undefined ? null : asPicture(pixels)
}

/** Size above which a JPEG that is finer than its page shows it may be replaced by a smaller drawing. */
const LARGE_JPEG_BYTES = 256 * 1024

/** The file's own JPEG, where that is what the page shows: upright, whole, in its own colours, without a mask. */
const ownJpeg = (
  pdfium: Pdfium,
  open: OpenPage,
  objects: PageObjects,
  { box, image }: { readonly box: Box | undefined; readonly image: number }
): Picture | undefined => {
  const object = objects.images[image]
  if (object === undefined || objects.turned.has(image)) return undefined
  if (
    box !== undefined &&
    (box.x0 < -1 || box.y0 < -1 || box.x1 > open.width + 1 || box.y1 > open.height + 1)
  )
    return undefined
  return jpegOf(pdfium, open, object)
}

/** An image as shown: the embedded JPEG, else a drawing of its place, with masks and colours applied. */
const shownImage = (pdfium: Pdfium, open: OpenPage, objects: PageObjects, image: number): Picture | null => {
  const box = objects.drawings.find((one) => one.kind === "image" && one.index === image)?.box
  const jpeg = ownJpeg(pdfium, open, objects, { box, image })
  if (box === undefined) return jpeg ?? null
  const isFine =
    jpeg !== undefined &&
    jpeg.bytes.length > LARGE_JPEG_BYTES &&
    Math.max(jpeg.width, jpeg.height) > FINE * Math.max(box.x1 - box.x0, box.y1 - box.y0)
  if (jpeg !== undefined && !isFine) return jpeg
  const shown = pictureOf(pdfium, open, { region: box, turn: 0 })
  return jpeg !== undefined && (shown === null || shown.bytes.length >= jpeg.bytes.length) ? jpeg : shown
}

/** Parts of an open page as pictures, null where one is empty or too large; `give` returns false to stop. */
export const drawParts = (
  pdfium: Pdfium,
  open: OpenPage,
  parts: ReadonlyArray<Part>,
  give: (at: number, picture: Picture | null) => boolean
): void => {
  const objects = readObjects(pdfium, open)
  for (const [at, part] of parts.entries()) {
    const picture =
      "image" in part
        ? shownImage(pdfium, open, objects, part.image)
        : pictureOf(pdfium, open, part, part.turn === 0 && isPhotographic(part.region, objects))
    if (!give(at, picture)) return
  }
}
