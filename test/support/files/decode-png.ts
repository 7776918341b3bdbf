import { crc32, inflateSync } from "node:zlib"

import { assert } from "@effect/vitest"

import type { Picture } from "../../../src/reader/model/pdf-document.ts"
import type { Pixels } from "../../../src/reader/sources/pdf/content/png.ts"

/** PNG's filter type `Up`. */
const UP = 2

/** The bytes of a PNG's chunks, checked, by their kind. */
const chunksOf = (bytes: Uint8Array): ReadonlyMap<string, Buffer> => {
  const png = Buffer.from(bytes)
  assert.strictEqual(png.subarray(0, 8).toString("latin1"), "\u0089PNG\r\n\u001a\n")
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    const type = png.toString("latin1", at + 4, at + 8)
    assert.strictEqual(png.readUInt32BE(at + 8 + length), crc32(png.subarray(at + 4, at + 8 + length)), type)
    chunks.set(type, png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  return chunks
}

/** Reads what the encoder writes: one data chunk, rows filtered by `Up`. */
export const decodePng = (bytes: Uint8Array): Pixels => {
  const chunks = chunksOf(bytes)
  assert.deepStrictEqual([...chunks.keys()], ["IHDR", "IDAT", "IEND"])
  const header = chunks.get("IHDR") ?? Buffer.alloc(13)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const channels = header[9] === 2 ? 3 : 1
  const rows = inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0))
  const data = new Uint8Array(width * height * channels)
  const row = width * channels
  for (let y = 0; y < height; y++) assert.strictEqual(rows[y * (row + 1)], UP)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < row; x++)
      data[y * row + x] = (rows[y * (row + 1) + 1 + x] ?? 0) + (y === 0 ? 0 : (data[(y - 1) * row + x] ?? 0))
  return { width, height, channels, data }
}

/** The colours of a PNG with a palette, row by row. */
export const colorsOf = (picture: Picture | null): ReadonlyArray<ReadonlyArray<string>> => {
  const chunks = chunksOf(picture?.bytes ?? new Uint8Array())
  assert.strictEqual(chunks.get("IHDR")?.[9], 3)
  const rows = inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0))
  const width = picture?.width ?? 0
  return Array.from({ length: picture?.height ?? 0 }, (_, y) =>
    Array.from({ length: width }, (__, x) => {
      const place = rows[y * (width + 1) + 1 + x] ?? 0
      return chunks.get("PLTE")?.toString("hex", 3 * place, 3 * place + 3) ?? ""
    })
  )
}
