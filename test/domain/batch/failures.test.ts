import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { batchPrefix } from "../../../src/domain/batch/keys.ts"
import type { JobId } from "../../../src/domain/ids.ts"
import { BatchService, BatchServiceError } from "../../../src/ports/batch/batch-service.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { BatchObjects, ObjectStoreError } from "../../../src/ports/object-store.ts"
import { PdfError } from "../../../src/reader/model/pdf-document.ts"
import { driverTick } from "../../application/batch/world/tick.ts"
import {
  clean,
  isClosed,
  isState,
  jobOf,
  Knobs,
  laneWorld,
  ledger,
  logged,
  parked,
  rowOf,
  settingsOf,
  submittedJob,
  tickUntil
} from "../../application/batch/world/world.ts"
import { untilStatus } from "../../contracts/batch/batch-service.ts"
import { anyId } from "../../support/any-id.ts"

const unavailable = new BatchServiceError({ reason: "unavailable", message: "busy" })
const refused = new BatchServiceError({ reason: "refused", message: "no" })

const arnOf = Effect.fnUntraced(function* (jobId: JobId) {
  const sql = yield* WriteSql
  const rows = yield* sql<{ readonly arn: string }>`select batch_job_arn as arn from conversion_batch_jobs
    where job_id = ${jobId}::uuid`
  return rows[0]?.arn ?? ""
})

/** Submits a job and waits until the service is done with it, without polling it. */
const submitted = Effect.fnUntraced(function* (pages = 3) {
  const service = yield* BatchService
  const job = yield* submittedJob(pages)
  yield* untilStatus(service, yield* arnOf(job.jobId), [
    "Completed",
    "PartiallyCompleted",
    "Expired",
    "Stopped",
    "Failed"
  ])
  return job
})

layer(laneWorld, { excludeTestServices: true })("the driver, where things fail", (it) => {
  it.effect("a create without an answer: the row stays, the next tick finds the job by its name (B2)", () =>
    Effect.gen(function* () {
      yield* clean
      const service = yield* BatchService
      const { jobId } = yield* parked(3)
      const settings = settingsOf()
      let created = 0
      yield* driverTick(settings, 1).pipe(
        Effect.provideService(BatchService, {
          ...service,
          create: (job) =>
            Effect.suspend(() => {
              created += 1
              return Effect.andThen(service.create(job), Effect.fail(unavailable))
            })
        })
      )
      assert.strictEqual((yield* rowOf(jobId))?.state, "preparing")
      assert.strictEqual((yield* jobOf(jobId)).status, "waiting_batch")
      yield* driverTick(settings, 1).pipe(
        Effect.provideService(BatchService, { ...service, create: () => Effect.die("again") })
      )
      assert.strictEqual((yield* rowOf(jobId))?.state, "submitted")
      assert.strictEqual(created, 1)
    })
  )

  it.effect("a service that is busy: uploaded once, created when it is not", () =>
    Effect.gen(function* () {
      yield* clean
      const service = yield* BatchService
      const objects = yield* BatchObjects
      const { jobId } = yield* parked(3)
      const settings = settingsOf()
      for (let n = 0; n < 3; n++) {
        yield* driverTick(settings, 1).pipe(
          Effect.provideService(BatchService, { ...service, create: () => Effect.fail(unavailable) })
        )
      }
      const keys = yield* Stream.runCollect(objects.list(batchPrefix(jobId)))
      assert.lengthOf(
        [...keys].filter(({ key }) => key.endsWith("manifest.jsonl")),
        1
      )
      yield* tickUntil(settings, isClosed(jobId))
      assert.strictEqual((yield* rowOf(jobId))?.outcome, "collected")
    })
  )

  it.effect("a refusal, a document that does not open, a store that takes nothing: on-demand", () =>
    Effect.gen(function* () {
      yield* clean
      const service = yield* BatchService
      const objects = yield* BatchObjects
      const sources = yield* PageSources
      const gone = new ObjectStoreError({ reason: "unavailable", key: "k" })
      const unread = new PdfError({ reason: "broken", message: "broken" })
      const tick = driverTick(settingsOf(), 1)
      const ways = [
        tick.pipe(Effect.provideService(BatchService, { ...service, create: () => Effect.fail(refused) })),
        tick.pipe(Effect.provideService(PageSources, { ...sources, open: () => Effect.fail(unread) })),
        tick.pipe(Effect.provideService(BatchObjects, { ...objects, put: () => Effect.fail(gone) }))
      ]
      for (const way of ways) {
        const { jobId } = yield* parked(3)
        yield* way
        const row = yield* rowOf(jobId)
        assert.deepStrictEqual([row?.state, row?.outcome], ["closed", "failed"])
        assert.strictEqual((yield* jobOf(jobId)).status, "pending")
      }
      assert.deepStrictEqual(yield* ledger, [])
    })
  )

  it.effect(
    "a prepare that its living leader has not done for two hours: adopted by name, else on-demand",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const service = yield* BatchService
        const there = yield* parked(3)
        const gone = yield* parked(3)
        for (const { jobId } of [there, gone]) {
          yield* sql`insert into conversion_batch_jobs (job_id, model, term, preparer, lease, prepare_started_at)
          values (${jobId}::uuid, 'm1', 1, ${anyId()}::uuid, ${anyId()}::uuid, now() - interval '121 minutes')`
        }
        yield* service.create({
          name: `postlane-${there.jobId}`,
          model: "m1",
          inputPrefix: "batch/none/l/input/",
          outputPrefix: "batch/none/l/output/",
          timeoutHours: 24
        })
        yield* driverTick(settingsOf(), 1)
        assert.strictEqual((yield* rowOf(there.jobId))?.state, "submitted")
        yield* driverTick(settingsOf(), 1)
        assert.strictEqual((yield* rowOf(gone.jobId))?.outcome, "failed")
        assert.strictEqual((yield* jobOf(gone.jobId)).status, "pending")
      })
  )

  it.effect(
    "what somebody else of this term prepares is left alone; what a dead leader left is taken at once",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const { jobId } = yield* parked(3)
        yield* sql`insert into conversion_batch_jobs (job_id, model, term, preparer, lease)
        values (${jobId}::uuid, 'm1', 3, ${anyId()}::uuid, ${anyId()}::uuid)`
        yield* driverTick(settingsOf(), 3)
        assert.strictEqual((yield* rowOf(jobId))?.state, "preparing")
        yield* driverTick(settingsOf(), 4)
        assert.strictEqual((yield* rowOf(jobId))?.state, "submitted")
      })
  )

  it.effect("collecting fails five times: billed from what can be read, on-demand", () =>
    Effect.gen(function* () {
      yield* clean
      const { jobId, settings } = yield* submitted()
      const objects = yield* BatchObjects
      const broken = {
        ...objects,
        get: (key: string) =>
          key.endsWith("manifest.jsonl")
            ? Stream.fail(new ObjectStoreError({ reason: "unavailable", key }))
            : objects.get(key)
      }
      for (let n = 1; n <= 5; n++) {
        assert.strictEqual((yield* rowOf(jobId))?.state, "submitted", `before collect ${n}`)
        yield* driverTick(settings, 1).pipe(Effect.provideService(BatchObjects, broken))
      }
      const row = yield* rowOf(jobId)
      assert.deepStrictEqual(
        [row?.state, row?.outcome, row?.end_state, row?.attempts],
        ["closed", "failed", "Completed", 5]
      )
      const entries = yield* ledger
      assert.deepStrictEqual(
        entries.map(({ input, metadata }) => [input, metadata["endState"], metadata["accepted"]]),
        [[300, "Completed", 0]]
      )
      const { options, status } = yield* jobOf(jobId)
      assert.strictEqual(status, "pending")
      assert.isUndefined(options._batchPrimed)
      assert.isAbove(options._batchCostUsd ?? 0, 0)
    })
  )

  it.effect(
    "a stopped job whose output comes late is billed when it is all there, after five tries as it is",
    () =>
      Effect.gen(function* () {
        yield* clean
        const { faults } = yield* Knobs
        Object.assign(faults, { stops: true, unfinished: 0.5 })
        const objects = yield* BatchObjects
        const late = Effect.provideService(BatchObjects, {
          ...objects,
          list: (prefix: string) => (prefix.includes("/output/") ? Stream.empty : objects.list(prefix))
        })
        const comes = yield* submitted(20)
        yield* late(driverTick(comes.settings, 1))
        yield* late(driverTick(comes.settings, 1))
        assert.deepStrictEqual(
          [(yield* rowOf(comes.jobId))?.state, (yield* jobOf(comes.jobId)).status, (yield* ledger).length],
          ["submitted", "waiting_batch", 0]
        )
        yield* driverTick(comes.settings, 1)
        assert.strictEqual((yield* rowOf(comes.jobId))?.end_state, "Stopped")
        assert.lengthOf(yield* ledger, 1)

        const never = yield* submitted(20)
        for (let n = 1; n <= 5; n++) {
          assert.strictEqual((yield* rowOf(never.jobId))?.state, "submitted", `before try ${n}`)
          yield* late(driverTick(never.settings, 1))
        }
        assert.strictEqual((yield* rowOf(never.jobId))?.outcome, "failed")
        assert.strictEqual((yield* jobOf(never.jobId)).status, "pending")
        assert.lengthOf(yield* ledger, 1)
      })
  )

  it.effect("past the deadline one failing collect is enough", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const objects = yield* BatchObjects
      const { jobId, settings } = yield* submitted()
      yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '1 minute'`
      yield* driverTick(settings, 1).pipe(
        Effect.provideService(BatchObjects, { ...objects, list: () => Stream.empty })
      )
      assert.strictEqual((yield* rowOf(jobId))?.outcome, "failed")
      assert.strictEqual((yield* jobOf(jobId)).status, "pending")
    })
  )

  it.effect("a job that the service has lost has failed once it was asked for five times", () =>
    Effect.gen(function* () {
      yield* clean
      const { jobId } = yield* parked(3)
      const settings = settingsOf()
      yield* tickUntil(settings, isState(jobId, "submitted"))
      const sql = yield* WriteSql
      yield* sql`update conversion_batch_jobs set batch_job_arn = 'arn:aws:bedrock:local:000000000000:model-invocation-job/zzzzzzzzzzzz'`
      for (let n = 1; n <= 5; n++) yield* driverTick(settings, 1)
      assert.strictEqual((yield* rowOf(jobId))?.outcome, "failed")
      assert.strictEqual((yield* jobOf(jobId)).status, "pending")
    })
  )

  it.effect("a service that does not answer: the job waits, and goes on-demand when it is overdue (B4)", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const service = yield* BatchService
      const { jobId } = yield* parked(3)
      const settings = settingsOf()
      yield* tickUntil(settings, isState(jobId, "submitted"))
      const silent = driverTick(settings, 1).pipe(
        Effect.provideService(BatchService, { ...service, get: () => Effect.fail(unavailable) })
      )
      yield* silent
      assert.strictEqual((yield* jobOf(jobId)).status, "waiting_batch")
      yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '1 minute'`
      yield* silent
      assert.strictEqual((yield* jobOf(jobId)).status, "pending")
      assert.strictEqual((yield* rowOf(jobId))?.state, "submitted", "it may still bill")
      yield* tickUntil(settings, isClosed(jobId))
      assert.strictEqual((yield* rowOf(jobId))?.close_reason, "it was not done in time")
    })
  )

  it.effect("a fallback share above 20 % is warned of", () =>
    Effect.gen(function* () {
      yield* clean
      const { faults } = yield* Knobs
      faults.failed = 0.5
      const { layers, lines } = logged("Warn")
      const { jobId } = yield* parked(20)
      yield* tickUntil(settingsOf(), isClosed(jobId)).pipe(Effect.provide(layers))
      assert.isTrue(
        lines.some((text) => /\d+ of 20 pages fall back to on-demand: more than 20 %/.test(text)),
        lines.join("\n")
      )
    })
  )
})
