import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

import { layerPdf } from "../../../../src/adapters/pdf/pdf.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import {
  MAX_FLYER_ATTEMPTS,
  processFlyer
} from "../../../../src/application/conversion/work/flyer-processing.ts"
import { wordsOf } from "../../../../src/domain/cascade/coverage.ts"
import { flyerResultKey } from "../../../../src/domain/conversion/stored-files.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { Pdf, type PdfDocument } from "../../../../src/ports/conversion/pdf.ts"
import { FileObjects } from "../../../../src/ports/object-store.ts"
import { PdfError } from "../../../../src/reader/model/pdf-document.ts"
import { customer, funds } from "../../../adapters/postgres/conversion/world.ts"
import { STALE, WINDOW } from "../../../contracts/conversion/documents-world.ts"
import { HEARTBEAT, keysWith, layerWorld, stored, textOf } from "../../../domain/conversion/inline-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { linked, numbered, withForm } from "../../../support/files/pdf-samples.ts"
import { line, pdfOf } from "../../../support/files/pdf-writer.ts"
import { empty } from "../../../support/postgres/empty.ts"

const claimed = Effect.gen(function* () {
  const store = yield* ConversionStore
  const claim = yield* store.claimFlyer(anyId(), STALE)
  return claim ?? (yield* Effect.die(new Error("nothing to claim")))
})

const jobOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* WriteSql
  const rows = yield* sql<{
    readonly status: string
    readonly result_key: string | null
    readonly error: string | null
  }>`
    select status, result_key, error from flyer_jobs where id = ${id}::uuid`
  return rows[0] ?? (yield* Effect.die(new Error("the flyer job is gone")))
})

/** A PDF of a new owner with ten credits, and a flyer job for it. */
const asked = Effect.fnUntraced(function* (bytes: Uint8Array, pages: number) {
  yield* empty("customers, files, flyer_jobs, cost_ledger, funds_holds, credit_charges")
  const owner = yield* customer(10)
  const file = yield* stored(owner, "pdf", "flyer & more.pdf", bytes, pages)
  const store = yield* ConversionStore
  const id = anyId()
  const answer = yield* store.requestFlyer({ id, fileId: file.id, customerId: owner, window: WINDOW })
  assert.strictEqual(answer, "queued")
  return { id, owner, file }
})

const process = (claim: Parameters<typeof processFlyer>[0]) => processFlyer(claim, { heartbeat: HEARTBEAT })
const run = Effect.flatMap(claimed, process)

/** The words of a document's text layer. */
const layerWords = (objectKey: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const objects = yield* FileObjects
      const pdf = yield* Pdf
      const document = yield* Effect.flatMap(objects.localPath(objectKey), pdf.open)
      const pages = yield* Stream.runCollect(document.pages({ first: 0, end: document.facts.pageCount }))
      return wordsOf(pages.flatMap(({ runs }) => runs.map(({ text }) => text)).join(" "))
    })
  )

const inside = (html: string): string => html.slice(html.indexOf("<main")).replaceAll(/<[^>]*>/g, "")

/** A reader whose documents do what a test says. */
const fakePdf = (parts: Partial<PdfDocument>) =>
  Effect.map(Pdf, (real) =>
    Layer.succeed(Pdf, {
      open: (path) => Effect.map(real.open(path), (document): PdfDocument => ({ ...document, ...parts }))
    })
  )

layer(Layer.merge(layerWorld, layerPdf({ threads: 1 })))("flyer jobs", (it) => {
  it.effect("every page as it looks, with its words and links, charged once", () =>
    Effect.gen(function* () {
      const { file, id, owner } = yield* asked(linked(), 2)
      const claim = yield* claimed
      yield* process(claim)
      const job = yield* jobOf(id)
      assert.deepStrictEqual([job.status, job.error], ["completed", null])
      assert.strictEqual(job.result_key, flyerResultKey(file.id, claim.lease))
      assert.deepStrictEqual(yield* funds(owner), { credits: 8, held: 0, charged: 2 })
      const html = yield* textOf(job.result_key)
      assert.match(html, /^<!doctype html>\n<html lang="de-AT">/)
      assert.include(html, "<h1>flyer &amp; more.pdf</h1>")
      assert.deepStrictEqual(
        [...html.matchAll(/<section [^>]*id="([^"]*)"/g)].map(([, anchor]) => anchor),
        ["page-1", "page-2"]
      )
      assert.strictEqual(html.match(/<img src="data:image\/png;base64,/g)?.length, 2)
      assert.match(html, /<a href="#page-2">[^<]+<\/a>/)
      assert.match(html, /<a href="https:\/\/example.org\/a">[^<]+<\/a>/)
      const wanted = yield* layerWords(file.objectKey)
      const found = new Set(wordsOf(inside(html)))
      assert.isAbove(wanted.length, 5)
      assert.deepStrictEqual(
        wanted.filter((word) => !found.has(word)),
        []
      )
    })
  )

  it.effect("its language is detected from its words where the document does not name one", () =>
    Effect.gen(function* () {
      const words = "Der Bericht beschreibt, wie die Gemeinde im vergangenen Jahr ihre Wege erneuert hat."
      const { id } = yield* asked(pdfOf({ pages: [{ content: line(words, 40, 700) }] }), 1)
      yield* run
      const html = yield* textOf((yield* jobOf(id)).result_key)
      assert.include(html, '<html lang="de">')
      assert.include(html, "Zum Hauptinhalt springen")
    })
  )

  it.effect("what a form holds can be read", () =>
    Effect.gen(function* () {
      const { id } = yield* asked(withForm(), 1)
      yield* run
      assert.include(inside(yield* textOf((yield* jobOf(id)).result_key)), "France")
    })
  )

  it.effect("a page that cannot be drawn shows its text, one that cannot be read says so", () =>
    Effect.gen(function* () {
      const { id } = yield* asked(numbered(3), 3)
      const crash = (page: number) => new PdfError({ reason: "crashed", message: "no", page })
      const real = yield* Pdf
      const fake = Layer.succeed(Pdf, {
        open: (path) =>
          Effect.map(real.open(path), (document): PdfDocument => ({
            ...document,
            pages: (range) =>
              range.first === 1 && range.end === 2 ? Stream.fail(crash(1)) : document.pages(range),
            render: (index, dpi) => (index === 2 ? Effect.fail(crash(2)) : document.render(index, dpi))
          }))
      })
      yield* Effect.provide(run, fake)
      const html = yield* textOf((yield* jobOf(id)).result_key)
      assert.include(html, "Page 2 could not be read.")
      const [, first = "", , third = ""] = html.split("<section ")
      assert.match(first, /class="page" .*<img /s)
      assert.match(third, /class="page bare".*Page number 3/s)
      assert.notInclude(third, "<img")
    })
  )

  it.effect("a document none of whose pages can be read has failed, and nothing is charged", () =>
    Effect.gen(function* () {
      const { file, id, owner } = yield* asked(numbered(2), 2)
      const failing = new PdfError({ reason: "bomb", message: "Too much on it." })
      const fake = yield* fakePdf({ pages: () => Stream.fail(failing) })
      yield* Effect.provide(run, fake)
      assert.deepInclude(yield* jobOf(id), { status: "failed", error: "Too much on it.", result_key: null })
      assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      assert.deepStrictEqual(yield* keysWith(file.id), [file.objectKey])
    })
  )

  it.effect("a broken PDF fails at once; a reader that crashes is tried again, three times in all", () =>
    Effect.gen(function* () {
      const broken = yield* asked(Buffer.from("no PDF"), 1)
      yield* run
      assert.strictEqual((yield* jobOf(broken.id)).status, "failed")
      const { id } = yield* asked(numbered(1), 1)
      const crashed = new PdfError({ reason: "crashed", message: "It crashed." })
      const fake = Layer.succeed(Pdf, { open: () => Effect.fail(crashed) })
      const states: Array<string> = []
      for (let attempt = 0; attempt < MAX_FLYER_ATTEMPTS; attempt++) {
        yield* Effect.provide(run, fake)
        states.push((yield* jobOf(id)).status)
      }
      assert.deepStrictEqual(states, ["pending", "pending", "failed"])
    })
  )

  it.effect("a worker that lost its lease writes nothing; one that comes late takes its result away", () =>
    Effect.gen(function* () {
      const { file, id, owner } = yield* asked(numbered(1), 1)
      const begun = yield* Deferred.make<void>()
      const slow = yield* fakePdf({
        render: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      })
      const claim = yield* claimed
      const worker = yield* Effect.forkScoped(Effect.provide(process(claim), slow))
      yield* Deferred.await(begun)
      const sql = yield* WriteSql
      yield* sql`update flyer_jobs set heartbeat_at = now() - interval '1 hour' where id = ${id}::uuid`
      const other = yield* claimed
      yield* TestClock.adjust(HEARTBEAT)
      yield* Fiber.join(worker)
      assert.deepStrictEqual(yield* keysWith(file.id), [file.objectKey])
      yield* process(other)
      yield* process(claim)
      const kept = flyerResultKey(file.id, other.lease)
      assert.deepStrictEqual(
        (yield* keysWith("flyer-")).filter((key) => key.includes(file.id)),
        [kept]
      )
      assert.strictEqual((yield* jobOf(id)).result_key, kept)
      assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })
    }).pipe(Effect.scoped)
  )

  it.effect("a program that stops hands the job back", () =>
    Effect.gen(function* () {
      const { file, id } = yield* asked(numbered(1), 1)
      const begun = yield* Deferred.make<void>()
      const slow = yield* fakePdf({
        render: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      })
      const worker = yield* Effect.forkScoped(Effect.provide(run, slow))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(worker)
      assert.strictEqual((yield* jobOf(id)).status, "pending")
      assert.deepStrictEqual(yield* keysWith(file.id), [file.objectKey])
    }).pipe(Effect.scoped)
  )
})
