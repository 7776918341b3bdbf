import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { BatchControls } from "../../../src/application/batch/controls.ts"
import { BatchService, BatchServiceError } from "../../../src/ports/batch/batch-service.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { driverTick } from "./world/tick.ts"
import {
  clean,
  isClosed,
  isState,
  jobOf,
  laneWorld,
  parked,
  rowOf,
  settingsOf,
  tickUntil
} from "./world/world.ts"

const unavailable = new BatchServiceError({ reason: "unavailable", message: "busy" })

/** The owner's controls, with a service that answers a stop like this; and the jobs it was asked to stop. */
const controlsWith = Effect.fnUntraced(function* (answer: Effect.Effect<void, BatchServiceError>) {
  const service = yield* BatchService
  const stopped: Array<string> = []
  const controls = yield* Effect.provide(
    BatchControls,
    Layer.fresh(BatchControls.layer).pipe(
      Layer.provide(
        Layer.succeed(BatchService, {
          ...service,
          stop: (arn) =>
            Effect.andThen(
              Effect.sync(() => stopped.push(arn)),
              answer
            )
        })
      )
    )
  )
  return { controls, stopped }
})

/** A job whose batch job runs. */
const submitted = Effect.gen(function* () {
  yield* clean
  const sql = yield* WriteSql
  const job = yield* parked(3)
  yield* tickUntil(settingsOf(), isState(job.jobId, "submitted"))
  const rows = yield* sql<{ readonly arn: string }>`select batch_job_arn as arn from conversion_batch_jobs`
  return { ...job, arn: rows[0]?.arn }
})

layer(laneWorld, { excludeTestServices: true })("a batch job that nobody waits for any more", (it) => {
  for (const [how, answer] of [
    ["is stopped at once", Effect.void],
    ["where the service fails, is stopped by the driver", Effect.fail(unavailable)],
    ["where the service hangs, holds the owner up no longer than three seconds", Effect.never]
  ] as const) {
    it.effect(`Process now: ${how}`, () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const { arn, fileId, jobId, owner } = yield* submitted
        const { controls, stopped } = yield* controlsWith(answer)
        assert.deepStrictEqual(yield* controls.processNow({ fileId, customerId: owner }), {
          answer: "moved",
          jobId,
          status: "pending"
        })
        assert.deepStrictEqual(stopped, [arn])
        assert.strictEqual((yield* jobOf(jobId)).status, "pending")
        const [held] = yield* sql<{ readonly hours: number }>`select
            (extract(epoch from expires_at - now()) / 3600)::float8 as hours from funds_holds where state = 'held'`
        const hours = held?.hours ?? 0
        assert.isTrue(hours > 1 && hours <= 1.5, `its funds are set aside for ${hours} hours`)
        yield* tickUntil(settingsOf(), isClosed(jobId))
        assert.strictEqual((yield* rowOf(jobId))?.close_reason, "user chose interactive")
      })
    )
  }

  for (const [why, status, reason] of [
    ["was cancelled", "cancelled", "Cancelled by user"],
    ["is overdue", "pending", "it was not done in time"]
  ] as const) {
    it.effect(`is stopped by the driver where it ${why}, and again if that failed`, () =>
      Effect.gen(function* () {
        const { arn, jobId } = yield* submitted
        const sql = yield* WriteSql
        const store = yield* ConversionStore
        const service = yield* BatchService
        if (status === "cancelled") yield* store.cancel(jobId)
        else yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '1 minute'`
        const stopped: Array<string> = []
        const tick = driverTick(settingsOf(), 1).pipe(
          Effect.provideService(BatchService, {
            ...service,
            get: (one) => Effect.map(service.get(one), (job) => ({ ...job, status: "InProgress" as const })),
            stop: (one) =>
              Effect.andThen(
                Effect.sync(() => stopped.push(one)),
                Effect.fail(unavailable)
              )
          })
        )
        yield* tick
        yield* tick
        assert.deepStrictEqual(stopped, [arn, arn])
        assert.strictEqual((yield* jobOf(jobId)).status, status)
        const row = yield* rowOf(jobId)
        assert.deepStrictEqual([row?.state, row?.close_reason], ["submitted", reason], "it may still bill")
        yield* tickUntil(settingsOf(), isClosed(jobId))
        assert.strictEqual((yield* jobOf(jobId)).status, status)
      })
    )
  }

  it.effect("is looked at in the driver's next tick, however long its polls are apart", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const { jobId } = yield* parked(3)
      yield* tickUntil(settingsOf({ pollEvery: Duration.hours(1) }), isState(jobId, "submitted"))
      const due = sql`select next_poll_at <= clock_timestamp() as due from conversion_batch_jobs`
      assert.deepStrictEqual(yield* due, [{ due: false }])
      yield* store.cancel(jobId)
      assert.deepStrictEqual(yield* due, [{ due: true }])
    })
  )

  it.effect("is stopped too where its job had been released by hand before it was cancelled", () =>
    Effect.gen(function* () {
      const { arn, jobId } = yield* submitted
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const { controls, stopped } = yield* controlsWith(Effect.void)
      yield* sql`update large_conversion_jobs set status = 'pending'`
      yield* sql`update chunk_jobs set status = 'pending'`
      yield* store.cancel(jobId)
      yield* controls.stopBatchJob(jobId)
      assert.deepStrictEqual(stopped, [arn])
      yield* tickUntil(settingsOf(), isClosed(jobId))
      assert.strictEqual((yield* rowOf(jobId))?.close_reason, "Cancelled by user")
    })
  )

  it.effect("is sent once the job is there and unwanted, and neither before nor after", () =>
    Effect.gen(function* () {
      const { arn, jobId } = yield* submitted
      const store = yield* ConversionStore
      const { controls, stopped } = yield* controlsWith(Effect.void)
      yield* controls.stopBatchJob(jobId)
      assert.deepStrictEqual(stopped, [], "its results are wanted")
      yield* store.cancel(jobId)
      yield* controls.stopBatchJob(jobId)
      assert.deepStrictEqual(stopped, [arn])
      yield* tickUntil(settingsOf(), isClosed(jobId))
      yield* controls.stopBatchJob(jobId)
      const { jobId: waiting } = yield* parked(3)
      yield* controls.stopBatchJob(waiting)
      assert.deepStrictEqual(stopped, [arn])
    })
  )
})
