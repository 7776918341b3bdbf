import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"

import type { Operation } from "../../../src/adapters/pdf/operations.ts"
import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { ReaderThread } from "../../../src/adapters/pdf/reader-thread.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { billionLaughs } from "../../support/files/pdf-hostile.ts"
import { linked, numbered, withForm } from "../../support/files/pdf-samples.ts"

const PATIENCE_MS = 120_000
const BATCH = { batchPages: 4, batchBytes: 1_000_000, libraryBytes: 96 * 1024 * 1024 }

const aThread = (pageTimeoutMs: number, limits = BATCH) =>
  Effect.acquireRelease(
    Effect.sync(() => new ReaderThread({ ...limits, pageTimeoutMs })),
    (thread) => Effect.promise(() => thread.stop())
  )

const request = (path: string, first: number, end: number, operation: Operation = "pages") => ({
  document: 1,
  path,
  fonts: [],
  traps: [],
  operation,
  first,
  end,
  argument: 0
})

it.live("a page that does not end is ended by the watchdog, and the next request finds a fresh thread", () =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(billionLaughs())
    // So much memory that the time's end comes first, and so much time that the page before it is read in it.
    const thread = yield* aThread(2_000, { ...BATCH, libraryBytes: 2 ** 31 })
    assert.lengthOf((yield* thread.ask(request(path, 0, 1))).items, 1)
    // The first page of a request to a thread that runs already.
    const { failure } = yield* thread.ask(request(path, 1, 2))
    assert.deepStrictEqual([failure?.reason, failure?.page], ["timeout", 1])
    assert.lengthOf((yield* thread.ask(request(path, 0, 1))).items, 1)
  })
)

it.live("a thread that dies under a request fails it, and the next one is served", () =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(billionLaughs())
    const thread = yield* aThread(PATIENCE_MS)
    const answer = yield* Effect.forkChild(thread.ask(request(path, 1, 2)), { startImmediately: true })
    yield* Effect.promise(() => thread.stop())
    assert.strictEqual((yield* Fiber.join(answer)).failure?.reason, "crashed")
    assert.lengthOf((yield* thread.ask(request(path, 0, 1))).items, 1)
  })
)

it.live("interruption ends what a thread does at once", () =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(billionLaughs())
    const thread = yield* aThread(PATIENCE_MS)
    const stuck = yield* Effect.forkChild(thread.ask(request(path, 1, 2)), { startImmediately: true })
    yield* Fiber.interrupt(stuck)
    assert.lengthOf((yield* thread.ask(request(path, 0, 1))).items, 1)
  })
)

it.live("a batch is as long as it may be, and a stream goes over batches in order", () =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(numbered(90))
    const thread = yield* aThread(PATIENCE_MS)
    assert.strictEqual((yield* thread.ask(request(path, 0, 90))).next, BATCH.batchPages)
    const narrow = yield* aThread(PATIENCE_MS, { ...BATCH, batchBytes: 1 })
    assert.strictEqual((yield* narrow.ask(request(path, 0, 90, "split"))).next, 1)
    const document = yield* (yield* Pdf).open(path)
    const numbers = (yield* Stream.runCollect(document.pages({ first: 3, end: 1_000 }))).map(
      ({ runs }) => runs[0]?.text
    )
    assert.deepStrictEqual(
      numbers,
      Array.from({ length: 87 }, (_, at) => `Page number ${at + 4}`)
    )
    assert.lengthOf(yield* Stream.runCollect(document.pages({ first: 5, end: 5 })), 0)
  }).pipe(Effect.provide(layerPdf({ threads: 1 })))
)

it.live("several documents share a thread and keep their own fonts", () =>
  Effect.gen(function* () {
    const pdf = yield* Pdf
    const paths = yield* Effect.forEach(
      [linked(), withForm(), numbered(3), numbered(5), numbered(40)],
      temporaryPdf
    )
    const documents = yield* Effect.forEach(paths, pdf.open)
    const counts = yield* Effect.forEach(
      documents,
      (document) =>
        Stream.runCollect(document.pages({ first: 0, end: document.facts.pageCount })).pipe(
          Effect.flatMap((pages) =>
            Effect.map(document.fonts, (fonts) => [pages.length, fonts.map(({ name }) => name)])
          )
        ),
      { concurrency: "unbounded" }
    )
    assert.deepStrictEqual(
      counts,
      [2, 1, 3, 5, 40].map((pages) => [pages, ["Helvetica"]])
    )
  }).pipe(Effect.provide(layerPdf({ threads: 1 })))
)

it.live("a file that is not there is a defect, not a broken document", () =>
  Effect.gen(function* () {
    const pdf = yield* Pdf
    const exit = yield* Effect.exit(Effect.scoped(pdf.open("/no/such/file.pdf")))
    assert.isTrue(exit._tag === "Failure" && exit.cause.reasons.every(({ _tag }) => _tag === "Die"))
  }).pipe(Effect.provide(layerPdf({ threads: 1 })))
)

it.live("the caller's thread stays free while a page is read", () =>
  Effect.gen(function* () {
    const thread = yield* aThread(PATIENCE_MS)
    const path = yield* temporaryPdf(billionLaughs())
    const stuck = yield* Effect.forkChild(thread.ask(request(path, 1, 2)), { startImmediately: true })
    const turned = yield* Deferred.make<void>()
    setImmediate(() => Effect.runFork(Deferred.succeed(turned, undefined)))
    yield* Deferred.await(turned)
    assert.isUndefined(stuck.pollUnsafe())
    yield* Fiber.interrupt(stuck)
  })
)
