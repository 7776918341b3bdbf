import { Result } from "effect"
import { decode } from "effect/encoding/Base64"

/** Pixels of a picture. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** Characters of a picture's data that are looked through for its size, a multiple of four; longer headers are rare. */
const MAX_HEADER = 262_144

/** Start-of-frame markers: C0 to CF without DHT (C4), JPG (C8) and DAC (CC) (ITU-T T.81, table B.1). */
export const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** The segment in which a camera says how a picture is turned. */
const EXIF = 0xe1

const sizeOfJpeg = (bytes: DataView): PictureSize | undefined => {
  for (let at = 2; at + 9 <= bytes.byteLength && bytes.getUint8(at) === 0xff;) {
    const marker = bytes.getUint8(at + 1)
    if (marker === EXIF) return undefined
    if (isFrame(marker)) return { height: bytes.getUint16(at + 5), width: bytes.getUint16(at + 7) }
    at += 2 + bytes.getUint16(at + 2)
  }
  return undefined
}

/** Where a PNG has its width, its height behind it. */
const PNG_WIDTH = 16

/** The size of a PNG or JPEG in a data URI; undefined where it is not found, or where the picture may be shown turned. */
export const pictureSize = (src: string): PictureSize | undefined => {
  const [head = "", type] = /^data:image\/(png|jpeg);base64,/.exec(src) ?? []
  if (type === undefined) return undefined
  const decoded = decode(src.slice(head.length, head.length + MAX_HEADER))
  if (Result.isFailure(decoded)) return undefined
  const { buffer, byteLength, byteOffset } = decoded.success
  const bytes = new DataView(buffer, byteOffset, byteLength)
  const size =
    type === "jpeg"
      ? sizeOfJpeg(bytes)
      : byteLength < PNG_WIDTH + 8
        ? undefined
        : { width: bytes.getUint32(PNG_WIDTH), height: bytes.getUint32(PNG_WIDTH + 4) }
  return size === undefined || size.width === 0 || size.height === 0 ? undefined : size
}
