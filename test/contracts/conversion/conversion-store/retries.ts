import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { JobId } from "../../../../src/domain/ids.ts"
import type { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../../../src/ports/store-unavailable.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  addFile,
  ask,
  begin,
  cost,
  DocumentsWorld,
  fileOf,
  funds,
  job,
  ledgerUsd,
  pdf,
  STALE,
  WINDOW
} from "../documents-world.ts"

/** A job's total, and the sum of the ledger, which has rows of this job only. */
const costsOf = Effect.fnUntraced(function* (jobId: JobId) {
  const world = yield* DocumentsWorld
  return { total: (yield* world.job(jobId)).totalCostUsd, booked: yield* ledgerUsd }
})

/** What every conversion store answers callers that try again. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`conversions whose callers try again: ${name}`, (it) => {
    it.effect("the same claim again gives the same work, and nobody else's", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(50)
        yield* job(owner, yield* pdf(owner, 4))
        const lease = anyId()
        const chunk = yield* store.claimChunk("w", lease)
        assert.deepStrictEqual(yield* store.claimChunk("w", lease), chunk)
        assert.strictEqual(chunk?.attempts, 1)
        const other = yield* store.claimChunk("w", anyId())
        assert.deepStrictEqual(yield* store.chunkResults(chunk!.jobId), [])
        const chunksDone = () => Effect.map(fileOf(chunk!.fileId, owner), (file) => file.chunksDone)
        assert.strictEqual(yield* chunksDone(), 0)
        yield* store.completeChunk(other!, "r1", [])
        assert.strictEqual(yield* chunksDone(), 1)
        yield* store.completeChunk(chunk!, "r0", [])
        assert.strictEqual(yield* chunksDone(), 2)
        const results = yield* store.chunkResults(chunk!.jobId)
        assert.deepStrictEqual(
          results,
          [chunk!, other!].map(({ firstPage, lastPage }, at) => ({ firstPage, lastPage, key: `r${at}` }))
        )
        assert.deepStrictEqual(yield* store.chunkResults(anyId()), [])

        const assembly = yield* store.claimAssembly(lease, STALE)
        const again = yield* store.claimAssembly(lease, STALE)
        assert.deepStrictEqual(again, assembly)
        assert.strictEqual(again?.attempts, 1)
        assert.isUndefined(yield* store.claimAssembly(anyId(), STALE))

        for (let n = 0; n < 2; n++) {
          yield* ask(owner, yield* addFile(owner, 1, "png"))
          yield* store.requestFlyer({
            id: anyId(),
            fileId: yield* pdf(owner, 1),
            customerId: owner,
            window: WINDOW
          })
        }
        const inline = yield* store.claimInline(lease, STALE)
        assert.deepStrictEqual(yield* store.claimInline(lease, STALE), inline)
        assert.strictEqual(inline?.attempts, 1)
        assert.notStrictEqual((yield* store.claimInline(anyId(), STALE))?.fileId, inline?.fileId)
        const flyer = yield* store.claimFlyer(lease, STALE)
        assert.deepStrictEqual(yield* store.claimFlyer(lease, STALE), flyer)
        assert.strictEqual(flyer?.attempts, 1)
        assert.notStrictEqual((yield* store.claimFlyer(anyId(), STALE))?.id, flyer?.id)
      })
    )

    it.effect("C2 F2: inline and layout-true work that was handed on is nothing to its first holder", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        yield* ask(owner, yield* addFile(owner, 1, "png"))
        const fileId = yield* pdf(owner, 2)
        yield* store.requestFlyer({ id: anyId(), fileId, customerId: owner, window: WINDOW })
        const failure = { error: "x", costs: [], maxAttempts: 1 }
        const [inline, flyer] = [
          (yield* store.claimInline(anyId(), STALE))!,
          (yield* store.claimFlyer(anyId(), STALE))!
        ]
        const [laterInline, laterFlyer] = [
          (yield* store.claimInline(anyId(), Duration.zero))!,
          (yield* store.claimFlyer(anyId(), Duration.zero))!
        ]
        assert.deepStrictEqual([laterInline.fileId, laterFlyer.id], [inline.fileId, flyer.id])
        assert.isFalse(yield* store.heartbeatInline(inline, WINDOW))
        assert.isFalse(yield* store.heartbeatFlyer(flyer, WINDOW))
        assert.strictEqual(yield* store.failInline(inline, failure), "stale")
        assert.strictEqual(yield* store.failFlyer(flyer, failure), "stale")
        assert.strictEqual(yield* store.finishInline(inline, "old", []), "stale")
        assert.strictEqual(yield* store.finishFlyer(flyer, "old", []), "stale")
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 3, charged: 0 })
        assert.strictEqual(yield* store.finishInline(laterInline, "new", []), "completed")
        assert.strictEqual(yield* store.finishFlyer(laterFlyer, "new", []), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 7, held: 0, charged: 3 })
      })
    )

    it.effect("inline and layout-true work that is handed back waits again, and counts no attempt", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        yield* ask(owner, yield* addFile(owner, 1, "png"))
        const fileId = yield* pdf(owner, 2)
        const flyerId = anyId()
        yield* store.requestFlyer({ id: flyerId, fileId, customerId: owner, window: WINDOW })
        for (let stop = 0; stop < 5; stop++) {
          const inline = (yield* store.claimInline(anyId(), STALE))!
          const flyer = (yield* store.claimFlyer(anyId(), STALE))!
          assert.deepStrictEqual([inline.attempts, flyer.attempts], [1, 1])
          assert.strictEqual(yield* store.failInline(inline, { costs: [] }), "pending")
          assert.strictEqual(yield* store.failInline(inline, { costs: [] }), "stale")
          assert.strictEqual(yield* store.failFlyer(flyer, { costs: [] }), "pending")
          assert.strictEqual(yield* store.failFlyer(flyer, { costs: [] }), "stale")
        }
        assert.strictEqual((yield* store.flyer(flyerId, owner))?.status, "pending")
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 3, charged: 0 })
      })
    )

    it.effect("an assembly that is handed back is claimed at once by another, and counts no attempt", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        yield* store.completeChunk((yield* store.claimChunk("w", anyId()))!, "r", [])
        for (let stop = 0; stop < 3; stop++) {
          const stopped = (yield* store.claimAssembly(anyId(), STALE))!
          assert.deepStrictEqual([stopped.jobId, stopped.attempts], [jobId, 1])
          assert.isTrue(yield* store.handBackAssembly(stopped))
          assert.isFalse(yield* store.handBackAssembly(stopped))
          assert.isFalse(yield* store.heartbeatAssembly(stopped, WINDOW))
        }
        const gone = (yield* store.claimAssembly(anyId(), STALE))!
        const holder = (yield* store.claimAssembly(anyId(), Duration.zero))!
        assert.strictEqual(holder.attempts, 2)
        assert.isFalse(yield* store.handBackAssembly(gone))
        assert.isUndefined(yield* store.claimAssembly(anyId(), STALE))
        assert.strictEqual(yield* store.finishJob(holder, "result"), "completed")
        assert.isFalse(yield* store.handBackAssembly(holder))
        assert.strictEqual((yield* world.job(jobId)).status, "completed")
        assert.strictEqual(
          yield* store.finishJob(holder, "result"),
          "completed",
          "its worker did not hear it"
        )
      })
    )

    it.effect("the same file again is there once, as it is by now", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const id = yield* pdf(owner, 2)
        const { createdAt: _, ...entered } = (yield* store.file(id, owner))!
        yield* job(owner, id)
        const again = yield* store.addFile(entered)
        assert.deepStrictEqual(again, (yield* store.file(id, owner))!)
        assert.strictEqual(again.status, "chunked_processing")
        assert.lengthOf((yield* store.files(owner, { limit: 10, cursor: undefined })).files, 1)
      })
    )

    it.effect("the same reflow again is answered as before; one that failed may be chosen again", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const flyerId = anyId()
        const fileId = yield* pdf(owner, 1)
        yield* store.requestFlyer({ id: flyerId, fileId, customerId: owner, window: WINDOW })
        const converted = { jobId: anyId(), fileId, customerId: owner, options: {}, window: WINDOW }
        assert.strictEqual(yield* store.request(converted), "active", "its layout-true result is being made")
        yield* store.finishFlyer((yield* store.claimFlyer(anyId(), STALE))!, "f", [])
        const reflow = { flyerId, customerId: owner, jobId: anyId(), options: {}, window: WINDOW }
        assert.strictEqual(yield* store.requestReflow(reflow), "queued")
        assert.strictEqual(yield* store.requestReflow(reflow), "queued")
        const another = { ...reflow, jobId: anyId() }
        assert.strictEqual(yield* store.requestReflow(another), "resolved")
        const options = { _compedFlyerJobId: flyerId }
        yield* store.createJob(reflow.jobId, { status: "pending", options, chunkPages: 2 })
        assert.strictEqual(yield* store.requestReflow(another), "resolved")
        assert.isTrue(yield* store.failJob(reflow.jobId, "broken"))
        assert.strictEqual(yield* store.requestReflow(another), "queued")
      })
    )

    it.effect("K1 F2: every end of a chunk reported twice books once and charges once", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        const failed = yield* store.claimChunk("w", anyId())
        const failure = {
          error: "x",
          costs: [cost(jobId, 1)],
          retryIn: Duration.zero,
          maxAttempts: 3
        }
        assert.strictEqual(yield* store.failChunk(failed!, failure), "pending")
        assert.strictEqual(yield* store.failChunk(failed!, failure), "stale")
        const back = yield* store.claimChunk("w", anyId())
        const spent = [cost(jobId, 2)]
        assert.isTrue(yield* store.handBackChunk(back!, spent))
        assert.isFalse(yield* store.handBackChunk(back!, spent))
        const chunk = yield* store.claimChunk("w", anyId())
        assert.strictEqual(chunk?.attempts, 2, "handing back counts no attempt")
        const costs = [cost(jobId, 4)]
        assert.strictEqual(yield* store.completeChunk(chunk!, "r", costs), "assembling")
        assert.strictEqual(yield* store.completeChunk(chunk!, "r", costs), "assembling")
        const assembly = yield* store.claimAssembly(anyId(), STALE)
        assert.strictEqual(yield* store.finishJob(assembly!, "result"), "completed")
        assert.strictEqual(yield* store.finishJob(assembly!, "result"), "completed")
        assert.deepStrictEqual(yield* costsOf(jobId), { total: 7, booked: 7 })
        assert.deepStrictEqual(yield* funds(owner), { credits: 8, held: 0, charged: 2 })
      })
    )

    it.effect("R1: a result that was taken is so for its worker too, though the file is converted anew", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const fileId = yield* addFile(owner, 1, "png")
        yield* ask(owner, fileId)
        const first = (yield* store.claimInline(anyId(), STALE))!
        yield* store.finishInline(first, "first", [])
        // The worker's answer was lost, and its owner asks for another conversion.
        yield* ask(owner, fileId)
        assert.strictEqual(yield* store.finishInline(first, "first", []), "completed")
        const second = (yield* store.claimInline(anyId(), STALE))!
        assert.strictEqual(yield* store.finishInline(first, "first", []), "completed")
        assert.strictEqual(yield* store.finishInline(first, "other", []), "stale")
        assert.strictEqual(
          yield* store.failInline(second, { error: "no", costs: [], maxAttempts: 1 }),
          "failed"
        )
        assert.strictEqual(yield* store.finishInline(first, "first", []), "completed")
        const file = yield* fileOf(fileId, owner)
        assert.deepStrictEqual([file.status, file.resultKey], ["failed", "first"])
        assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })
      })
    )

    it.effect.each(["cancel", "failJob"] as const)(
      "K1 X1: what is booked after the job's end (%s) is in its total",
      (end) =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(10)
          const jobId = yield* job(owner, yield* pdf(owner, 2))
          yield* store.bookCosts([cost(jobId, 3)])
          yield* Effect.asVoid<unknown, StoreUnavailable, never>(
            end === "cancel" ? store.cancel(jobId) : store.failJob(jobId, "x")
          )
          assert.deepStrictEqual(yield* costsOf(jobId), { total: 3, booked: 3 })
          yield* store.bookCosts([cost(jobId, 2)])
          assert.deepStrictEqual(yield* costsOf(jobId), { total: 5, booked: 5 })
        })
    )
  })
