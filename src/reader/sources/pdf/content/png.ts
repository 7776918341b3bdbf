import { crc32, deflateSync } from "node:zlib"

import type { Pdfium } from "../engine/pdfium.ts"
import type { Matrix } from "./geometry.ts"

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Pages compress well at any level; higher ones cost more than they save. */
const LEVEL = 4
/** Filter type `Up`: each byte less the one above it. Pages are mostly plain areas. */
const UP = 2

const GRAY = 0
const RGB = 2
const INDEXED = 3

const chunk = (type: string, data: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(data.length + 12)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, "latin1")
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8)
  return bytes
}

/** Pixels of one (grey) or three (red, green, blue) bytes, rows from the top without gaps. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly channels: 1 | 3
  readonly data: Uint8Array
  /** Colours, three bytes each, that `data` has the places of. */
  readonly palette?: Uint8Array
}

/** Rows with their filter in front; the places of colours stay as they are. */
const filtered = ({ channels, data, height, palette, width }: Pixels): Uint8Array => {
  const row = width * channels
  const rows = new Uint8Array((row + 1) * height)
  for (let y = 0; y < height; y++) {
    const to = y * (row + 1)
    const from = y * row
    if (palette !== undefined) {
      rows.set(data.subarray(from, from + row), to + 1)
      continue
    }
    rows[to] = UP
    for (let x = 0; x < row; x++)
      rows[to + 1 + x] = (data[from + x] ?? 0) - (y === 0 ? 0 : (data[from + x - row] ?? 0))
  }
  return rows
}

/** A PNG of 8 bits a channel, or a pixel where there is a palette (RFC 2083). */
export const encodePng = (pixels: Pixels): Uint8Array<ArrayBuffer> => {
  const { channels, height, palette, width } = pixels
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = palette === undefined ? (channels === 1 ? GRAY : RGB) : INDEXED
  const body = deflateSync(filtered(pixels), { level: LEVEL })
  const png = Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    ...(palette === undefined ? [] : [chunk("PLTE", palette)]),
    chunk("IDAT", body),
    chunk("IEND", new Uint8Array())
  ])
  return new Uint8Array(png)
}

/**
 * Scales down by a whole factor so that at most `limit` pixels are left; each is the mean of the pixels that it
 * replaces.
 */
export const shrink = (pixels: Pixels, limit: number): Pixels => {
  const factor = Math.ceil(Math.sqrt((pixels.width * pixels.height) / limit))
  if (factor <= 1) return pixels
  const { channels, data } = pixels
  const [width, height] = [
    Math.max(1, Math.floor(pixels.width / factor)),
    Math.max(1, Math.floor(pixels.height / factor))
  ]
  const smaller = new Uint8Array(width * height * channels)
  const [across, down] = [Math.min(factor, pixels.width), Math.min(factor, pixels.height)]
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let channel = 0; channel < channels; channel++) {
        let sum = 0
        for (let dy = 0; dy < down; dy++)
          for (let dx = 0; dx < across; dx++)
            sum += data[((y * factor + dy) * pixels.width + x * factor + dx) * channels + channel] ?? 0
        smaller[(y * width + x) * channels + channel] = sum / (across * down)
      }
  return { width, height, channels, data: smaller }
}

/** Smallest readable type size, in points; Type 3 fonts scale their glyphs themselves. */
const MIN_SIZE = 1
/** Greatest height of a line, in font sizes. */
const HIGHEST = 3

/** The size of text that is declared as `declared` points: where it is drawn a lot higher, the drawn height. */
export const drawnSize = (
  { call, memory }: Pdfium,
  { character, page, text }: { readonly page: Matrix; readonly text: number; readonly character: number },
  declared: number
): number => {
  if (declared >= MIN_SIZE || call.FPDFText_GetLooseCharBox(text, character, memory.scratch) === 0)
    return declared
  // FS_RECTF: left, top, right, bottom.
  const height = Math.abs(memory.float(memory.scratch + 4) - memory.float(memory.scratch + 12))
  const shown = height * Math.hypot(page.c, page.d)
  return Number.isFinite(shown) && shown > HIGHEST * declared ? shown : declared
}
