import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import type { JobId } from "../../../src/domain/ids.ts"
import { BatchService, BatchServiceError } from "../../../src/ports/batch/batch-service.ts"
import { BatchObjects, ObjectStoreError } from "../../../src/ports/object-store.ts"
import { driverTick } from "../../application/batch/world/tick.ts"
import {
  clean,
  isClosed,
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

const errorOf = (reason: BatchServiceError["reason"]) => new BatchServiceError({ reason, message: reason })

const stateOf = (jobId: JobId) =>
  Effect.gen(function* () {
    return [(yield* rowOf(jobId))?.state, (yield* jobOf(jobId)).status]
  })

layer(laneWorld, { excludeTestServices: true })("a batch job in an unknown state", (it) => {
  for (const reason of ["refused", "full"] as const) {
    it.effect(`that may have been created is not given up where its look-up is ${reason} (B2)`, () =>
      Effect.gen(function* () {
        yield* clean
        const service = yield* BatchService
        const { jobId } = yield* parked(3)
        const settings = settingsOf()
        const tick = (changes: Partial<BatchService["Service"]>) =>
          driverTick(settings, 1).pipe(Effect.provideService(BatchService, { ...service, ...changes }))
        yield* tick({
          create: (job) => Effect.andThen(service.create(job), Effect.fail(errorOf("unavailable")))
        })
        for (let n = 0; n < 3; n++) yield* tick({ findByName: () => Effect.fail(errorOf(reason)) })
        assert.deepStrictEqual(yield* stateOf(jobId), ["preparing", "waiting_batch"])
        yield* tickUntil(settings, isClosed(jobId))
        assert.strictEqual((yield* rowOf(jobId))?.outcome, "collected")
        assert.lengthOf(yield* ledger, 1)
      })
    )
  }

  it.effect(
    "goes on demand in time where its look-up is refused for ever, and the log says what is not known",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const service = yield* BatchService
        const { jobId } = yield* parked(3)
        const settings = settingsOf()
        const { layers, lines } = logged("Error")
        const tick = driverTick(settings, 1).pipe(
          Effect.provideService(BatchService, {
            ...service,
            create: () => Effect.fail(errorOf("unavailable")),
            findByName: () => Effect.fail(errorOf("refused"))
          }),
          Effect.provide(layers)
        )
        yield* tick
        yield* sql`update conversion_batch_jobs set prepare_started_at = now() - interval '3 hours'`
        yield* tick
        assert.deepStrictEqual(yield* stateOf(jobId), ["preparing", "pending"])
        assert.deepStrictEqual(lines, [])
        yield* sql`update large_conversion_jobs set created_at = now() - interval '51 hours'`
        yield* tick
        assert.deepStrictEqual(yield* stateOf(jobId), ["closed", "pending"])
        assert.match(lines.join("\n"), /whether it was created is not known: what it cost is not billed/)
      })
  )

  it.effect("is not taken for lost at once where the service does not know it, since it may run", () =>
    Effect.gen(function* () {
      yield* clean
      const service = yield* BatchService
      const { jobId, settings } = yield* submittedJob()
      const unknown = driverTick(settings, 1).pipe(
        Effect.provideService(BatchService, { ...service, get: () => Effect.fail(errorOf("missing")) }),
        Effect.provideService(BatchObjects, { ...(yield* BatchObjects), list: () => Stream.empty })
      )
      for (let n = 1; n <= 4; n++) {
        yield* unknown
        assert.deepStrictEqual(yield* stateOf(jobId), ["submitted", "waiting_batch"], `after look ${n}`)
      }
      yield* tickUntil(settings, isClosed(jobId))
      assert.strictEqual((yield* rowOf(jobId))?.outcome, "collected")
      assert.lengthOf(yield* ledger, 1)
    })
  )

  it.effect("fails where the service does not know it five times; the log says that nothing is billed", () =>
    Effect.gen(function* () {
      yield* clean
      const service = yield* BatchService
      const { jobId, settings } = yield* submittedJob()
      const { layers, lines } = logged("Error")
      const unknown = driverTick(settings, 1).pipe(
        Effect.provideService(BatchService, { ...service, get: () => Effect.fail(errorOf("missing")) }),
        Effect.provideService(BatchObjects, { ...(yield* BatchObjects), list: () => Stream.empty }),
        Effect.provide(layers)
      )
      for (let n = 1; n <= 5; n++) yield* unknown
      assert.strictEqual((yield* rowOf(jobId))?.outcome, "failed")
      assert.strictEqual((yield* jobOf(jobId)).status, "pending")
      assert.match(lines.join("\n"), /nothing tells what batch job .* cost: nothing is billed/)
    })
  )

  it.effect(
    "is looked for again where it stopped, nothing of it is there, and the service counts nothing",
    () =>
      Effect.gen(function* () {
        yield* clean
        const { faults } = yield* Knobs
        Object.assign(faults, { stops: true, unfinished: 0.5 })
        const service = yield* BatchService
        const objects = yield* BatchObjects
        const { jobId, settings } = yield* submittedJob()
        const uncounted = Effect.provideService(BatchService, {
          ...service,
          get: (arn: string) => Effect.map(service.get(arn), (job) => ({ ...job, processed: undefined }))
        })
        const tick = uncounted(driverTick(settings, 1))
        yield* tick.pipe(Effect.provideService(BatchObjects, { ...objects, list: () => Stream.empty }))
        assert.deepStrictEqual(yield* stateOf(jobId), ["submitted", "waiting_batch"])
        yield* tick
        assert.strictEqual((yield* rowOf(jobId))?.end_state, "Stopped")
        assert.lengthOf(yield* ledger, 1)
      })
  )

  it.effect("that cannot be collected is logged with the reason", () =>
    Effect.gen(function* () {
      yield* clean
      const objects = yield* BatchObjects
      const { jobId, settings } = yield* submittedJob()
      const { layers, lines } = logged("Warn")
      const ways: ReadonlyArray<Partial<typeof objects>> = [
        { list: () => Stream.empty },
        { get: (key: string) => Stream.fail(new ObjectStoreError({ reason: "missing", key })) }
      ]
      for (const way of ways) {
        yield* driverTick(settings, 1).pipe(
          Effect.provideService(BatchObjects, { ...objects, ...way }),
          Effect.provide(layers)
        )
      }
      const written = lines.join("\n")
      assert.match(written, /collected \(1\).*there is no output/s)
      assert.match(written, new RegExp(`collected \\(2\\).*missing: batch/${jobId}/.*manifest.jsonl`, "s"))
    })
  )

  for (const [how, get] of [
    ["does not answer", undefined],
    ["has it still at work", "InProgress"]
  ] as const) {
    it.effect(
      `is closed a day after its time where the service ${how}; the log says what is not billed`,
      () =>
        Effect.gen(function* () {
          yield* clean
          const sql = yield* WriteSql
          const service = yield* BatchService
          const { jobId, settings } = yield* submittedJob()
          yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '25 hours'`
          const { layers, lines } = logged("Error")
          yield* driverTick(settings, 1).pipe(
            Effect.provideService(BatchService, {
              ...service,
              get: (arn) =>
                get === undefined
                  ? Effect.fail(errorOf("unavailable"))
                  : Effect.map(service.get(arn), (job) => ({ ...job, status: get, processed: 0 }))
            }),
            Effect.provideService(BatchObjects, { ...(yield* BatchObjects), list: () => Stream.empty }),
            Effect.provide(layers)
          )
          const row = yield* rowOf(jobId)
          assert.deepStrictEqual([row?.outcome, row?.close_reason], ["expired", "it was not done in time"])
          assert.strictEqual((yield* jobOf(jobId)).status, "pending")
          assert.match(
            lines.join("\n"),
            get === undefined ? /nothing is billed/ : /still at work .* is not billed/
          )
        })
    )
  }
})
