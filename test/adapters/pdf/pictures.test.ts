import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { MAX_PICTURE_PIXELS } from "../../../src/reader/model/pdf-document.ts"
import { decodePng } from "../../support/files/decode-png.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { withImage } from "../../support/files/pdf-samples.ts"
import { line, pdfOf } from "../../support/files/pdf-writer.ts"

layer(layerPdf({ threads: 1 }))("pictures of pages", (it) => {
  it.effect("a page is drawn as it is shown, and no larger than allowed", () =>
    Effect.gen(function* () {
      const document = yield* (yield* Pdf).open(
        yield* temporaryPdf(
          pdfOf({ pages: [{ content: "1 0 0 rg 0 100 100 100 re f", mediaBox: [0, 0, 200, 200] }] })
        )
      )
      const picture = yield* document.render(0, 72)
      const { data, height, width } = decodePng(picture.bytes)
      assert.deepStrictEqual([width, height, picture.mediaType], [200, 200, "image/png"])
      const at = (x: number, y: number) => [...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)]
      assert.deepStrictEqual(
        [at(50, 50), at(150, 50), at(50, 150)],
        [
          [255, 0, 0],
          [255, 255, 255],
          [255, 255, 255]
        ]
      )
      const large = yield* document.render(0, 4_000)
      assert.isAtMost(large.width * large.height, MAX_PICTURE_PIXELS)
      assert.isAbove(large.width * large.height, MAX_PICTURE_PIXELS * 0.99)
    })
  )

  it.effect("a page is blank where nothing is to be seen", () =>
    Effect.gen(function* () {
      const contents = [
        "",
        line("a", 300, 400, { size: 6 }),
        "1 g 0 0 612 792 re f",
        "100 100 400 0.5 re f",
        `3 Tr ${line("hidden", 72, 700)}`
      ]
      const document = yield* (yield* Pdf).open(
        yield* temporaryPdf(pdfOf({ pages: contents.map((content) => ({ content })) }))
      )
      const blank = yield* Effect.forEach(contents, (_, index) => document.isBlank(index))
      assert.deepStrictEqual(blank, [true, false, true, false, true])
    })
  )

  it.effect("an image of a page has its own pixels", () =>
    Effect.gen(function* () {
      const document = yield* (yield* Pdf).open(yield* temporaryPdf(withImage()))
      const image = yield* document.image(0, 0)
      assert.isNotNull(image)
      const { data, height, width } = decodePng(image?.bytes ?? new Uint8Array())
      assert.deepStrictEqual([width, height, [...data.subarray(0, 3)]], [4, 2, [200, 30, 40]])
      assert.isNull(yield* document.image(0, 1))
    })
  )
})
