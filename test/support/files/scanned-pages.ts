import type { GreyPicture } from "../../../src/reader/model/recognised-text.ts"
import { pdfOf, type PdfWriter, ref } from "./pdf-writer.ts"

/** What a scanner does to a page. */
export interface ScannerFaults {
  /** Clockwise degrees. */
  readonly skew?: number
  /** Deviation of the grey of single pixels, levels. */
  readonly noise?: number
  /** The grey of paper, where it is not white; print is as black as before. */
  readonly paper?: number
  readonly turn?: 0 | 90 | 180 | 270
}

/** The same numbers from the same seed (mulberry32). */
const numbers = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
}

const quarterTurned = (picture: GreyPicture, turn: 90 | 180 | 270): GreyPicture => {
  const { bytes, dpi, height, width } = picture
  const [across, down] = turn === 180 ? [width, height] : [height, width]
  const turned = new Uint8Array(bytes.length)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [to, row] =
        turn === 90
          ? [height - 1 - y, x]
          : turn === 180
            ? [width - 1 - x, height - 1 - y]
            : [y, width - 1 - x]
      turned[row * across + to] = bytes[y * width + x] ?? 0
    }
  return { width: across, height: down, dpi, bytes: turned }
}

/** The picture as a bad scanner would give it, the same each time. */
export const throughScanner = (
  picture: GreyPicture,
  { noise = 0, paper = 255, skew = 0, turn = 0 }: ScannerFaults
): GreyPicture => {
  const { bytes, dpi, height, width } = picture
  const chance = numbers(7)
  const [cos, sin] = [Math.cos((skew * Math.PI) / 180), Math.sin((skew * Math.PI) / 180)]
  const found = new Uint8Array(bytes.length)
  const at = (x: number, y: number) =>
    x < 0 || y < 0 || x >= width || y >= height ? 255 : (bytes[y * width + x] ?? 255)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      let level = at(x, y)
      if (skew !== 0) {
        // Where this pixel was before the page was turned around its middle, between four pixels.
        const [dx, dy] = [x - width / 2, y - height / 2]
        const [fromX, fromY] = [dx * cos + dy * sin + width / 2, dy * cos - dx * sin + height / 2]
        const [left, top] = [Math.floor(fromX), Math.floor(fromY)]
        const [right, below] = [fromX - left, fromY - top]
        level =
          (at(left, top) * (1 - right) + at(left + 1, top) * right) * (1 - below) +
          (at(left, top + 1) * (1 - right) + at(left + 1, top + 1) * right) * below
      }
      level = (level * paper) / 255
      // The sum of three is near enough to a normal distribution.
      if (noise > 0) level += (chance() + chance() + chance() - 1.5) * 2 * noise
      found[y * width + x] = Math.max(0, Math.min(255, Math.round(level)))
    }
  const done = { width, height, dpi, bytes: found }
  return turn === 0 ? done : quarterTurned(done, turn)
}

const place = (writer: PdfWriter, { bytes, height, width }: GreyPicture): number =>
  writer.stream(Buffer.from(bytes), {
    compress: true,
    dictionary: `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8`
  })

/** A PDF whose pages are these pictures and nothing else. */
export const scannedPdf = (pictures: ReadonlyArray<GreyPicture>): Buffer => {
  const images: Array<string> = []
  return pdfOf({
    pages: pictures.map(({ dpi, height, width }, index) => {
      const [across, down] = [(width / dpi) * 72, (height / dpi) * 72]
      return {
        content: `q ${across} 0 0 ${down} 0 0 cm /Scan${index} Do Q`,
        mediaBox: [0, 0, across, down]
      }
    }),
    more: (writer) => {
      for (const [index, picture] of pictures.entries())
        images.push(`/Scan${index} ${ref(place(writer, picture))}`)
      return { resources: `/XObject << ${images.join(" ")} >>` }
    }
  })
}
