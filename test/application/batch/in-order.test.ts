import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { prepareTick } from "../../../src/application/batch/driver.ts"
import { BatchService, BatchServiceError } from "../../../src/ports/batch/batch-service.ts"
import { driverTick } from "./world/tick.ts"
import { clean, isClosed, jobOf, laneWorld, parked, rowOf, settingsOf, tickUntil } from "./world/world.ts"

const full = Effect.fail(new BatchServiceError({ reason: "full", message: "ServiceQuotaExceededException" }))

layer(laneWorld, { excludeTestServices: true })("one tick of the driver", (it) => {
  it.effect("lets all go on demand that have too few pages for a batch job, and prepares one", () =>
    Effect.gen(function* () {
      yield* clean
      const settings = settingsOf({ limits: { ...settingsOf().limits, minRecords: 4 } })
      const small = yield* Effect.forEach([1, 2, 3, 3, 2], (pages) => parked(pages))
      const [first, second] = [yield* parked(4), yield* parked(4)]
      yield* prepareTick(settings, 1)
      for (const { jobId } of small) assert.strictEqual((yield* jobOf(jobId)).status, "pending")
      assert.strictEqual((yield* rowOf(first.jobId))?.state, "submitted")
      assert.isUndefined(yield* rowOf(second.jobId))
    })
  )

  it.effect("DOC-22: prepares nothing that the daily budget has no room for", () =>
    Effect.gen(function* () {
      yield* clean
      // A page is taken for 4 USD in and 20 out, at half price: 12.
      const settings = settingsOf({ dailyBudgetUsd: 40 })
      const [first, second] = [yield* parked(3), yield* parked(3)]
      yield* prepareTick(settings, 1)
      yield* prepareTick(settings, 1)
      assert.strictEqual((yield* rowOf(first.jobId))?.state, "submitted")
      assert.isUndefined(yield* rowOf(second.jobId))
      assert.strictEqual((yield* jobOf(second.jobId)).status, "waiting_batch")
      // Once it is billed, at far less than was assumed, there is room again.
      yield* tickUntil(settings, isClosed(first.jobId))
      yield* prepareTick(settings, 1)
      assert.strictEqual((yield* rowOf(second.jobId))?.state, "submitted")
    })
  )

  it.effect(
    "a full service: the job waits for its turn until its deadline, and is taken when there is room",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const service = yield* BatchService
        const settings = settingsOf()
        const { jobId } = yield* parked(3)
        const whileFull = Effect.provideService(driverTick(settings, 1), BatchService, {
          ...service,
          create: () => full
        })
        yield* whileFull
        yield* sql`update conversion_batch_jobs set created_at = now() - interval '5 hours',
        prepare_started_at = now() - interval '5 hours', full_at = now() - interval '1 minute'`
        yield* whileFull
        assert.strictEqual((yield* jobOf(jobId)).status, "waiting_batch")
        assert.strictEqual((yield* rowOf(jobId))?.state, "preparing")
        yield* tickUntil(settings, isClosed(jobId))
        assert.strictEqual((yield* rowOf(jobId))?.outcome, "collected")
        assert.isTrue((yield* jobOf(jobId)).options._batchPrimed)
      })
  )
})
