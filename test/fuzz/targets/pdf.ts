import { Effect, ManagedRuntime, Result, Stream } from "effect"
import * as fc from "fast-check"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { linked, numbered, tagged, withForm, withImage } from "../../support/files/pdf-samples.ts"
import { realFiles } from "../files.ts"
import { hold, rough, type Target } from "../target.ts"

/** Pages of a document that are read. */
const PAGES = { first: 0, end: 5 }
const PAGE_TIMEOUT_MS = 10_000

const CONTENTS = [
  "BT /F1 12 Tf 72 720 Td (Hello) Tj ET",
  "q",
  "Q",
  "/F1 1e9 Tf",
  "1 0 0 1 1e30 0 cm",
  "0 0 0 0 0 0 cm",
  "[(a) -1e9 (b)] TJ",
  "0 0 100 100 re f",
  "BI /W 9 /H 9 ID x EI",
  "/P <</MCID 0>> BDC",
  "EMC",
  "/X0 Do",
  "( \\( <",
  "0 Tr 3 Tr",
  "W n"
]

const pdfOf = (content: string): Buffer =>
  Buffer.from(
    `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n` +
      `3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Contents 4 0 R>>endobj\n` +
      `4 0 obj<</Length ${content.length}>>stream\n${content}\nendstream endobj\ntrailer<</Root 1 0 R>>`,
    "latin1"
  )

const read = (path: string) =>
  Effect.gen(function* () {
    const { open } = yield* Pdf
    const document = yield* open(path)
    const split = yield* Effect.result(Stream.runCollect(document.split(PAGES)))
    const layout = yield* Effect.result(Stream.runCollect(document.layout(PAGES)))
    return { pageCount: document.facts.pageCount, split, layout }
  })

export const pdf: Target = {
  name: "pdf",
  about: "PDFs, split into pages and laid out",
  limitMs: 120_000,
  // Two libraries in one thread, at 512 MB each, and its heap of 512 MB.
  memoryMb: 1_792,
  guided: false,
  seeds: () => [
    numbered(3),
    linked(),
    tagged(),
    withForm(2),
    withImage(),
    ...realFiles("pdfs/broken", "pdfs/real")
  ],
  made: fc.array(fc.constantFrom(...CONTENTS), { maxLength: 25 }).map((parts) => pdfOf(parts.join("\n"))),
  words: [
    ...CONTENTS,
    "obj",
    "endobj",
    "stream\n",
    "endstream",
    "<<",
    ">>",
    "[",
    "]",
    " 0 R",
    "/Kids",
    "/Length",
    "/Parent",
    "/FlateDecode",
    "/ObjStm",
    "xref",
    "trailer",
    "/Encrypt",
    "/StructTreeRoot",
    "/Annots",
    "/ToUnicode",
    "-1",
    "4294967296"
  ],
  open: async () => {
    const runtime = ManagedRuntime.make(layerPdf({ threads: 1, pageTimeoutMs: PAGE_TIMEOUT_MS }))
    return {
      answer: async (input) => {
        const done = await runtime.runPromise(
          Effect.scoped(Effect.flatMap(temporaryPdf(input), (path) => Effect.result(read(path))))
        )
        if (Result.isFailure(done)) return `not opened: ${done.failure.reason}`
        const { layout, pageCount, split } = done.success
        hold(pageCount > 0, `${pageCount} pages`)
        const parts = Result.isSuccess(split) ? "split" : `not split: ${split.failure.reason}`
        if (Result.isFailure(layout)) return `${parts}, not laid out: ${layout.failure.reason}`
        const tags = new Set(layout.success.flatMap(({ html }) => html.match(/<[a-z]+[0-9]?/g) ?? []))
        return `${parts}, ${rough(layout.success.length)} laid out: ${[...tags].sort().join(" ")}`
      },
      close: () => runtime.dispose()
    }
  }
}
