import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { encode } from "effect/encoding/Base64"
import { TestClock } from "effect/testing"

import { layerDocx } from "../../../../src/adapters/docx/docx-converter.ts"
import { layerPdf } from "../../../../src/adapters/pdf/pdf.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as ReaderProcess from "../../../../src/adapters/reader-process/reader-process.ts"
import { layerTesseract } from "../../../../src/adapters/tesseract/recognition.ts"
import type { WorkSettings } from "../../../../src/application/conversion/work/attempt.ts"
import {
  MAX_INLINE_ATTEMPTS,
  processInline
} from "../../../../src/application/conversion/work/inline-processing.ts"
import * as ReadPages from "../../../../src/application/conversion/work/read-pages.ts"
import type { ConversionOptions } from "../../../../src/domain/conversion/job.ts"
import { NO_MODEL } from "../../../../src/domain/conversion/page-line.ts"
import { type ClaimedInline, ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { DocxConverter } from "../../../../src/ports/conversion/documents.ts"
import { FileObjects } from "../../../../src/ports/object-store.ts"
import { encodePng } from "../../../../src/reader/sources/pdf/content/png.ts"
import { customer, funds } from "../../../adapters/postgres/conversion/world.ts"
import { STALE } from "../../../contracts/conversion/documents-world.ts"
import {
  asked,
  HEARTBEAT,
  keysWith,
  layerWorld,
  seen,
  stored,
  textOf
} from "../../../domain/conversion/inline-world.ts"
import { type Script, scriptedModel } from "../../../domain/conversion/world.ts"
import { anyId } from "../../../support/any-id.ts"
import { jpeg, pngOf } from "../../../support/files/picture-files.ts"
import { typedPicture } from "../../../support/files/typed-picture.ts"
import { paragraph, pictureOf, wordOf } from "../../../support/files/word-files.ts"
import { empty } from "../../../support/postgres/empty.ts"

const SETTINGS = {
  heartbeat: HEARTBEAT,
  modelId: "m",
  price: { inputUsdPerMtok: 1000, outputUsdPerMtok: 10_000 }
}

const claimed = Effect.fnUntraced(function* (options: ConversionOptions = {}) {
  const store = yield* ConversionStore
  const claim = yield* store.claimInline(anyId(), STALE)
  if (claim === undefined) return yield* Effect.die(new Error("nothing to claim"))
  const inline: ClaimedInline = { ...claim, options }
  return inline
})

const silent: Script = () => "refused"

const process = (claim: ClaimedInline, script: Script = silent, settings: WorkSettings = SETTINGS) =>
  processInline(claim, settings).pipe(Effect.provide(scriptedModel(script).layer))

/** Claims what was asked for and works on it. */
const run = (options: ConversionOptions = {}, script: Script = silent, settings: WorkSettings = SETTINGS) =>
  Effect.flatMap(claimed(options), (claim) => process(claim, script, settings))

/** Where the picture alone is charged as a standard conversion. */
const STANDARD: WorkSettings = { ...SETTINGS, withoutModel: "standard" }

/** A converter that begins and does not end. */
const endless = Effect.map(Deferred.make<void>(), (begun) => ({
  begun,
  layer: Layer.mock(DocxConverter, {
    convert: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
  })
}))

/** A PNG whose pieces are whole, and whose pixels are not. */
const brokenPng = (): Buffer => {
  const png = pngOf(64, 64)
  return Buffer.from(png).fill(0x55, png.indexOf("IDAT") + 4, png.length - 16)
}

const clean = empty("customers, files, cost_ledger, funds_holds, credit_charges")

const layerPages = Layer.provide(ReadPages.layer, layerPdf({ threads: 1 }))

const layerAll = layerPages.pipe(
  Layer.provideMerge(Layer.merge(layerWorld, Layer.provide(layerDocx(), ReaderProcess.layer)))
)

/** With pictures read on this machine. */
const layerReading = Layer.fresh(layerPages).pipe(
  Layer.provideMerge(layerTesseract({ threads: 1, languages: ["eng"] }))
)

const HIFI: ConversionOptions = { highFidelity: true }

layer(layerAll)("inline conversions", (it) => {
  const begin = Effect.gen(function* () {
    yield* clean
    return yield* customer(10)
  })

  it.effect("a Word document becomes one accessible file, charged once", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const png = pngOf()
      const body =
        paragraph("The Report", "Title") +
        paragraph("Part one", "Heading1") +
        paragraph("Cats &lt;script&gt; and dogs") +
        pictureOf("rId1", "A cat")
      const bytes = wordOf({ body, title: "Annual report", pages: 3, pictures: [["a.png", png]] })
      const file = yield* stored(owner, "docx", "report.docx", bytes, 3)
      yield* asked(owner, file.id)
      const claim = yield* claimed()
      yield* process(claim)
      const { error, progress, resultKey, status } = yield* seen(owner, file.id)
      assert.deepStrictEqual([status, error, progress], ["completed", null, { done: 3, total: 3 }])
      assert.strictEqual(resultKey, `files/${file.id}/result-${claim.lease}.html`)
      assert.deepStrictEqual(yield* funds(owner), { credits: 7, held: 0, charged: 3 })
      const html = yield* textOf(resultKey)
      assert.match(html, /^<!doctype html>/)
      assert.include(html, "<title>The Report</title>")
      assert.include(html, "Cats &lt;script&gt; and dogs")
      assert.match(html, /<img[^>]* alt="A cat"/)
      assert.include(html, `src="data:image/png;base64,${png.toString("base64")}"`)
      assert.notMatch(html, /<script|src="(?!data:)/)
    })
  )

  it.effect("a long document keeps all its words", () =>
    Effect.gen(function* () {
      yield* begin
      const owner = yield* customer(400)
      const body = Array.from({ length: 2000 }, (_, at) =>
        paragraph(`Number${at} ${"word ".repeat(60)}`)
      ).join("")
      const file = yield* stored(owner, "docx", "long.docx", wordOf({ body }))
      yield* asked(owner, file.id)
      yield* run()
      const html = yield* textOf((yield* seen(owner, file.id)).resultKey)
      assert.lengthOf(html.match(/Number\d+ (word ?){60}/g) ?? [], 2000)
      // It is charged by the words of its result, whatever it was taken for.
      assert.deepStrictEqual(yield* funds(owner), { credits: 400 - 305, held: 0, charged: 305 })
    })
  )

  it.effect("a picture without a model stands for itself, and that is said", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const file = yield* stored(owner, "jpeg", "cat <1>.jpg", jpeg())
      yield* asked(owner, file.id)
      yield* run()
      const { resultKey, status } = yield* seen(owner, file.id)
      assert.strictEqual(status, "completed")
      const html = yield* textOf(resultKey)
      assert.include(html, `src="data:image/jpeg;base64,${jpeg().toString("base64")}"`)
      assert.include(html, 'alt="Picture of the uploaded file cat &lt;1&gt;.jpg; no text version was made"')
      assert.include(html, "high fidelity was not asked for")
    })
  )

  it.effect(
    "DOC-23: without a model a picture is recognised as a scanned page is, and shown as it was sent",
    () =>
      Effect.gen(function* () {
        const owner = yield* begin
        const { picture, words } = yield* typedPicture
        const png = encodePng({ ...picture, channels: 1, data: picture.bytes })
        const file = yield* stored(owner, "png", "note.png", png)
        yield* asked(owner, file.id)
        yield* run().pipe(Effect.provide(layerReading))
        const { hasText, resultKey, status } = yield* seen(owner, file.id)
        assert.deepStrictEqual([status, hasText], ["completed", true])
        const html = yield* textOf(resultKey)
        for (const word of words) assert.include(html, word)
        assert.match(html, /<h1[^>]*>Harbour Lights/)
        assert.include(html, `src="data:image/png;base64,${encode(png)}"`)
        assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })
      })
  )

  it.effect("a picture without text stands for itself and says so", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const plain = yield* stored(owner, "png", "sky.png", pngOf(64, 64))
      yield* asked(owner, plain.id)
      yield* run().pipe(Effect.provide(layerReading))
      assert.deepInclude(yield* seen(owner, plain.id), { status: "completed", hasText: false })
      assert.include(yield* textOf((yield* seen(owner, plain.id)).resultKey), "No text was found on it")
    })
  )

  it.effect(
    "R2: a picture that cannot be decoded is a page that cannot be read: it costs nothing, whatever was to read it",
    () =>
      Effect.gen(function* () {
        const owner = yield* begin
        const ways = [
          [jpeg().subarray(0, 40), run().pipe(Effect.provide(layerReading))],
          [brokenPng(), run().pipe(Effect.provide(layerReading))],
          [brokenPng(), run()],
          [brokenPng(), run(HIFI, silent, STANDARD)]
        ] as const
        for (const [bytes, work] of ways) {
          const file = yield* stored(owner, "png", "x.png", bytes)
          yield* asked(owner, file.id)
          yield* work
          const { error, resultKey, status } = yield* seen(owner, file.id)
          assert.deepStrictEqual([status, resultKey], ["failed", null])
          assert.match(error ?? "", /^This picture is damaged/)
        }
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
  )

  it.effect("where no model reads it, what is recognised stands in, and that is said", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const { picture, words } = yield* typedPicture
      const png = encodePng({ ...picture, channels: 1, data: picture.bytes })
      const file = yield* stored(owner, "png", "note.png", png)
      yield* asked(owner, file.id)
      yield* run(HIFI, silent, STANDARD).pipe(Effect.provide(layerReading))
      const { noModelPages, resultKey } = yield* seen(owner, file.id)
      assert.deepStrictEqual(noModelPages, [1])
      const html = yield* textOf(resultKey)
      assert.include(html, words[0] ?? "none")
      assert.include(html, "High fidelity was not available for 1 page")
    })
  )

  it.effect("with a model its text comes first, and what it cost is booked once", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const file = yield* stored(owner, "png", "scan.png", pngOf())
      yield* asked(owner, file.id)
      const model = scriptedModel(() => "<h2>Menu</h2><p>Soup<script>alert(1)</script></p>")
      const claim = yield* claimed(HIFI)
      yield* processInline(claim, SETTINGS).pipe(Effect.provide(model.layer))
      const html = yield* textOf((yield* seen(owner, file.id)).resultKey)
      assert.include(html, "<p>Soup</p>")
      assert.isBelow(html.indexOf("Soup"), html.indexOf("<img"))
      assert.deepInclude(model.requests[0]?.messages[0]?.content[0], {
        picture: new Uint8Array(pngOf()),
        format: "png"
      })
      const sql = yield* WriteSql
      const costs = yield* sql`select id, source, cost_usd::float8 as usd from cost_ledger`
      assert.deepStrictEqual(costs, [{ id: claim.lease, source: "inline", usd: 0.2 }])
    })
  )

  it.effect.each(["unavailable", "refused"] as const)(
    "a picture whose model is %s costs nothing, and says why",
    (answer) =>
      Effect.gen(function* () {
        const owner = yield* begin
        const file = yield* stored(owner, "png", "scan.png", pngOf())
        yield* asked(owner, file.id)
        for (
          let attempt = answer === "refused" ? MAX_INLINE_ATTEMPTS : 1;
          attempt <= MAX_INLINE_ATTEMPTS;
          attempt++
        )
          yield* run(HIFI, () => answer)
        assert.deepInclude(yield* seen(owner, file.id), {
          status: "failed",
          error: NO_MODEL,
          resultKey: null
        })
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
  )

  it.effect(
    "a model that does not answer: tried again, then the picture alone, where that is charged as standard",
    () =>
      Effect.gen(function* () {
        const owner = yield* begin
        const file = yield* stored(owner, "png", "scan.png", pngOf())
        yield* asked(owner, file.id)
        for (let attempt = 1; attempt < MAX_INLINE_ATTEMPTS; attempt++) {
          yield* run(HIFI, () => "unavailable")
          assert.deepInclude(yield* seen(owner, file.id), { status: "processing", phase: "Queued" })
        }
        yield* run(HIFI, () => "unavailable", STANDARD)
        const { noModelPages, resultKey } = yield* seen(owner, file.id)
        assert.include(yield* textOf(resultKey), "gave no answer")
        assert.deepStrictEqual(noModelPages, [1])
      })
  )

  it.effect(
    "an answer that was cut off, and a picture that is too large for the model, are said as well",
    () =>
      Effect.gen(function* () {
        const owner = yield* begin
        const cut = yield* stored(owner, "png", "scan.png", pngOf())
        yield* asked(owner, cut.id)
        yield* run(HIFI, () => ({ text: "<p>Half", stopReason: "max_tokens" }), STANDARD)
        assert.include(yield* textOf((yield* seen(owner, cut.id)).resultKey), "gave no answer")
        const large = yield* stored(owner, "png", "big.png", pngOf(4, 2, [["teSt", Buffer.alloc(4_000_000)]]))
        yield* asked(owner, large.id)
        const model = scriptedModel(() => "<p>never asked</p>")
        yield* processInline(yield* claimed(HIFI), STANDARD).pipe(Effect.provide(model.layer))
        assert.deepStrictEqual(model.calls, [])
        assert.include(yield* textOf((yield* seen(owner, large.id)).resultKey), "too large for the model")
        yield* asked(owner, large.id)
        yield* run(HIFI, () => "<p>never asked</p>")
        const { error, status } = yield* seen(owner, large.id)
        assert.strictEqual(status, "failed")
        assert.match(error ?? "", /too large for high fidelity, so nothing was converted or charged/)
      })
  )

  it.effect("a broken document fails at once, nothing is charged", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const file = yield* stored(owner, "docx", "x.docx", Buffer.from("no document"))
      yield* asked(owner, file.id)
      yield* run()
      const { error, status } = yield* seen(owner, file.id)
      assert.strictEqual(status, "failed")
      assert.match(error ?? "", /^This Word document is damaged/)
      assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
    })
  )

  it.effect("a worker that lost its lease writes nothing", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const file = yield* stored(owner, "docx", "x.docx", wordOf({ body: paragraph("Kept") }))
      yield* asked(owner, file.id)
      const { begun, layer: layerEndless } = yield* endless
      const claim = yield* claimed()
      const worker = yield* Effect.forkScoped(Effect.provide(process(claim), layerEndless))
      yield* Deferred.await(begun)
      const sql = yield* WriteSql
      yield* sql`update files set heartbeat_at = now() - interval '1 hour' where id = ${file.id}::uuid`
      const other = yield* claimed()
      assert.strictEqual(other.attempts, 2)
      yield* TestClock.adjust(HEARTBEAT)
      yield* Fiber.join(worker)
      assert.deepStrictEqual(yield* keysWith(`${file.id}/result-`), [])
      yield* process(other)
      assert.strictEqual(
        (yield* seen(owner, file.id)).resultKey,
        `files/${file.id}/result-${other.lease}.html`
      )
      // One that never looked and comes late with a result takes it away again.
      yield* process(claim)
      assert.lengthOf(yield* keysWith(`${file.id}/result-`), 1)
      assert.include(yield* textOf((yield* seen(owner, file.id)).resultKey), "Kept")
      assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })
    }).pipe(Effect.scoped)
  )

  it.effect("K1: a worker that lost its lease books what its model cost", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const file = yield* stored(owner, "png", "scan.png", pngOf())
      yield* asked(owner, file.id)
      const objects = yield* FileObjects
      const writing = yield* Deferred.make<void>()
      const stuck = Layer.succeed(FileObjects, {
        ...objects,
        put: () => Effect.andThen(Deferred.succeed(writing, undefined), Effect.never)
      })
      const claim = yield* claimed(HIFI)
      const worker = yield* Effect.forkScoped(process(claim, () => "<p>Soup</p>").pipe(Effect.provide(stuck)))
      yield* Deferred.await(writing)
      const store = yield* ConversionStore
      yield* store.deleteFile(file.id, owner)
      yield* TestClock.adjust(HEARTBEAT)
      yield* Fiber.join(worker)
      const sql = yield* WriteSql
      const costs = yield* sql`select id, cost_usd::float8 as usd from cost_ledger`
      assert.deepStrictEqual(costs, [{ id: claim.lease, usd: 0.2 }])
      assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
    }).pipe(Effect.scoped)
  )

  it.effect("a program that stops hands the file back, and the attempt is not its last", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const file = yield* stored(owner, "docx", "x.docx", wordOf())
      yield* asked(owner, file.id)
      const sql = yield* WriteSql
      yield* sql`update files set attempts = 2 where id = ${file.id}::uuid`
      const { begun, layer: layerEndless } = yield* endless
      const worker = yield* Effect.forkScoped(
        Effect.flatMap(claimed(), (claim) => Effect.provide(process(claim), layerEndless))
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(worker)
      assert.deepInclude(yield* seen(owner, file.id), { status: "processing", phase: "Queued", error: null })
    }).pipe(Effect.scoped)
  )

  it.effect("one that its workers died over is given up", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const file = yield* stored(owner, "docx", "x.docx", wordOf())
      yield* asked(owner, file.id)
      const sql = yield* WriteSql
      yield* sql`update files set attempts = ${MAX_INLINE_ATTEMPTS} where id = ${file.id}::uuid`
      yield* run()
      assert.strictEqual((yield* seen(owner, file.id)).status, "failed")
    })
  )

  it.effect("a file that was deleted meanwhile leaves no result behind", () =>
    Effect.gen(function* () {
      const owner = yield* begin
      const file = yield* stored(owner, "docx", "x.docx", wordOf())
      yield* asked(owner, file.id)
      const claim = yield* claimed()
      const store = yield* ConversionStore
      yield* store.deleteFile(file.id, owner)
      yield* process(claim)
      assert.deepStrictEqual(yield* keysWith(`${file.id}/result-`), [])
    })
  )
})
