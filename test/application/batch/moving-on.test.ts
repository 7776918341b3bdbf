import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { prepareTick, releaseTick } from "../../../src/application/batch/driver.ts"
import { batchJobName } from "../../../src/domain/batch/keys.ts"
import type { JobId } from "../../../src/domain/ids.ts"
import { BatchService, BatchServiceError } from "../../../src/ports/batch/batch-service.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { untilStatus } from "../../contracts/batch/batch-service.ts"
import { driverTick } from "./world/tick.ts"
import {
  clean,
  convertAll,
  isClosed,
  isState,
  jobOf,
  Knobs,
  laneWorld,
  ledger,
  parked,
  PRICE,
  rowOf,
  settingsOf,
  tickUntil
} from "./world/world.ts"

const down = Effect.fail(new BatchServiceError({ reason: "unavailable", message: "no answer" }))

/** The object store answers, the batch service does not. */
const unreachable = Effect.provideService(BatchService, {
  create: () => down,
  get: () => down,
  findByName: () => down,
  stop: () => down
})

const waiting = (jobs: ReadonlyArray<{ readonly jobId: JobId }>) =>
  Effect.forEach(jobs, ({ jobId }) => Effect.map(jobOf(jobId), ({ status }) => status))

const rows = (jobs: ReadonlyArray<{ readonly jobId: JobId }>) =>
  Effect.forEach(jobs, ({ jobId }) =>
    Effect.map(rowOf(jobId), (row) => row && [row.state, row.outcome, row.close_reason])
  )

/** Shards of a record each, so that output comes in as many files. */
const manyFiles = settingsOf({
  limits: { ...settingsOf().limits, maxShardBytes: 1 }
})

/** Submits a job of five pages and waits until the service is done with it. */
const done = Effect.gen(function* () {
  const { jobId } = yield* parked(5)
  yield* tickUntil(manyFiles, isState(jobId, "submitted"))
  const service = yield* BatchService
  const arn = yield* service.findByName(batchJobName(jobId))
  yield* untilStatus(service, arn ?? "", ["Completed"])
  return jobId
})

/** A store that shows three of the output's files. */
const threeOfFive = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const objects = yield* BatchObjects
  return yield* Effect.provideService(effect, BatchObjects, {
    ...objects,
    list: (prefix) =>
      objects.list(prefix).pipe(Stream.filter(({ key }) => !/shard-000[45]\.jsonl\.out$/.test(key)))
  })
})

layer(laneWorld, { excludeTestServices: true })("the lane moves on", (it) => {
  it.effect("B4: a service that cannot be reached holds no job for ever, and none behind it", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const jobs = [yield* parked(3), yield* parked(3), yield* parked(3)]
      const settings = settingsOf()
      const silent = unreachable(driverTick(settings, 1))
      yield* silent
      yield* silent
      const [first, second, third] = yield* rows(jobs)
      assert.deepStrictEqual(
        [first, second, third],
        [["preparing", null, null], ["preparing", null, null], undefined]
      )
      yield* sql`update conversion_batch_jobs set created_at = now() - interval '126 minutes',
        prepare_started_at = now() - interval '126 minutes'`
      yield* sql`update large_conversion_jobs set created_at = now() - interval '27 hours'
        where id = ${jobs[2]?.jobId ?? ""}::uuid`
      yield* silent
      assert.deepStrictEqual(yield* waiting(jobs), ["pending", "pending", "pending"])
      assert.deepStrictEqual(yield* rows(jobs), [
        ["preparing", null, "preparing it got stuck"],
        ["preparing", null, "preparing it got stuck"],
        ["closed", "skipped", "it was not done in time"]
      ])
      // A batch job may exist: their rows stay until the service can be asked for it.
      yield* driverTick(settings, 1)
      assert.deepStrictEqual(
        (yield* rows(jobs)).map((row) => row?.[0]),
        ["closed", "closed", "closed"]
      )
      assert.deepStrictEqual(yield* ledger, [])
    })
  )

  it.effect(
    "B2: a batch job that was created unseen is stopped and billed when the service can be reached again",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const service = yield* BatchService
        const { jobId } = yield* parked(3)
        const settings = settingsOf()
        yield* driverTick(settings, 1).pipe(
          Effect.provideService(BatchService, {
            ...service,
            create: (job) => Effect.andThen(service.create(job), down)
          })
        )
        yield* sql`update conversion_batch_jobs set prepare_started_at = now() - interval '126 minutes'`
        yield* unreachable(driverTick(settings, 1))
        assert.strictEqual((yield* jobOf(jobId)).status, "pending")
        yield* tickUntil(settings, isClosed(jobId))
        assert.deepStrictEqual(
          (yield* ledger).map(({ input }) => input),
          [300]
        )
        assert.isUndefined((yield* jobOf(jobId)).options._batchPrimed)
      })
  )

  it.effect("a service that is never reached again: its row is closed a day after the job's time", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId } = yield* parked(3)
      const settings = settingsOf()
      yield* unreachable(prepareTick(settings, 1))
      yield* sql`update large_conversion_jobs set created_at = now() - interval '51 hours'`
      yield* unreachable(driverTick(settings, 1))
      assert.deepStrictEqual(yield* rows([{ jobId }]), [["closed", "expired", "it was not done in time"]])
      assert.strictEqual((yield* jobOf(jobId)).status, "pending")
    })
  )

  it.effect("B4: a submitted job waits as long as any other, counted from when it began to wait", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId } = yield* parked(3)
      yield* sql`update large_conversion_jobs set created_at = now() - interval '20 hours'`
      const settings = settingsOf()
      yield* prepareTick(settings, 1)
      const left = yield* sql<{ readonly minutes: number }>`
        select round(extract(epoch from deadline_at - now()) / 60)::int as minutes from conversion_batch_jobs`
      assert.deepStrictEqual(left, [{ minutes: 360 }])
      // Whatever polls it hangs.
      yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '6 minutes'`
      yield* releaseTick(settings)
      assert.strictEqual((yield* jobOf(jobId)).status, "pending")
      assert.strictEqual((yield* rowOf(jobId))?.close_reason, "it was not done in time")
    })
  )

  it.effect("a full quota holds nobody up: all are prepared meanwhile, and go when there is room", () =>
    Effect.gen(function* () {
      yield* clean
      const service = yield* BatchService
      const jobs = [yield* parked(3), yield* parked(3), yield* parked(3)]
      const settings = settingsOf()
      let asked = 0
      const full = Effect.provideService(BatchService, {
        ...service,
        create: () => Effect.suspend(() => ((asked += 1), down))
      })
      for (let n = 0; n < 3; n++) yield* full(prepareTick(settings, 1))
      assert.deepStrictEqual(
        (yield* rows(jobs)).map((row) => row?.[0]),
        ["preparing", "preparing", "preparing"]
      )
      assert.strictEqual(asked, 5, "a call for what waits, and one for what comes, each time")
      yield* prepareTick(settings, 1)
      assert.deepStrictEqual(
        (yield* rows(jobs)).map((row) => row?.[0]),
        ["submitted", "submitted", "submitted"]
      )
    })
  )

  it.effect("output that cannot all be seen yet is waited for, and used when it can", () =>
    Effect.gen(function* () {
      yield* clean
      const jobId = yield* done
      yield* threeOfFive(driverTick(manyFiles, 1))
      yield* threeOfFive(driverTick(manyFiles, 1))
      assert.deepStrictEqual(
        [(yield* rowOf(jobId))?.state, (yield* jobOf(jobId)).status, yield* ledger],
        ["submitted", "waiting_batch", []]
      )
      yield* driverTick(manyFiles, 1)
      const row = yield* rowOf(jobId)
      assert.deepStrictEqual([row?.outcome, row?.accepted, row?.fallback], ["collected", 5, 0])
      assert.deepStrictEqual(
        (yield* ledger).map(({ input }) => input),
        [500]
      )
    })
  )

  it.effect(
    "output that never can: after five tries what is there is used, and the rest is converted on demand",
    () =>
      Effect.gen(function* () {
        yield* clean
        const { calls } = yield* Knobs
        const jobId = yield* done
        for (let n = 1; n <= 5; n++) {
          assert.strictEqual((yield* rowOf(jobId))?.state, "submitted", `before try ${n}`)
          yield* threeOfFive(driverTick(manyFiles, 1))
        }
        const row = yield* rowOf(jobId)
        assert.deepStrictEqual([row?.outcome, row?.accepted, row?.fallback], ["collected", 3, 2])
        const text = yield* convertAll()
        for (const page of [0, 1, 2, 3, 4]) assert.include(text, `words of page ${page}`)
        assert.sameMembers(
          calls.map(({ page }) => page),
          [3, 4]
        )
      })
  )

  it.effect(
    "K1: the model and the price of the submission stay with it, whatever the settings say later",
    () =>
      Effect.gen(function* () {
        yield* clean
        const service = yield* BatchService
        const { jobId } = yield* parked(3)
        const before = settingsOf()
        yield* driverTick(before, 1).pipe(
          Effect.provideService(BatchService, { ...service, create: () => down })
        )
        const after = settingsOf({
          preparer: before.preparer,
          model: "m2",
          price: { inputUsdPerMtok: 5000, outputUsdPerMtok: 50_000 }
        })
        const models: Array<string> = []
        const spied = Effect.provideService(BatchService, {
          ...service,
          create: (job) =>
            Effect.suspend(() => {
              models.push(job.model)
              return service.create(job)
            })
        })
        yield* spied(tickUntil(after, isClosed(jobId)))
        assert.deepStrictEqual(models, ["m1"])
        const sql = yield* WriteSql
        const booked = yield* sql`select model, cost_usd::float8 as cost from cost_ledger`
        const cost = ((300 * PRICE.inputUsdPerMtok + 30 * PRICE.outputUsdPerMtok) / 1_000_000) * 0.5
        assert.deepStrictEqual(booked, [{ model: "m1", cost }])
        assert.strictEqual((yield* jobOf(jobId)).options._batchCostUsd, cost)
      })
  )

  it.effect("a row that the service never tells of is closed and billed a day after its time", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const jobId = yield* done
      const silent = unreachable(driverTick(manyFiles, 1))
      yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '23 hours'`
      yield* silent
      assert.deepStrictEqual(
        [(yield* rowOf(jobId))?.state, (yield* jobOf(jobId)).status],
        ["submitted", "pending"]
      )
      yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '25 hours'`
      yield* silent
      assert.deepStrictEqual(yield* rows([{ jobId }]), [["closed", "expired", "it was not done in time"]])
      assert.deepStrictEqual(
        (yield* ledger).map(({ input, metadata }) => [input, metadata["endState"]]),
        [[500, "Expired"]]
      )
      yield* silent
      assert.lengthOf(yield* ledger, 1)
    })
  )
})
