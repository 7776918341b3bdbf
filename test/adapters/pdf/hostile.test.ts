import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import type { PdfFailure } from "../../../src/reader/model/pdf-document.ts"
import { encryptPdf } from "../../support/files/pdf-encrypt.ts"
import { foreignPdfs, temporaryPdf } from "../../support/files/pdf-files.ts"
import * as hostile from "../../support/files/pdf-hostile.ts"
import { numbered } from "../../support/files/pdf-samples.ts"

/** Memory for the libraries: what is made here to be too much need not be so large. */
const LITTLE = 96 * 1024 * 1024

/** Why a document does not open, or null. */
const openingOf = (path: string) =>
  Effect.gen(function* () {
    const pdf = yield* Pdf
    return yield* Effect.scoped(pdf.open(path)).pipe(
      Effect.as(null),
      Effect.catch((error) => Effect.succeed(error))
    )
  })

/** What comes of reading all of a document in every way: pages, or the error that ended it. */
const readingOf = (path: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const document = yield* (yield* Pdf).open(path)
      const range = { first: 0, end: document.facts.pageCount }
      const outcome = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
        Stream.runCollect(stream).pipe(
          Effect.map((items) => items.length),
          Effect.catch((error) => Effect.succeed(error))
        )
      return {
        pages: yield* outcome(document.pages(range)),
        split: yield* outcome(document.split(range)),
        blank: yield* outcome(Stream.fromEffect(document.isBlank(0)))
      }
    })
  )

layer(layerPdf({ threads: 1, libraryBytes: LITTLE }))("hostile documents", (it) => {
  const refused: ReadonlyArray<readonly [string, () => Buffer, PdfFailure]> = [
    ["no PDF at all", hostile.notPdf, "broken"],
    ["an empty file", () => Buffer.alloc(0), "broken"],
    ["a PDF cut off", hostile.truncated, "broken"],
    ["no page", hostile.withoutPages, "empty"],
    ["a dynamic form", hostile.dynamicXfa, "xfa-only"],
    ["a dynamic form that does not say so", hostile.staticXfaPlaceholder, "xfa-only"],
    ["a page tree that is its own child", hostile.circularPages, "too-many-pages"]
  ]
  for (const [name, make, reason] of refused)
    it.effect(`${name} does not open: ${reason}`, () =>
      Effect.gen(function* () {
        const error = yield* openingOf(yield* temporaryPdf(make()))
        assert.strictEqual(error?.reason, reason)
        assert.match(error?.message ?? "", /^[A-Z].{20,200}\.$/)
      })
    )

  it.effect("a password is asked for, unless it is empty", () =>
    Effect.gen(function* () {
      const path = yield* temporaryPdf(numbered(2))
      const locked = yield* temporaryPdf(yield* Effect.promise(() => encryptPdf(path, "secret")))
      assert.strictEqual((yield* openingOf(locked))?.reason, "encrypted")
      const unlocked = yield* temporaryPdf(yield* Effect.promise(() => encryptPdf(path, "")))
      assert.deepStrictEqual(yield* readingOf(unlocked), { pages: 2, split: 2, blank: 1 })
    })
  )

  it.effect("fields without a place, in circles and with endless names are left out, the others read", () =>
    Effect.gen(function* () {
      const document = yield* (yield* Pdf).open(yield* temporaryPdf(hostile.manyFields(300)))
      const [page] = yield* Stream.runCollect(document.pages({ first: 0, end: 1 }))
      const fields = page?.fields ?? []
      assert.isAbove(fields.length, 100)
      assert.isBelow(fields.length, 300)
      assert.isTrue(fields.every(({ name }) => name.length <= 2_000))
    })
  )

  const atPage: ReadonlyArray<readonly [string, () => Buffer, PdfFailure]> = [
    ["a page of 400 inches", hostile.hugePage, "too-large-page"],
    ["a page with 400,000 characters", hostile.tooMuchText, "bomb"],
    ["a page that inflates to 150 MB", () => hostile.inflating(150), "bomb"]
  ]
  for (const [name, make, reason] of atPage)
    it.effect(`${name} ends the stream there, after the pages before it: ${reason}`, () =>
      Effect.gen(function* () {
        const document = yield* (yield* Pdf).open(yield* temporaryPdf(make()))
        const seen: Array<number> = []
        const error = yield* document.pages({ first: 0, end: 2 }).pipe(
          Stream.runForEach(({ index }) => Effect.sync(() => seen.push(index))),
          Effect.flip
        )
        assert.deepStrictEqual([error.reason, error.page, seen], [reason, 1, [0]])
        // The document goes on being read, in a fresh thread where the old one had to end.
        const [first] = yield* Stream.runCollect(document.pages({ first: 0, end: 1 }))
        assert.strictEqual(first?.runs.length, 1)
      })
    )
})

layer(layerPdf({ threads: 1 }))("documents of others", (it) => {
  const broken = foreignPdfs("broken")
  const real = foreignPdfs("real")
  it.effect(
    broken.length === 0
      ? "damaged documents of others: no such folder here, those above stand for them"
      : "each of the damaged documents of others ends in pages or in an error for people",
    () =>
      Effect.gen(function* () {
        let read = 0
        for (const path of broken) {
          const opened = yield* openingOf(path)
          if (opened !== null) {
            assert.notStrictEqual(opened.reason, "crashed", path)
            continue
          }
          const outcomes = Object.entries(yield* readingOf(path))
          for (const [way, outcome] of outcomes)
            assert.isTrue(typeof outcome === "number" || outcome.reason !== "crashed", `${path}: ${way}`)
          if (outcomes.every(([, outcome]) => typeof outcome === "number" && outcome > 0)) read++
        }
        assert.isAtLeast(read, Math.floor(broken.length * 0.7))
      })
  )
  it.effect(
    real.length === 0
      ? "real documents of others: no such folder here, the samples stand for them"
      : "each of the real documents of others is read to its last page",
    () =>
      Effect.gen(function* () {
        for (const path of real) {
          const document = yield* (yield* Pdf).open(path)
          const end = Math.min(60, document.facts.pageCount)
          const pages = yield* Stream.runCollect(document.pages({ first: 0, end }))
          assert.lengthOf(pages, end, path)
          assert.isTrue(
            pages.some(({ runs }) => runs.length > 0),
            path
          )
        }
      })
  )
})
