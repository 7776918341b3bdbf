import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { Conversions, createQueuedJobs } from "../../../src/application/conversion/conversions.ts"
import type { JobStatus } from "../../../src/domain/conversion/job.ts"
import type { CustomerId, FileId, JobId } from "../../../src/domain/ids.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import {
  clean,
  customer,
  DocumentsWorld,
  fileOf,
  funds,
  job,
  pdf,
  STALE,
  WINDOW
} from "../../contracts/conversion/documents-world.ts"
import { anyId } from "../../support/any-id.ts"
import { memory } from "../../support/worlds/documents-memory.ts"

const again = Effect.fnUntraced(function* (fileId: FileId, customerId: CustomerId, jobId: JobId) {
  const conversions = yield* Conversions
  const world = yield* DocumentsWorld
  const { options, status } = yield* world.job(jobId)
  return yield* conversions.retry({ fileId, customerId, jobId, status, options })
})

const here = Layer.provideMerge(Conversions.layer, memory).pipe(Layer.provide(NodeCrypto.layer))

layer(here, { excludeTestServices: true })("a job that an admin has done again", (it) => {
  it.effect("costs what the first one would have, and is asked for in the same way", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      const file = yield* pdf(owner, 4)
      const jobId = yield* job(owner, file, { highFidelity: true, _batchLane: true })
      yield* store.failJob(jobId, "why")
      assert.strictEqual((yield* again(file, owner, jobId)).answer, "queued")
      assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 4, charged: 0 })
      assert.deepStrictEqual((yield* store.nextQueued)?.options, { highFidelity: true })
      assert.strictEqual((yield* again(file, owner, jobId)).answer, "replaced")
    })
  )

  it.effect("is free of charge where the first one was (F2)", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      const file = yield* pdf(owner, 4)
      const flyerId = anyId()
      yield* store.requestFlyer({ id: flyerId, fileId: file, customerId: owner, window: WINDOW })
      const flyer = yield* store.claimFlyer(anyId(), STALE)
      yield* store.finishFlyer(flyer!, "flyer", [])
      const conversions = yield* Conversions
      const started = yield* conversions.reflow({ flyerId, customerId: owner })
      assert.strictEqual(started.answer, "queued")
      yield* createQueuedJobs({ on: false, minPages: 600, minRecords: 1 })
      const { jobId } = yield* fileOf(file, owner)
      yield* store.failJob(jobId!, "why")
      assert.strictEqual((yield* again(file, owner, jobId!)).answer, "queued")
      assert.deepStrictEqual(yield* funds(owner), { credits: 6, held: 0, charged: 4 })
      // The free reflow is under way again: it is not there twice.
      assert.strictEqual((yield* conversions.reflow({ flyerId, customerId: owner })).answer, "resolved")
    })
  )

  it.effect.each(["cancelled", "completed", "processing"] as const)("is not one that is %s", (status) =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const world = yield* DocumentsWorld
      const owner = yield* customer(10)
      const file = yield* pdf(owner, 4)
      const jobId = yield* job(owner, file)
      if (status === "cancelled") yield* store.cancel(jobId)
      else yield* world.setJob(jobId, { status: status satisfies JobStatus })
      const before = yield* funds(owner)
      assert.strictEqual(
        (yield* again(file, owner, jobId)).answer,
        status === "cancelled" ? "stopped" : "not_failed"
      )
      assert.deepStrictEqual(yield* funds(owner), before)
    })
  )
})
