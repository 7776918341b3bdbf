import { crc32 } from "node:zlib"

import { Effect } from "effect"

import { UnreadableDocument } from "../../ports/conversion/documents.ts"
import { MAX_PICTURE_BYTES, MAX_PIXELS } from "../../reader/model/document-limits.ts"
import { isFrame } from "../../reader/model/picture-size.ts"
import type { OpenedFile } from "./opened-file.ts"

/** Chunks or segments that are looked at; pictures that programs write have fewer. */
const MAX_STEPS = 200_000

const broken = (kind: string) =>
  new UnreadableDocument({
    message: `This ${kind} picture is damaged or not whole. Save a new copy, then send that.`
  })

/** Checks what holds for every picture. */
const checked = (width: number, height: number, size: number, kind: string) => {
  if (width < 1 || height < 1) return Effect.fail(broken(kind))
  if (width * height > MAX_PIXELS)
    return Effect.fail(
      new UnreadableDocument({
        message: "This picture has more than 100 megapixels. Save it smaller, then send it again."
      })
    )
  if (size > MAX_PICTURE_BYTES)
    return Effect.fail(
      new UnreadableDocument({
        message: `This picture is larger than ${MAX_PICTURE_BYTES / 1024 / 1024} MB. Save it smaller, then send it again.`
      })
    )
  return Effect.void
}

/** Bit depths by colour type (PNG specification, 11.2.1). */
const DEPTHS: Readonly<Record<number, ReadonlyArray<number>>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16]
}

const SIGNATURE_BYTES = 8
/** Length, type and checksum around a chunk's data. */
const AROUND = 12

/** Reads a PNG's header, and whether its chunks go through to the end. */
export const inspectPng = Effect.fnUntraced(function* (file: OpenedFile) {
  const header = yield* file.at(SIGNATURE_BYTES, 25)
  if (header.length < 25 || header.readUInt32BE(0) !== 13 || header.toString("latin1", 4, 8) !== "IHDR")
    return yield* broken("PNG")
  if (crc32(header.subarray(4, 21)) !== header.readUInt32BE(21)) return yield* broken("PNG")
  const [depth = 0, colour = 0, compression, filter, interlace = 0] = header.subarray(16, 21)
  const known = DEPTHS[colour]?.includes(depth) === true && compression === 0 && filter === 0 && interlace < 2
  if (!known) return yield* broken("PNG")
  yield* checked(header.readUInt32BE(8), header.readUInt32BE(12), file.size, "PNG")
  let position = SIGNATURE_BYTES + header.length
  let hasData = false
  for (let step = 0; step < MAX_STEPS; step++) {
    const head = yield* file.at(position, 8)
    if (head.length < 8) break
    const type = head.toString("latin1", 4, 8)
    position += AROUND + head.readUInt32BE(0)
    if (position > file.size) break
    if (type === "IDAT") hasData = true
    if (type === "IEND" && hasData) return
  }
  return yield* broken("PNG")
})

/** Markers that no length follows. */
const standsAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)

const START_OF_SCAN = 0xda
const END_OF_IMAGE = 0xd9
/** Bytes that are looked through for the end at once. */
const WINDOW = 65_536

/** True when the end marker occurs anywhere after `from`: phones append other pictures after it. */
const hasEnd = Effect.fnUntraced(function* (file: OpenedFile, from: number) {
  for (let position = from; position < file.size; position += WINDOW - 1) {
    const bytes = yield* file.at(position, WINDOW)
    if (bytes.includes(Buffer.from([0xff, END_OF_IMAGE]))) return true
  }
  return false
})

/** Reads a JPEG's segments up to its data: dimensions, and whether it has an end. */
export const inspectJpeg = Effect.fnUntraced(function* (file: OpenedFile) {
  let position = 2
  let framed = false
  for (let step = 0; step < MAX_STEPS; step++) {
    const head = yield* file.at(position, 9)
    const marker = head[1] ?? 0
    if (head.length < 4 || head[0] !== 0xff || marker === END_OF_IMAGE) break
    if (marker === 0xff) {
      position += 1
      continue
    }
    if (standsAlone(marker)) {
      position += 2
      continue
    }
    const length = head.readUInt16BE(2)
    if (length < 2) break
    if (isFrame(marker)) {
      if (head.length < 9) break
      yield* checked(head.readUInt16BE(7), head.readUInt16BE(5), file.size, "JPEG")
      framed = true
    }
    position += 2 + length
    if (marker === START_OF_SCAN) {
      if (framed && (yield* hasEnd(file, position))) return
      break
    }
  }
  return yield* broken("JPEG")
})
