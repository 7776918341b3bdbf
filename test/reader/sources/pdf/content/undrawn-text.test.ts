import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { LAYOUT_PLAN } from "../../../../../src/application/conversion/work/layout-plan.ts"
import { loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { layoutOf } from "../../../../../src/reader/sources/pdf/pages/layout.ts"
import { isBlankPage } from "../../../../../src/reader/sources/pdf/pages/render.ts"
import { temporaryPdf } from "../../../../support/files/pdf-files.ts"
import { line, pdfOf, type PdfWriter, ref } from "../../../../support/files/pdf-writer.ts"

const utf16 = (text: string): string =>
  Array.from(text, (sign) => sign.charCodeAt(0).toString(16).padStart(4, "0")).join("")

/** A font that is not in the file, of a kind that no machine has to have. */
const notEmbedded = (writer: PdfWriter): string => {
  const descriptor = writer.object(
    "<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 850 /Descent -150 /CapHeight 700 /StemV 80 >>"
  )
  const font = writer.object(
    "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> " +
      `/FontDescriptor ${ref(descriptor)} /DW 1000 >>`
  )
  return ref(
    writer.object(
      `<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3-UniJIS-UTF16-H /Encoding /UniJIS-UTF16-H /DescendantFonts [${ref(font)}] >>`
    )
  )
}

const japanese = (text: string, y = 700): string => `BT /J 12 Tf 72 ${y} Td <${utf16(text)}> Tj ET\n`

const PICTURE = "q 500 0 0 700 50 50 cm /Undrawn Do Q "
const LETTER =
  "What stands behind the picture of a letter that was scanned, in words that a recogniser once read from it "

/** Contents of pages, whether they are blank, and what stands there. */
const PAGES: ReadonlyArray<readonly [content: string, blank: boolean, text: string]> = [
  [japanese("港の船"), false, "港の船"],
  [`0.5 g ${japanese("灰色の字")}`, false, "灰色の字"],
  [`1 g ${japanese("白い字")}`, true, ""],
  [`3 Tr ${japanese("見えない字")}`, true, ""],
  [`7 Tr ${japanese("見えない字")}`, true, ""],
  [japanese("頁の外", 2_000), true, ""],
  [japanese("　　"), true, ""],
  [`${PICTURE}3 Tr ${line(LETTER, 60, 500, { size: 6 })}`, false, "behind the picture"],
  [`${PICTURE}3 Tr ${line("l . i ' , 1 I".repeat(20), 60, 500, { size: 4 })}`, true, ""],
  [PICTURE, true, ""]
]

it.effect("a page whose words cannot be drawn here is not blank, and keeps them", () =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(
      pdfOf({
        pages: PAGES.map(([content]) => ({ content })),
        more: (writer) => {
          const image = writer.stream("no picture at all", {
            dictionary: "/Type /XObject /Subtype /Image /Width 50 /Height 70 /Filter /JPXDecode"
          })
          return { resources: `/XObject << /Undrawn ${ref(image)} >>`, fonts: `/J ${notEmbedded(writer)}` }
        }
      })
    )
    const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
    const found = PAGES.map(([content, , text], index) => {
      const page = layoutOf(document, index, index + 1, LAYOUT_PLAN)
      const blank = isBlankPage(document, index)
      // Known already where pictures were drawn, and then the same.
      assert.strictEqual(page.isBlank ?? blank, blank)
      return [content, blank, page.html.includes(text) ? text : page.html]
    })
    document.close()
    assert.deepStrictEqual(
      found,
      PAGES.map((page) => [...page])
    )
  })
)
