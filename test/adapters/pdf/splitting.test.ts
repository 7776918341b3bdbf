import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf, type PdfDocument } from "../../../src/ports/conversion/pdf.ts"
import type { PageContent } from "../../../src/reader/model/page-content.ts"
import { foreignPdfs, temporaryPdf } from "../../support/files/pdf-files.ts"
import { linked, numbered, sharing, tagged, withForm, withImage } from "../../support/files/pdf-samples.ts"

/** What is to be seen on a page, apart from where its links lead. */
const seen = ({ drawings, fields, height, runs, width }: PageContent) => ({
  width,
  height,
  fields,
  drawings: drawings.map(({ box, kind }) => ({ box, kind })),
  runs: runs.map(({ baseline, box, size, text }) => ({ baseline, box, size, text }))
})

const pageAt = (document: PdfDocument, index: number) =>
  Effect.map(Stream.runCollect(document.pages({ first: index, end: index + 1 })), ([page]) => {
    assert.isDefined(page)
    return page
  })

/** Splits pages, opens each, and holds it against the original. */
const compare = (path: string, most: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const pdf = yield* Pdf
      const document = yield* pdf.open(path)
      const range = { first: 0, end: Math.min(most, document.facts.pageCount) }
      const pages = yield* Stream.runCollect(document.split(range))
      assert.deepStrictEqual(
        pages.map(({ index }) => index),
        Array.from({ length: range.end }, (_, at) => at)
      )
      for (const { bytes, index } of pages) {
        const [single, whole] = yield* Effect.scoped(
          Effect.gen(function* () {
            const one = yield* pdf.open(yield* temporaryPdf(bytes))
            assert.strictEqual(one.facts.pageCount, 1, path)
            return [yield* pageAt(one, 0), yield* pageAt(document, index)] as const
          })
        )
        assert.deepStrictEqual(seen(single), seen(whole), `${path}, page ${index}`)
      }
      return pages
    })
  )

layer(layerPdf({ threads: 1 }))("splitting", (it) => {
  it.effect("each page is a PDF of its own that shows the same", () =>
    Effect.forEach(
      [linked(), tagged(), withForm(), withImage(), numbered(60)],
      (bytes) => Effect.flatMap(temporaryPdf(bytes), (path) => compare(path, 60)),
      { discard: true }
    )
  )

  it.effect("a page carries no other one along, and comes out the same each time", () =>
    Effect.gen(function* () {
      const path = yield* temporaryPdf(linked())
      const pages = yield* compare(path, 2)
      for (const { bytes } of pages) {
        assert.isBelow(bytes.length, linked().length)
        assert.isFalse(Buffer.from(bytes).includes("StructTreeRoot"))
      }
      const again = yield* compare(path, 2)
      assert.deepStrictEqual(
        again.map(({ bytes }) => Buffer.from(bytes).toString("hex")),
        pages.map(({ bytes }) => Buffer.from(bytes).toString("hex"))
      )
    })
  )

  it.effect("a range in the middle, and pages asked for again", () =>
    Effect.gen(function* () {
      const document = yield* (yield* Pdf).open(yield* temporaryPdf(numbered(50)))
      const indexes = (first: number, end: number) =>
        Effect.map(Stream.runCollect(document.split({ first, end })), (pages) =>
          pages.map(({ index }) => index)
        )
      assert.deepStrictEqual(yield* indexes(30, 33), [30, 31, 32])
      assert.deepStrictEqual(yield* indexes(31, 32), [31])
      assert.deepStrictEqual(yield* indexes(49, 80), [49])
      assert.lengthOf(yield* Stream.runCollect(document.split({ first: 0, end: 50 }).pipe(Stream.take(2))), 2)
      assert.deepStrictEqual(yield* indexes(0, 2), [0, 1])
    })
  )

  it.effect("a long document comes out the same each time, page by page", () =>
    Effect.gen(function* () {
      const path = yield* temporaryPdf(numbered(230))
      const [once, again] = [yield* compare(path, 230), yield* compare(path, 5)]
      for (const { bytes, index } of again)
        assert.isTrue(Buffer.from(bytes).equals(once[index]?.bytes ?? new Uint8Array()))
    })
  )

  it.effect("a page takes along only what it uses of what all pages share, as small as qpdf makes it", () =>
    Effect.gen(function* () {
      const pages = yield* compare(yield* temporaryPdf(sharing(220, 40, 10_000)), 220)
      assert.isBelow(Math.max(...pages.map(({ bytes }) => bytes.length)), 2_000)
    })
  )

  it.effect("a long form keeps its fields", () =>
    Effect.gen(function* () {
      const pages = yield* compare(yield* temporaryPdf(withForm(220)), 2)
      assert.lengthOf(pages, 2)
    })
  )

  it.effect("a damaged document is split all the same", () =>
    Effect.gen(function* () {
      const whole = numbered(3)
      const damaged = Buffer.from(
        whole.toString("latin1").replace(/startxref\n\d+/, "startxref\n7"),
        "latin1"
      )
      yield* compare(yield* temporaryPdf(damaged), 3)
    })
  )

  const real = foreignPdfs("real")
  it.effect(
    real.length === 0
      ? "real documents of others: no such folder here, the samples stand for them"
      : "pages of real documents of others show the same words",
    () => Effect.forEach(real, (path) => compare(path, 3), { discard: true })
  )
})
