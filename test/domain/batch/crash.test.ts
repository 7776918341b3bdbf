import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Latch, Stream } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import type { JobId } from "../../../src/domain/ids.ts"
import { BatchService, BatchServiceError } from "../../../src/ports/batch/batch-service.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { driverTick } from "../../application/batch/world/tick.ts"
import {
  clean,
  convertAll,
  jobOf,
  Knobs,
  laneWorld,
  logged,
  parked,
  rowOf,
  settingsOf,
  tickUntil
} from "../../application/batch/world/world.ts"
import { behindGate, Crash, type Gate } from "./world/gate.ts"

/** The job goes on, and its row is closed. */
const done = (jobId: JobId) =>
  Effect.gen(function* () {
    const row = yield* rowOf(jobId)
    return row?.state === "closed" && (yield* jobOf(jobId)).status !== "waiting_batch"
  })

const entriesOf = Effect.fnUntraced(function* (jobId: JobId) {
  const sql = yield* WriteSql
  const rows = yield* sql<{ readonly n: number }>`select count(*)::int as n from cost_ledger
    where job_id = ${jobId}::uuid and source = 'batch'`
  return rows[0]?.n
})

/** Batch jobs that the service was given. */
const batchJobs = BatchObjects.use((objects) =>
  Stream.runCollect(Stream.filter(objects.list("local-batch/"), ({ key }) => key.endsWith("/job.json")))
)

layer(laneWorld, { excludeTestServices: true })("a driver that dies", (it) => {
  for (const mode of ["before", "after"] as const) {
    it.effect(
      `${mode} any of its calls: the next one goes on, the results are kept, one bill (B1, B2, B5)`,
      () =>
        Effect.gen(function* () {
          yield* clean
          const { calls } = yield* Knobs
          const before = (yield* batchJobs).length
          let crashes = 0
          for (let at = 1; ; at++) {
            const { jobId } = yield* parked(3)
            const gate: Gate = { calls: 0, at, mode }
            const first = yield* Effect.exit(
              tickUntil(settingsOf(), done(jobId)).pipe(Effect.provide(behindGate(gate)))
            )
            if (Exit.isFailure(first)) {
              assert.isTrue(
                first.cause.reasons.some(
                  (reason) => Cause.isDieReason(reason) && reason.defect instanceof Crash
                ),
                String(first.cause)
              )
              crashes += 1
            }
            yield* tickUntil(settingsOf(), done(jobId), 2)
            const row = yield* rowOf(jobId)
            const { options } = yield* jobOf(jobId)
            assert.deepStrictEqual([row?.outcome, row?.accepted], ["collected", 3], `call ${at}`)
            assert.isTrue(options._batchPrimed, `call ${at}`)
            assert.strictEqual(yield* entriesOf(jobId), 1, `call ${at}`)
            if (Exit.isSuccess(first)) break
          }
          assert.isAbove(crashes, 15)
          const jobs = yield* batchJobs
          assert.strictEqual(jobs.length - before, crashes + 1)
          yield* convertAll()
          assert.deepStrictEqual(calls, [], "every page was answered from its batch")
        })
    )
  }

  it.effect("a leader that was frozen while it created the job, and wakes up later, changes nothing", () =>
    Effect.gen(function* () {
      yield* clean
      const { jobId } = yield* parked(3)
      const service = yield* BatchService
      const frozen = yield* Latch.make(false)
      const reached = yield* Latch.make(false)
      const asleep = yield* driverTick(settingsOf(), 1).pipe(
        Effect.provideService(BatchService, {
          ...service,
          create: (job) =>
            reached.open.pipe(Effect.andThen(frozen.await), Effect.andThen(service.create(job)))
        }),
        Effect.forkChild
      )
      yield* reached.await
      yield* tickUntil(settingsOf(), done(jobId), 2)
      const row = yield* rowOf(jobId)
      yield* frozen.open
      yield* Fiber.join(asleep)
      assert.deepStrictEqual(yield* rowOf(jobId), row)
      assert.strictEqual(row?.outcome, "collected")
      assert.strictEqual(yield* entriesOf(jobId), 1)
    })
  )

  for (const [when, after] of [
    ["uploaded nothing", "put"],
    ["uploaded its records", "create"]
  ] as const) {
    it.effect(
      `frozen once it had ${when}, its job cancelled meanwhile: no batch job is left alone (B2)`,
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* ConversionStore
          const { faults } = yield* Knobs
          faults.stopLatencyMs = 0
          const { jobId } = yield* parked(3)
          const service = yield* BatchService
          const objects = yield* BatchObjects
          const frozen = yield* Latch.make(false)
          const reached = yield* Latch.make(false)
          const pause = reached.open.pipe(Effect.andThen(frozen.await))
          const asleep = yield* driverTick(settingsOf(), 1).pipe(
            Effect.provideService(BatchService, {
              ...service,
              create: (job) =>
                after === "create" ? Effect.andThen(pause, service.create(job)) : service.create(job)
            }),
            Effect.provideService(BatchObjects, {
              ...objects,
              put: (key, body, options) =>
                after === "put"
                  ? Effect.andThen(pause, objects.put(key, body, options))
                  : objects.put(key, body, options)
            }),
            Effect.forkChild
          )
          yield* reached.await
          yield* store.cancel(jobId)
          yield* tickUntil(
            settingsOf(),
            Effect.map(rowOf(jobId), (row) => row?.state === "closed"),
            2
          )
          yield* frozen.open
          yield* Fiber.join(asleep)
          const arn = yield* service.findByName(`postlane-${jobId}`)
          if (after === "put") return assert.isUndefined(arn, "nobody asks for a job that nobody waits for")
          const { status } = yield* service.get(arn ?? "")
          assert.include(["Stopped", "Completed"], status)
          const row = yield* rowOf(jobId)
          assert.strictEqual(row?.end_state, status, "its row knows how it ended")
        })
    )
  }

  it.effect(
    "frozen while it created a job that the next leader was refused: it stops what it made, and says so (B2)",
    () =>
      Effect.gen(function* () {
        yield* clean
        const { jobId } = yield* parked(3)
        const service = yield* BatchService
        const frozen = yield* Latch.make(false)
        const reached = yield* Latch.make(false)
        const stopped: Array<string> = []
        const { layers, lines } = logged("Error")
        const busy = new BatchServiceError({ reason: "unavailable", message: "busy" })
        const asleep = yield* driverTick(settingsOf(), 1).pipe(
          Effect.provideService(BatchService, {
            ...service,
            create: (job) =>
              reached.open.pipe(Effect.andThen(frozen.await), Effect.andThen(service.create(job))),
            stop: (arn) =>
              Effect.suspend(() => {
                stopped.push(arn)
                return stopped.length < 3 ? Effect.fail(busy) : service.stop(arn)
              })
          }),
          Effect.provide(layers),
          Effect.forkChild
        )
        yield* reached.await
        const refused = new BatchServiceError({ reason: "refused", message: "no access" })
        yield* driverTick(settingsOf(), 2).pipe(
          Effect.provideService(BatchService, { ...service, create: () => Effect.fail(refused) })
        )
        assert.strictEqual((yield* rowOf(jobId))?.outcome, "failed")
        yield* frozen.open
        yield* Fiber.join(asleep)
        const arn = yield* service.findByName(`postlane-${jobId}`)
        assert.deepStrictEqual(stopped, [arn, arn, arn], "until the service takes it")
        assert.match(lines.join("\n"), /belongs to no row any more: .* what it cost is not billed/)
      })
  )

  it.effect("two drivers at once: every job has one row, one batch job and one bill", () =>
    Effect.gen(function* () {
      yield* clean
      const jobs = yield* Effect.forEach([1, 2, 3, 4, 5], () => parked(3))
      const all = Effect.map(
        Effect.forEach(jobs, ({ jobId }) => done(jobId)),
        (each) => each.every(Boolean)
      )
      yield* Effect.all([tickUntil(settingsOf(), all), tickUntil(settingsOf(), all)], {
        concurrency: "unbounded",
        discard: true
      })
      for (const { jobId } of jobs) {
        assert.strictEqual((yield* rowOf(jobId))?.outcome, "collected")
        assert.strictEqual(yield* entriesOf(jobId), 1)
        assert.isTrue((yield* jobOf(jobId)).options._batchPrimed)
      }
    })
  )
})
