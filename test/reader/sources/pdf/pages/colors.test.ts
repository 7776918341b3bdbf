/** Colours of images, as the page shows them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

import type { Picture } from "../../../../../src/reader/model/pdf-document.ts"
import { type Libraries, loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { drawParts } from "../../../../../src/reader/sources/pdf/pages/region.ts"
import { imageOfPage } from "../../../../../src/reader/sources/pdf/pages/render.ts"
import { colorsOf, decodePng } from "../../../../support/files/decode-png.ts"
import { pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

/** A grey JPEG of 16 by 16 pixels, black above white. */
const BLACK_ABOVE_WHITE = Buffer.from(
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//wAALCAAQABABAREA/8QAFgABAQEAAAAAAAAAAAAAAAAAAAcI/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAAPwCYDTo//9k=",
  "base64"
)
/** One in cyan, magenta, yellow and black, stored turned round as Photoshop does: red above blue. */
const RED_ABOVE_BLUE = Buffer.from(
  "/9j/7gAOQWRvYmUAZAAAAAAC/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJTUjI+WmFaUGBKUVJP/9sAQwEODg4TERMmFRUmTzUtNU9PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P/8AAFAgAEAAQBAEiAAIRAQMRAQQiAP/EABYAAQEBAAAAAAAAAAAAAAAAAAAFB//EABQQAQAAAAAAAAAAAAAAAAAAAAD/xAAUAQEAAAAAAAAAAAAAAAAAAAAF/8QAGREAAgMBAAAAAAAAAAAAAAAAABZjouHi/9oADgQBAAIRAxEEAAA/AL4ugdshtyALEtdNOAf/2Q==",
  "base64"
)

/** The names of colours of which screens and presses have shades of their own. */
const nameOf = (color = ""): string => {
  const [red = 0, green = 0, blue = 0] = color.match(/../g)?.map((part) => Number.parseInt(part, 16)) ?? []
  const name = [red > 200 ? "red" : "", green > 200 ? "green" : "", blue > 120 ? "blue" : ""].join("")
  return name === "redgreenblue" ? "white" : name === "" ? "black" : name
}

describe("the colours of an image", () => {
  let libraries: Libraries
  let folder = ""
  beforeAll(async () => {
    libraries = await loadLibraries()
    folder = mkdtempSync(join(tmpdir(), "postlane-colors-"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A page with an image of this size in a red pen; `mask`: the bytes of its soft mask of two pixels, and entries of it. */
  const open = (data: Buffer, dictionary: string, mask?: readonly [Buffer, string]): OpenDocument => {
    const kind = "/Type /XObject /Subtype /Image"
    const path = join(folder, "page.pdf")
    writeFileSync(
      path,
      pdfOf({
        pages: [{ content: "1 0 0 rg q 100 0 0 100 50 50 cm /I Do Q", mediaBox: [0, 0, 200, 200] }],
        more: (writer) => {
          const soft =
            mask === undefined
              ? ""
              : `/SMask ${ref(
                  writer.stream(mask[0], {
                    dictionary: `${kind} /Width 2 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray ${mask[1]}`
                  })
                )}`
          const image = writer.stream(data, { dictionary: `${kind} ${dictionary} ${soft}` })
          return { resources: `/XObject << /I ${ref(image)} >>` }
        }
      })
    )
    return new OpenDocument(libraries, path)
  }
  const shown = (document: OpenDocument): Picture | null => {
    const pictures: Array<Picture | null> = []
    document.withPage(0, (page) =>
      drawParts(document.pdfium, page, [{ image: 0 }], (_, picture) => pictures.push(picture) < 1)
    )
    document.close()
    return pictures[0] ?? null
  }

  const SIZE = "/Width 2 /Height 1 /BitsPerComponent 8"
  const BIT = "/Width 2 /Height 1 /BitsPerComponent 1"
  const kinds: ReadonlyArray<readonly [string, Buffer, string, ReadonlyArray<string>]> = [
    [
      "CMYK",
      Buffer.from([0, 255, 255, 0, 255, 255, 0, 0]),
      `${SIZE} /ColorSpace /DeviceCMYK`,
      ["red", "blue"]
    ],
    [
      "CMYK, turned round",
      Buffer.from([255, 0, 0, 255, 0, 0, 255, 255]),
      `${SIZE} /ColorSpace /DeviceCMYK /Decode [1 0 1 0 1 0 1 0]`,
      ["red", "blue"]
    ],
    [
      "a palette",
      Buffer.from([0b0100_0000]),
      `${BIT} /ColorSpace [/Indexed /DeviceRGB 1 <0000ffff0000>]`,
      ["blue", "red"]
    ],
    [
      "a palette, turned round",
      Buffer.from([0b0100_0000]),
      `${BIT} /ColorSpace [/Indexed /DeviceRGB 1 <0000ffff0000>] /Decode [1 0]`,
      ["red", "blue"]
    ],
    [
      "a palette of CMYK",
      Buffer.from([0b0100_0000]),
      `${BIT} /ColorSpace [/Indexed /DeviceCMYK 1 <ffff000000ffff00>]`,
      ["blue", "red"]
    ],
    [
      "grey, turned round",
      Buffer.from([0, 255]),
      `${SIZE} /ColorSpace /DeviceGray /Decode [1 0]`,
      ["white", "black"]
    ],
    [
      "RGB, turned round",
      Buffer.from([0, 255, 255, 255, 255, 0]),
      `${SIZE} /ColorSpace /DeviceRGB /Decode [1 0 1 0 1 0]`,
      ["red", "blue"]
    ],
    ["a stencil", Buffer.from([0b0100_0000]), `${BIT} /ImageMask true`, ["red", "white"]],
    [
      "a stencil, turned round",
      Buffer.from([0b0100_0000]),
      `${BIT} /ImageMask true /Decode [1 0]`,
      ["white", "red"]
    ],
    [
      "a colour that is not shown",
      Buffer.from([255, 0, 0, 0, 0, 255]),
      `${SIZE} /ColorSpace /DeviceRGB /Mask [255 255 0 0 0 0]`,
      ["white", "blue"]
    ]
  ]
  for (const [name, data, dictionary, expected] of kinds)
    it(`are those of the page: ${name}`, () => {
      const colors = colorsOf(shown(open(data, dictionary)))
      assert.deepStrictEqual([colors[100]?.[20], colors[100]?.[180]].map(nameOf), expected)
    })

  it("are hidden where a soft mask says so, turned round or not", () => {
    const blue = Buffer.from([0, 0, 255, 0, 0, 255])
    const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["", ["blue", "white"]],
      ["/Decode [1 0]", ["white", "blue"]]
    ]
    for (const [decode, expected] of cases) {
      const colors = colorsOf(
        shown(open(blue, `${SIZE} /ColorSpace /DeviceRGB`, [Buffer.from([255, 0]), decode]))
      )
      assert.deepStrictEqual([colors[100]?.[20], colors[100]?.[180]].map(nameOf), expected)
    }
  })

  it("of a JPEG are those of the page, also where the PDF turns them round", () => {
    const grey = "/Width 16 /Height 16 /BitsPerComponent 8 /ColorSpace /DeviceGray /Filter /DCTDecode"
    assert.strictEqual(shown(open(BLACK_ABOVE_WHITE, grey))?.mediaType, "image/jpeg")
    const turned = colorsOf(shown(open(BLACK_ABOVE_WHITE, `${grey} /Decode [1 0]`)))
    assert.deepStrictEqual([turned[20]?.[100], turned[180]?.[100]].map(nameOf), ["white", "black"])
    const cmyk = "/Width 16 /Height 16 /BitsPerComponent 8 /ColorSpace /DeviceCMYK /Filter /DCTDecode"
    const pressed = colorsOf(shown(open(RED_ABOVE_BLUE, `${cmyk} /Decode [1 0 1 0 1 0 1 0]`)))
    assert.deepStrictEqual([pressed[20]?.[100], pressed[180]?.[100]].map(nameOf), ["red", "blue"])
  })

  it("of a scan's own picture are those of the page, too", () => {
    const grey = "/Width 16 /Height 16 /BitsPerComponent 8 /ColorSpace /DeviceGray /Filter /DCTDecode"
    const document = open(BLACK_ABOVE_WHITE, `${grey} /Decode [1 0]`)
    const { channels, data } = decodePng(imageOfPage(document, 0, 0)?.bytes ?? new Uint8Array())
    document.close()
    assert.isAbove(data[0] ?? 0, 250)
    assert.isBelow(data[15 * 16 * channels] ?? 255, 5)
  })
})
