import { rmSync, writeFileSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

import type { Picture } from "../../../../../src/reader/model/pdf-document.ts"
import { type Libraries, loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { drawParts } from "../../../../../src/reader/sources/pdf/pages/region.ts"
import { colorsOf } from "../../../../support/files/decode-png.ts"
import { pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

/** A JPEG of 16 by 16 pixels, red above blue. */
const RED_ABOVE_BLUE = Buffer.from(
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAoHBwgHBgoICAgLCgoLDhgQDg0NDh0VFhEYIx8lJCIfIiEmKzcvJik0KSEiMEExNDk7Pj4+JS5ESUM8SDc9Pjv/2wBDAQoLCw4NDhwQEBw7KCIoOzs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozv/wAARCAAQABADAREAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAQG/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/EABYBAQEBAAAAAAAAAAAAAAAAAAAHBf/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AM0zFDARqek4D//Z",
  "base64"
)

describe("parts of a page", () => {
  let libraries: Libraries
  let folder = ""
  beforeAll(async () => {
    libraries = await loadLibraries()
    folder = mkdtempSync(join(tmpdir(), "postlane-region-"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const open = (bytes: Uint8Array): OpenDocument => {
    const path = join(folder, "page.pdf")
    writeFileSync(path, bytes)
    return new OpenDocument(libraries, path)
  }

  it("are drawn as they are shown, with a palette, and no more of them than is wanted", () => {
    const document = open(
      pdfOf({ pages: [{ content: "1 0 0 rg 0 100 100 100 re f", mediaBox: [0, 0, 200, 200] }] })
    )
    const pictures: Array<Picture | null> = []
    const parts = [
      { region: { x0: 50, y0: 0, x1: 150, y1: 100 }, turn: 0 },
      { region: { x0: 300, y0: 0, x1: 400, y1: 100 }, turn: 0 },
      { region: { x0: 0, y0: 0, x1: 10, y1: 10 }, turn: 0 }
    ]
    document.withPage(0, (page) =>
      drawParts(document.pdfium, page, parts, (_, picture) => pictures.push(picture) < 2)
    )
    const colors = colorsOf(pictures[0] ?? null)
    assert.deepStrictEqual([colors.length, colors[0]?.length], [200, 200])
    assert.deepStrictEqual([colors[50]?.[50], colors[50]?.[150]], ["ff0000", "ffffff"])
    assert.deepStrictEqual([pictures.length, pictures[1]], [2, null])
    document.close()
  })

  it("that are written sideways are drawn upright", () => {
    const document = open(
      pdfOf({ pages: [{ content: "1 0 0 rg 0 100 100 100 re f", mediaBox: [0, 0, 200, 300] }] })
    )
    const region = { x0: 0, y0: 0, x1: 300, y1: 200 }
    const pictures: Array<Picture | null> = []
    document.withPage(0, (page) =>
      drawParts(document.pdfium, page, [{ region, turn: 90 }], (_, picture) => pictures.push(picture) < 1)
    )
    const colors = colorsOf(pictures[0] ?? null)
    assert.deepStrictEqual([colors.length, colors[0]?.length], [400, 600])
    // What is on the left, half way down, is at the foot, half way across.
    assert.deepStrictEqual([colors[350]?.[300], colors[50]?.[300]], ["ff0000", "ffffff"])
    document.close()
  })

  it("an image with a soft mask shows what is behind it, and not black", () => {
    const document = open(
      pdfOf({
        pages: [{ content: "q 100 0 0 100 50 50 cm /I Do Q", mediaBox: [0, 0, 200, 200] }],
        more: (writer) => {
          const image = "/Type /XObject /Subtype /Image /Width 2 /Height 1 /BitsPerComponent 8"
          const mask = writer.stream(Buffer.from([255, 0]), {
            dictionary: `${image} /ColorSpace /DeviceGray`
          })
          const logo = writer.stream(Buffer.from([0, 0, 255, 0, 0, 0]), {
            dictionary: `${image} /ColorSpace /DeviceRGB /SMask ${ref(mask)}`
          })
          return { resources: `/XObject << /I ${ref(logo)} >>` }
        }
      })
    )
    const pictures: Array<Picture | null> = []
    document.withPage(0, (page) =>
      drawParts(
        document.pdfium,
        page,
        [{ image: 0 }, { image: 1 }],
        (_, picture) => pictures.push(picture) < 2
      )
    )
    const colors = colorsOf(pictures[0] ?? null)
    assert.deepStrictEqual([colors[100]?.[20], colors[100]?.[180]], ["0000ff", "ffffff"])
    assert.isNull(pictures[1])
    document.close()
  })

  it("a JPEG stays as it stands in the file where the page shows just that, and is drawn where it does not", () => {
    const jpeg = (content: string, mask: boolean) =>
      open(
        pdfOf({
          pages: [{ content, mediaBox: [0, 0, 200, 200] }],
          more: (writer) => {
            const image = "/Type /XObject /Subtype /Image /BitsPerComponent 8"
            const soft = writer.stream(Buffer.from([255, 0]), {
              dictionary: `${image} /Width 2 /Height 1 /ColorSpace /DeviceGray`
            })
            const photo = writer.stream(RED_ABOVE_BLUE, {
              dictionary: `${image} /Width 16 /Height 16 /ColorSpace /DeviceRGB /Filter /DCTDecode ${mask ? `/SMask ${ref(soft)}` : ""}`
            })
            return { resources: `/XObject << /I ${ref(photo)} >>` }
          }
        })
      )
    const first = (document: OpenDocument): Picture | null => {
      let found: Picture | null = null
      document.withPage(0, (page) =>
        drawParts(document.pdfium, page, [{ image: 0 }], (_, picture) => {
          found = picture
          return false
        })
      )
      document.close()
      return found
    }
    const upright = first(jpeg("q 100 0 0 100 50 50 cm /I Do Q", false))
    assert.strictEqual(upright?.mediaType, "image/jpeg")
    // Turned by a quarter, cut off by the page's edge, masked.
    const turned = first(jpeg("q 0 100 -100 0 150 50 cm /I Do Q", false))
    assert.deepStrictEqual([turned?.mediaType, turned?.width, turned?.height], ["image/png", 200, 200])
    const cut = first(jpeg("q 100 0 0 100 150 50 cm /I Do Q", false))
    assert.deepStrictEqual([cut?.mediaType, cut?.width, cut?.height], ["image/png", 100, 200])
    const masked = first(jpeg("q 100 0 0 100 50 50 cm /I Do Q", true))
    assert.strictEqual(masked?.mediaType, "image/png")
    const colors = colorsOf(masked)
    assert.strictEqual(colors[20]?.[190], "ffffff")
    assert.notStrictEqual(colors[20]?.[10], "ffffff")
  })
})
