import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { LAYOUT_PLAN } from "../../../../../src/application/conversion/work/layout-plan.ts"
import { loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { layoutOf } from "../../../../../src/reader/sources/pdf/pages/layout.ts"
import { temporaryPdf } from "../../../../support/files/pdf-files.ts"
import { line, pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

const annotation = (type: string, words: string, y: number, more = ""): string =>
  `<< /Type /Annot /Subtype /${type} /Rect [72 ${y} 400 ${y + 30}] /DA (/Helv 11 Tf 0 g) /Contents (${words}) ${more} >>`

it.effect("what was typed onto a page is part of it, and hidden notes and remarks are not", () =>
  Effect.gen(function* () {
    const annotations = [
      annotation("FreeText", "Approved on 3 May.\\nAnn", 600),
      annotation("FreeText", "Hidden", 500, "/F 2"),
      annotation("Text", "A remark", 400)
    ].join(" ")
    const path = yield* temporaryPdf(
      pdfOf({
        pages: [
          { content: line("The words of the page itself.", 72, 700), entries: `/Annots [${annotations}]` },
          { content: "", entries: `/Annots [${annotation("FreeText", "Alone", 600, "/F 4")}]` }
        ]
      })
    )
    const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
    const [first, second] = [0, 1].map((index) => layoutOf(document, index, index + 1, LAYOUT_PLAN).html)
    document.close()
    assert.match(first ?? "", /<p>The words of the page itself\.<\/p>.*Approved on 3 May\..*Ann/s)
    assert.notMatch(first ?? "", /Hidden|remark/)
    assert.include(second ?? "", "Alone")
  })
)

it.effect(
  "on a tagged page, too, whose tags do not name it: below the rest, also what fills a gap in a line",
  () =>
    Effect.gen(function* () {
      const path = yield* temporaryPdf(
        pdfOf({
          pages: [
            {
              content: [
                ["The words of the page itself, a whole sentence.", 700],
                ["And another sentence below that, as long as it.", 680],
                ["Name:", 640]
              ]
                .map(([words, y], id) => `/P << /MCID ${id} >> BDC ${line(String(words), 72, Number(y))}EMC`)
                .join("\n"),
              entries: `/StructParents 0 /Annots [${annotation("FreeText", "Approved.", 560)} << /Type /Annot /Subtype /FreeText /Rect [109 635 200 650.8] /Contents (Ada) >>]`
            }
          ],
          more: (writer, [page = 0]) => {
            const root = writer.reserve()
            const elements = ["P", "H1", "P"]
              .map((type, id) =>
                ref(
                  writer.object(
                    `<< /Type /StructElem /S /${type} /P ${ref(root)} /Pg ${ref(page)} /K ${id} >>`
                  )
                )
              )
              .join(" ")
            writer.object(
              `<< /Type /StructTreeRoot /K [${elements}] /ParentTree << /Nums [0 [${elements}]] >> >>`,
              root
            )
            return { catalog: `/MarkInfo << /Marked true >> /StructTreeRoot ${ref(root)}` }
          }
        })
      )
      const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
      const { html } = layoutOf(document, 0, 1, LAYOUT_PLAN)
      document.close()
      assert.strictEqual(
        html.replaceAll(/ data-\w+="\d*"/g, ""),
        "<p>The words of the page itself, a whole sentence.</p><h1>And another sentence below that, as long as it.</h1>" +
          "<p>Name:</p><p>Ada</p><p>Approved.</p>"
      )
    })
)

it.effect(
  "in letters of the size that it names, as wide as its words: a wide box around few does not part the page's lines",
  () =>
    Effect.gen(function* () {
      const sentences = ["Visible first sentence of the page.", "Visible second sentence of the page."]
      const path = yield* temporaryPdf(
        pdfOf({
          pages: [
            {
              content: sentences.map((words, at) => line(words, 72, 700 - 13 * at, { size: 10 })).join(""),
              entries: `/Annots [${annotation("FreeText", "Approved on 3 May.", 600)}]`
            }
          ]
        })
      )
      const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
      const typed = document.page(0).runs.at(-1)
      const { html } = layoutOf(document, 0, 1, LAYOUT_PLAN)
      document.close()
      assert.deepStrictEqual([typed?.size, typed?.box.x0, typed?.box.x1], [11, 72, 171])
      assert.strictEqual(html, `<p>${sentences.join(" ")}</p><p>Approved on 3 May.</p>`)
    })
)
