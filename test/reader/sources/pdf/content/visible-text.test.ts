import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { LAYOUT_PLAN } from "../../../../../src/application/conversion/work/layout-plan.ts"
import { showsText } from "../../../../../src/reader/sources/pdf/content/visible-text.ts"
import { loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { layoutOf } from "../../../../../src/reader/sources/pdf/pages/layout.ts"
import { isBlankPage } from "../../../../../src/reader/sources/pdf/pages/render.ts"
import { temporaryPdf } from "../../../../support/files/pdf-files.ts"
import { line, pdfOf, type PdfWriter, ref } from "../../../../support/files/pdf-writer.ts"

/** Contents of pages; whether text is seen there without drawing them, and whether they are blank. */
const PAGES: ReadonlyArray<readonly [content: string, seen: boolean, blank: boolean]> = [
  [line("words", 72, 700), true, false],
  [`0.3 g ${line("grey words", 72, 700)}`, true, false],
  [`0 0 100 100 re f ${line("words behind a picture", 72, 700)}`, true, false],
  [`1 g ${line("white words", 72, 700)}`, false, true],
  [`0 g 0 0 612 792 re f 1 g ${line("white words on black", 72, 700)}`, false, false],
  [`3 Tr ${line("hidden words", 72, 700)}`, false, true],
  [line("beyond the page", 72, 2_000), false, true],
  [line("     ", 72, 700), false, true],
  [`/OC /Layer BDC ${line("in a layer", 72, 700)} EMC`, false, false],
  ["", false, true]
]

const withLayer = (writer: PdfWriter) => ({
  resources: `/Properties << /Layer ${ref(writer.object("<< /Type /OCG /Name (Layer) >>"))} >>`
})

it.effect(
  "text is seen without drawing only where it is sure to show, and a page is as blank as it was",
  () =>
    Effect.gen(function* () {
      const path = yield* temporaryPdf(
        pdfOf({ pages: PAGES.map(([content]) => ({ content })), inherit: true, more: withLayer })
      )
      const libraries = yield* Effect.promise(loadLibraries)
      const document = new OpenDocument(libraries, path)
      const found = PAGES.map(([content], index) => [
        content,
        document.withPage(index, (page) => showsText(document.pdfium, page)),
        isBlankPage(document, index)
      ])
      document.close()
      assert.deepStrictEqual(
        found,
        PAGES.map((page) => [...page])
      )
    })
)

it.effect("a page whose pictures were drawn for its layout is known to be blank or not", () =>
  Effect.gen(function* () {
    const dictionary =
      "/Type /XObject /Subtype /Image /Width 2 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceGray"
    const path = yield* temporaryPdf(
      pdfOf({
        pages: ["/White", "/Grey"].map((name) => ({ content: `q 400 0 0 400 100 200 cm ${name} Do Q` })),
        inherit: true,
        more: (writer) => {
          const of = (...levels: ReadonlyArray<number>) =>
            ref(writer.stream(Buffer.from(levels), { dictionary }))
          return { resources: `/XObject << /White ${of(255, 255, 255, 255)} /Grey ${of(0, 99, 200, 9)} >>` }
        }
      })
    )
    const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
    const pages = [0, 1].map((index) => layoutOf(document, index, 2, LAYOUT_PLAN))
    const looked = [0, 1].map((index) => isBlankPage(document, index))
    document.close()
    assert.deepStrictEqual(
      pages.map(({ html }) => html.includes("data:image/png")),
      [true, true]
    )
    assert.deepStrictEqual(
      pages.map(({ isBlank }) => isBlank),
      [true, false]
    )
    assert.deepStrictEqual(looked, [true, false])
  })
)
