import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { CHUNK_PAGES, MAX_CHUNK_ATTEMPTS } from "../../../../src/domain/conversion/job.ts"
import { waitsFor } from "../../../../src/domain/conversion/waiting.ts"
import type { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../../../src/ports/store-unavailable.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  addFile,
  ask,
  begin,
  completeAll,
  cost,
  customer,
  type DocumentsWorld,
  fileOf,
  funds,
  job,
  ledgerUsd,
  pdf,
  STALE,
  WINDOW
} from "../documents-world.ts"

/** Jobs and their chunks: from the request to the charge, under leases. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`conversions: ${name}`, (it) => {
    it.effect("a job runs through: queued, claimed chunk by chunk, assembled, charged once", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
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

    it.effect("DOC-14: pages stand in their order, whichever chunk was completed first", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        yield* job(owner, yield* pdf(owner, 8))
        const chunks = yield* Effect.forEach([0, 1, 2, 3], () => store.claimChunk("w", anyId()))
        for (const [done, index] of [3, 1, 0, 2].entries()) {
          assert.isUndefined(yield* store.claimAssembly(anyId(), STALE), "not before all are there")
          const complete = store.completeChunk(chunks[index]!, `r${index}`, [])
          const answer = done === 3 ? "assembling" : "completed"
          assert.deepStrictEqual([yield* complete, yield* complete], [answer, answer])
        }
        const assembly = yield* store.claimAssembly(anyId(), STALE)
        assert.deepStrictEqual(assembly?.chunkKeys, ["r0", "r1", "r2", "r3"])
      })
    )

    it.effect("DOC-14: the oldest job is assembled first; one whose worker is gone, by the next one", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const young = yield* job(owner, yield* pdf(owner, 1))
        const old = yield* job(owner, yield* pdf(owner, 1))
        yield* completeAll
        const oldest = yield* job(owner, yield* pdf(owner, 1))
        yield* world.setJob(oldest, { age: Duration.hours(3) })
        yield* world.setJob(old, { age: Duration.hours(1) })
        const first = (yield* store.claimAssembly(anyId(), STALE))!
        assert.strictEqual(first.jobId, old)
        assert.strictEqual((yield* store.claimAssembly(anyId(), STALE))?.jobId, young)
        yield* completeAll
        assert.strictEqual((yield* store.claimAssembly(first.lease, STALE))?.jobId, old, "asked again")
        assert.strictEqual((yield* store.claimAssembly(anyId(), STALE))?.jobId, oldest)
        yield* world.setJob(oldest, { age: Duration.minutes(1) })
        assert.isUndefined(yield* store.claimAssembly(anyId(), STALE))
        assert.strictEqual((yield* store.claimAssembly(anyId(), Duration.zero))?.jobId, old)
        assert.isFalse(yield* store.heartbeatAssembly(first, WINDOW))
      })
    )

    it.effect("what a conversion that stands still waits for is seen, from the queue to the end", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const id = yield* pdf(owner, 4)
        const why = Effect.map(store.waitFacts(id), (facts) => facts && { ...waitsFor(facts, 100), facts })
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
        const flyer = anyId()
        const kept = yield* pdf(owner, 1)
        yield* store.requestFlyer({ id: flyer, fileId: kept, customerId: owner, window: WINDOW })
        const its = Effect.map(store.flyerWaitFacts(flyer), (facts) => facts && waitsFor(facts, 0))
        assert.deepInclude(yield* its, { cause: "turn", others: 1, within: null })
        const held = yield* store.claimFlyer(anyId(), STALE)
        assert.deepInclude(yield* its, { cause: "page" })
        assert.deepInclude(yield* store.flyerWaitFacts(flyer), { silent: 0, anySilent: 0, jobStatus: null })
        yield* store.finishFlyer(held!, "flyer", [])
        assert.isUndefined(yield* its)
      })
    )

    it.effect("asking twice, for somebody else's file, and without the credits are distinguished", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(5)
        const other = yield* customer(5)
        const fileId = yield* pdf(owner, 4)
        const jobId = anyId()
        assert.strictEqual(yield* ask(other, fileId, anyId()), "not_found")
        assert.strictEqual(yield* ask(owner, fileId, jobId), "queued")
        assert.strictEqual(yield* ask(owner, fileId, jobId), "queued")
        assert.strictEqual(yield* ask(owner, fileId, anyId()), "active")
        const picture = yield* addFile(owner, 1, "png")
        assert.strictEqual(yield* ask(owner, picture), "queued")
        assert.strictEqual(yield* ask(owner, picture), "active")
        yield* store.deleteFile(picture, owner)
        assert.strictEqual(yield* ask(owner, picture), "not_found")
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
        const { owner, store, world } = yield* begin(10)
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
          const { owner, store } = yield* begin(10)
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
        const { owner, store } = yield* begin(100)
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
        const { owner, store, world } = yield* begin(10)
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
        const { owner, store, world } = yield* begin(10)
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
  })
