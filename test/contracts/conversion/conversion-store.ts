/**
 * `ConversionStore`: a job runs from the request to the charge under leases, is cancelled or deleted whole, and is claimed and
 * paid once however many race.
 *
 * Adapters: memory, postgres. Rules: F1, X1, X2, DOC-10, DOC-14, DOC-17, DOC-22, DOC-40.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { CHUNK_PAGES, type JobOptions, MAX_CHUNK_ATTEMPTS } from "../../../src/domain/conversion/job.ts"
import { waitsFor } from "../../../src/domain/conversion/waiting.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { anyId } from "../../support/any-id.ts"
import {
  addFile,
  ask,
  clean,
  cost,
  customer,
  DocumentsWorld,
  fileOf,
  funds,
  job,
  ledgerUsd,
  pdf,
  STALE,
  WINDOW
} from "./documents-world.ts"

/** Claims and completes every chunk that there is. */
const completeAll = Effect.gen(function* () {
  const store = yield* ConversionStore
  while (true) {
    const chunk = yield* store.claimChunk("w", anyId())
    if (chunk === undefined) return
    yield* store.completeChunk(chunk, `results/${chunk.chunkIndex}`, [cost(chunk.jobId, 0.5)])
  }
})

/** What every conversion store does with jobs, from the request to the charge. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`conversions: ${name}`, (it) => {
    it.effect("a job runs through: queued, claimed chunk by chunk, assembled, charged once", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const world = yield* DocumentsWorld
        const fileId = yield* pdf(owner, 5)
        const jobId = yield* job(owner, fileId)
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 5, charged: 0 })
        assert.strictEqual((yield* fileOf(fileId, owner)).phase, "Queued: 0/3 chunks")
        const first = yield* store.claimChunk("w1", anyId())
        assert.deepStrictEqual([first?.chunkIndex, first?.firstPage, first?.lastPage], [0, 0, 1])
        assert.isTrue(yield* store.heartbeatChunk(first!, 1, WINDOW))
        const running = yield* fileOf(fileId, owner)
        assert.deepStrictEqual(
          [running.phase, running.progress],
          ["Converting: 0/3 chunks", { done: 1, total: 5 }]
        )
        assert.strictEqual(yield* store.completeChunk(first!, "r0", [cost(jobId, 0.5)]), "completed")
        yield* completeAll
        assert.strictEqual((yield* fileOf(fileId, owner)).phase, "Assembling")
        const lease = anyId()
        const assembly = yield* store.claimAssembly(lease, STALE)
        assert.deepStrictEqual(assembly?.chunkKeys, ["r0", "results/1", "results/2"])
        assert.isUndefined(yield* store.claimAssembly(anyId(), STALE))
        assert.strictEqual(yield* store.finishJob({ jobId, lease: anyId() }, "x"), "stale")
        assert.strictEqual(yield* store.finishJob({ jobId, lease }, "result"), "completed")
        assert.strictEqual(yield* store.finishJob({ jobId, lease }, "result"), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 5, held: 0, charged: 5 })
        const file = yield* fileOf(fileId, owner)
        assert.deepStrictEqual(
          [file.status, file.resultKey, file.phase, file.progress],
          ["completed", "result", null, { done: 5, total: 5 }]
        )
        const { doneChunks, status, totalCostUsd } = yield* world.job(jobId)
        assert.deepStrictEqual([status, doneChunks, totalCostUsd], ["completed", 3, 1.5])
      })
    )

    it.effect("what a conversion that stands still waits for is seen, from the queue to the end", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        const owner = yield* customer(10)
        const id = yield* pdf(owner, 4)
        const why = Effect.map(store.waitFacts(id), (facts) => facts && { ...waitsFor(facts), facts })
        assert.isUndefined(yield* why)
        const jobId = yield* job(owner, id)
        assert.deepInclude(yield* why, { cause: "turn", others: 0 })
        const other = yield* customer(10)
        const theirs = yield* pdf(other, 2)
        yield* job(other, theirs)
        assert.deepInclude(yield* why, { cause: "turn", others: 1 })
        yield* world.setJob(jobId, { age: Duration.minutes(5) })
        assert.deepInclude(yield* why, { cause: "worker", seconds: 300 })
        const claimed = [
          yield* store.claimChunk("w", anyId()),
          yield* store.claimChunk("w", anyId()),
          yield* store.claimChunk("w", anyId())
        ]
        const mine = claimed.filter((chunk) => chunk?.jobId === jobId)
        assert.deepInclude(yield* why, { cause: "page", seconds: 0 })
        for (const chunk of mine) yield* world.setChunk(chunk!.id, { silentFor: Duration.minutes(2) })
        assert.deepInclude(yield* why, { cause: "takeover", seconds: 120 })
        assert.deepInclude((yield* why)?.facts, { jobStatus: "processing", anySilent: 0, submitted: null })
        for (const chunk of mine)
          yield* store.failChunk(chunk!, {
            error: "e",
            costs: [],
            maxAttempts: MAX_CHUNK_ATTEMPTS,
            retryIn: Duration.minutes(1)
          })
        assert.deepInclude(yield* why, { cause: "retry" })
        yield* store.cancel(jobId)
        assert.isUndefined(yield* why)
        assert.isUndefined(yield* store.waitFacts(anyId()))
      })
    )

    it.effect("asking twice, for somebody else's file, and without the credits are distinguished", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(5)
        const other = yield* customer(5)
        const fileId = yield* pdf(owner, 4)
        const jobId = anyId()
        assert.strictEqual(yield* ask(other, fileId, anyId()), "not_found")
        assert.strictEqual(yield* ask(owner, fileId, jobId), "queued")
        assert.strictEqual(yield* ask(owner, fileId, jobId), "queued")
        assert.strictEqual(yield* ask(owner, fileId, anyId()), "active")
        assert.strictEqual(yield* ask(owner, yield* pdf(owner, 2), anyId()), "insufficient")
        assert.deepStrictEqual(yield* funds(owner), { credits: 5, held: 4, charged: 0 })
        assert.strictEqual((yield* store.nextQueued)?.jobId, jobId)
        assert.isTrue(
          yield* store.createJob(jobId, { status: "pending", options: {}, chunkPages: CHUNK_PAGES })
        )
        assert.isFalse(
          yield* store.createJob(jobId, { status: "pending", options: {}, chunkPages: CHUNK_PAGES })
        )
        assert.isUndefined(yield* store.nextQueued)
      })
    )

    it.effect("a lease that is lost stops nothing but its own holder", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        const owner = yield* customer(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        const slow = yield* store.claimChunk("slow", anyId())
        assert.strictEqual(yield* store.recoverOrphan(STALE, MAX_CHUNK_ATTEMPTS), 0)
        yield* world.setChunk(slow!.id, { silentFor: Duration.hours(1) })
        assert.strictEqual(yield* store.recoverOrphan(STALE, MAX_CHUNK_ATTEMPTS), 1)
        const next = yield* store.claimChunk("next", anyId())
        assert.strictEqual(next?.id, slow?.id)
        assert.isFalse(yield* store.heartbeatChunk(slow!, 2, WINDOW))
        assert.strictEqual(yield* store.completeChunk(slow!, "old", [cost(jobId, 1)]), "stale")
        assert.strictEqual(yield* store.completeChunk(next!, "new", [cost(jobId, 2)]), "assembling")
        assert.strictEqual(yield* store.completeChunk(next!, "new", []), "assembling")
        assert.deepStrictEqual(
          (yield* world.chunks(jobId)).map(({ resultKey }) => resultKey),
          ["new"]
        )
        assert.strictEqual(yield* ledgerUsd, 3)
      })
    )

    it.effect(
      "a chunk that fails is tried again; the last failure fails the job and gives the funds back",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* ConversionStore
          const owner = yield* customer(10)
          const fileId = yield* pdf(owner, 4)
          yield* job(owner, fileId)
          const failure = { error: "no model", costs: [], retryIn: Duration.zero, maxAttempts: 2 }
          const once = yield* store.claimChunk("w", anyId())
          assert.strictEqual(yield* store.failChunk(once!, failure), "pending")
          assert.strictEqual(yield* store.failChunk(once!, failure), "stale")
          const again = yield* store.claimChunk("w", anyId())
          assert.deepStrictEqual([again?.id, again?.attempts], [once?.id, 2])
          assert.strictEqual(yield* store.failChunk(again!, failure), "failed")
          const file = yield* fileOf(fileId, owner)
          assert.deepStrictEqual([file.status, file.error, file.jobStatus], ["failed", "no model", "failed"])
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
          assert.isUndefined(yield* store.claimChunk("w", anyId()))
        })
    )

    it.effect("the oldest job goes first, its chunks in their order", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(100)
        const jobs = yield* Effect.forEach([1, 2, 3], () =>
          Effect.flatMap(pdf(owner, 4), (id) => job(owner, id))
        )
        const claimed = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => store.claimChunk("w", anyId()))
        assert.deepStrictEqual(
          claimed.map((chunk) => [chunk?.jobId, chunk?.chunkIndex]),
          jobs.flatMap((jobId) => [
            [jobId, 0],
            [jobId, 1]
          ])
        )
      })
    )

    it.effect("a chunk that failed is left alone until its next try is due; others are not", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        const owner = yield* customer(10)
        yield* job(owner, yield* pdf(owner, 4))
        const failed = yield* store.claimChunk("w", anyId())
        const later = { error: "no model", costs: [], retryIn: Duration.hours(1), maxAttempts: 3 }
        assert.strictEqual(yield* store.failChunk(failed!, later), "pending")
        const other = yield* store.claimChunk("w", anyId())
        assert.deepStrictEqual([failed?.chunkIndex, other?.chunkIndex], [0, 1])
        assert.isUndefined(yield* store.claimChunk("w", anyId()))
        yield* world.setChunk(failed!.id, { due: true })
        assert.strictEqual((yield* store.claimChunk("w", anyId()))?.id, failed?.id)
      })
    )

    it.effect("work that is alive keeps its funds set aside, however long it takes", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        const owner = yield* customer(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        const refreshed = (beat: Effect.Effect<boolean, StoreUnavailable>) =>
          Effect.gen(function* () {
            yield* world.lapsesIn(jobId, 1)
            assert.isTrue(yield* beat)
            const hold = yield* world.hold(jobId)
            return hold !== undefined && hold.minutes > 60
          })
        const chunk = yield* store.claimChunk("w", anyId())
        assert.isTrue(yield* refreshed(store.heartbeatChunk(chunk!, 0, WINDOW)))
        yield* store.completeChunk(chunk!, "r", [])
        const lease = anyId()
        yield* store.claimAssembly(lease, STALE)
        assert.isTrue(yield* refreshed(store.heartbeatAssembly({ jobId, lease }, WINDOW)))
      })
    )

    it.effect(
      "cancel: from each status but assembling, queued included; nothing is charged, nothing comes after",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* ConversionStore
          const owner = yield* customer(10)
          const fileId = yield* pdf(owner, 4)
          const queued = anyId()
          yield* store.request({ jobId: queued, fileId, customerId: owner, options: {}, window: WINDOW })
          assert.strictEqual(yield* store.cancel(queued), "cancelled")
          assert.isFalse(yield* store.createJob(queued, { status: "pending", options: {}, chunkPages: 2 }))
          assert.strictEqual((yield* fileOf(fileId, owner)).status, "uploaded")
          const jobId = yield* job(owner, fileId)
          const chunk = yield* store.claimChunk("w", anyId())
          assert.strictEqual(yield* store.cancel(jobId), "cancelled")
          assert.strictEqual(yield* store.cancel(jobId), "cancelled")
          assert.strictEqual(yield* store.cancel(anyId()), "not_active")
          assert.isFalse(yield* store.heartbeatChunk(chunk!, 1, WINDOW))
          assert.strictEqual(yield* store.completeChunk(chunk!, "r", [cost(jobId, 0.25)]), "stale")
          assert.isUndefined(yield* store.claimChunk("w", anyId()))
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
          const world = yield* DocumentsWorld
          const file = yield* fileOf(fileId, owner)
          assert.deepStrictEqual([file.status, file.jobStatus, file.phase], ["uploaded", "cancelled", null])
          assert.strictEqual((yield* world.job(jobId)).totalCostUsd, 0.25)
          yield* job(owner, fileId)
          yield* completeAll
          const finishing = (yield* fileOf(fileId, owner)).jobId!
          assert.strictEqual(yield* store.cancel(finishing), "finishing")
          assert.strictEqual(yield* store.deleteFile(fileId, owner), "finishing")
        })
    )

    it.effect("deleting a file cancels its conversion, and its id is nobody's any more", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const fileId = yield* pdf(owner, 4)
        const jobId = yield* job(owner, fileId)
        assert.strictEqual(yield* store.deleteFile(fileId, yield* customer(1)), "not_found")
        assert.strictEqual(yield* store.deleteFile(fileId, owner), "deleted")
        assert.strictEqual(yield* store.deleteFile(fileId, owner), "not_found")
        assert.isUndefined(yield* store.file(fileId, owner))
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
        const world = yield* DocumentsWorld
        assert.strictEqual((yield* world.job(jobId)).status, "cancelled")
        assert.deepStrictEqual(yield* store.filesToPurge(10), [{ id: fileId, jobIds: [jobId] }])
        yield* store.filePurged(fileId)
        assert.deepStrictEqual(yield* store.filesToPurge(10), [])
      })
    )

    it.effect("the files of a closed account are deleted, its conversions cancelled", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        const owner = yield* customer(10)
        const jobId = yield* job(owner, yield* pdf(owner, 4))
        yield* pdf(owner, 1)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 0)
        yield* world.closeAccount(owner)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 1)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 1)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 0)
        assert.deepStrictEqual((yield* store.files(owner, { limit: 10, cursor: undefined })).files, [])
        assert.strictEqual((yield* world.job(jobId)).status, "cancelled")
      })
    )

    it.effect("the daily budget pauses jobs that use a model, and lets them go on", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const fileId = yield* pdf(owner, 2)
        const jobId = yield* job(owner, fileId, { highFidelity: true })
        yield* store.bookCosts([cost(jobId, 5)])
        assert.strictEqual(yield* store.applyBudget(undefined), 0)
        assert.strictEqual(yield* store.applyBudget(5), 1)
        assert.isUndefined(yield* store.claimChunk("w", anyId()))
        assert.strictEqual((yield* fileOf(fileId, owner)).phase, "Paused: the daily model budget is spent")
        assert.strictEqual(yield* store.applyBudget(6), 1)
        assert.isDefined(yield* store.claimChunk("w", anyId()))
        assert.strictEqual(yield* store.applyBudget(5), 1)
        yield* DocumentsWorld.use((world) => world.bookedYesterday)
        assert.strictEqual(yield* store.applyBudget(5), 1, "it is another day")
        assert.strictEqual(yield* store.applyBudget(5), 0)
      })
    )

    it.effect("the daily budget is for each job that a model converts, and for no other", () =>
      Effect.gen(function* () {
        const paused = (options: JobOptions) =>
          Effect.gen(function* () {
            yield* clean
            const store = yield* ConversionStore
            const owner = yield* customer(10)
            const jobId = yield* job(owner, yield* pdf(owner, 2), options)
            yield* store.bookCosts([cost(jobId, 5)])
            return yield* store.applyBudget(5)
          })
        const asked: ReadonlyArray<JobOptions> = [
          {},
          { highFidelity: true },
          { parser: "harness" },
          { mathOcr: true },
          { parser: "layout" },
          { parser: "layout", highFidelity: true, mathOcr: true }
        ]
        const answers = yield* Effect.forEach(asked, paused)
        assert.deepStrictEqual(answers, [0, 1, 1, 1, 0, 0])
      })
    )

    it.effect("inline files and layout-true results are charged once, or not at all", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const picture = yield* addFile(owner, 1, "png")
        yield* ask(owner, picture)
        assert.strictEqual((yield* fileOf(picture, owner)).status, "processing")
        assert.isUndefined(yield* store.nextQueued, "no chunk job is made of it")
        const inline = yield* store.claimInline(anyId(), STALE)
        assert.isUndefined(yield* store.claimInline(anyId(), STALE))
        assert.isTrue(yield* store.heartbeatInline(inline!, WINDOW))
        assert.strictEqual(yield* store.finishInline(inline!, "r", []), "completed")
        assert.strictEqual(yield* store.finishInline(inline!, "r", []), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })

        const fileId = yield* pdf(owner, 3)
        const flyerId = anyId()
        const flyer = { id: flyerId, fileId, customerId: owner, window: WINDOW }
        assert.strictEqual(yield* store.requestFlyer({ ...flyer, fileId: picture }), "unsupported")
        assert.strictEqual(yield* store.requestFlyer(flyer), "queued")
        assert.strictEqual(yield* store.requestFlyer({ ...flyer, id: anyId() }), "active")
        const reflow = { flyerId, customerId: owner, jobId: anyId(), options: {}, window: WINDOW }
        assert.strictEqual(yield* store.requestReflow(reflow), "resolved")
        const claimed = yield* store.claimFlyer(anyId(), STALE)
        assert.strictEqual(yield* store.finishFlyer(claimed!, "flyer", []), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 6, held: 0, charged: 4 })
        assert.strictEqual(yield* store.requestReflow(reflow), "queued")
        assert.strictEqual(yield* store.requestReflow({ ...reflow, jobId: anyId() }), "resolved")
        assert.deepStrictEqual(yield* funds(owner), { credits: 6, held: 0, charged: 4 })
        assert.strictEqual(yield* store.cancel(reflow.jobId), "cancelled")
        assert.strictEqual(yield* store.requestReflow({ ...reflow, jobId: anyId() }), "queued")
      })
    )

    it.effect("twenty workers race for ten chunks: each is claimed once", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(100)
        yield* job(owner, yield* pdf(owner, 20))
        const claimed = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, n) => n),
          (n) => store.claimChunk(`w${n}`, anyId()),
          { concurrency: "unbounded" }
        )
        const indexes = claimed.flatMap((chunk) => (chunk === undefined ? [] : [chunk.chunkIndex]))
        assert.deepStrictEqual(
          indexes.sort((a, b) => a - b),
          Array.from({ length: 10 }, (_, n) => n)
        )
      })
    )

    it.effect("fifty requests race for ten credits: ten pages are held, never more", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const answers = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, n) => n),
          () =>
            Effect.flatMap(pdf(owner, 1), (fileId) =>
              store.request({ jobId: anyId(), fileId, customerId: owner, options: {}, window: WINDOW })
            ),
          { concurrency: 10 }
        )
        assert.strictEqual(answers.filter((answer) => answer === "queued").length, 10)
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 10, charged: 0 })
      })
    )

    it.effect(
      "a cancel races the last chunk: the job ends cancelled or assembling, with all that goes with it",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* ConversionStore
          for (let round = 0; round < 15; round++) {
            const owner = yield* customer(10)
            const fileId = yield* pdf(owner, 2)
            const jobId = yield* job(owner, fileId)
            const chunk = yield* store.claimChunk("w", anyId())
            const [completed, cancelled] = yield* Effect.all(
              [store.completeChunk(chunk!, "r", []), store.cancel(jobId)],
              { concurrency: 2 }
            )
            const file = yield* fileOf(fileId, owner)
            const { held } = yield* funds(owner)
            if (cancelled === "cancelled") {
              assert.deepStrictEqual(
                [completed, file.status, file.jobStatus, held],
                ["stale", "uploaded", "cancelled", 0]
              )
            } else {
              assert.deepStrictEqual(
                [completed, cancelled, file.status, file.jobStatus, held],
                ["assembling", "finishing", "chunked_processing", "assembling", 2]
              )
            }
          }
        })
    )
  })
