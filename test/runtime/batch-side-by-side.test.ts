import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, Result } from "effect"

import { BatchService } from "../../src/ports/batch/batch-service.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { Leadership } from "../../src/ports/leadership.ts"
import { batchDuties } from "../../src/runtime/compose/batch.ts"
import { Supervisors } from "../../src/runtime/process/supervisor.ts"
import { decodeSettings } from "../../src/runtime/settings/settings.ts"
import { driverTick } from "../application/batch/world/tick.ts"
import {
  clean,
  isState,
  jobOf,
  laneWorld,
  parked,
  rowOf,
  settingsOf
} from "../application/batch/world/world.ts"
import { untilFound } from "../support/until.ts"

const settings = Result.getOrThrow(
  decodeSettings(
    {
      DB_URL: "postgres://u:p@127.0.0.1/x",
      BATCH_CONVERSION_ENABLED: "true",
      BATCH_CONVERSION_S3_BUCKET: "bucket",
      BATCH_CONVERSION_ROLE_ARN: "arn:aws:iam::000000000000:role/r",
      BATCH_CONVERSION_MIN_RECORDS: "1",
      BATCH_CONVERSION_POLL_SECONDS: "1",
      BATCH_DRIVER_TICK_SECONDS: "1"
    },
    { embedded: true }
  )
)

const leads = Layer.succeed(Leadership, {
  term: Effect.succeed(1),
  whileLeading: (work) => Effect.as(work, true)
})

layer(laneWorld, { excludeTestServices: true })("a prepare that does not end", (it) => {
  it.effect("holds back neither the results of another job nor lets a third one be prepared beside it", () =>
    Effect.gen(function* () {
      yield* clean
      const service = yield* BatchService
      const sources = yield* PageSources
      const submitted = yield* parked(3)
      yield* driverTick(settingsOf(), 1)
      assert.isTrue(yield* isState(submitted.jobId, "submitted"))
      const stuck = yield* parked(3)
      const third = yield* parked(3)

      const begun = yield* Deferred.make<void>()
      const opened: Array<string> = []
      const held = Layer.mergeAll(
        Layer.succeed(PageSources, {
          ...sources,
          open: (objectKey: string) =>
            Effect.sync(() => opened.push(objectKey)).pipe(
              Effect.andThen(Deferred.succeed(begun, undefined)),
              Effect.andThen(Effect.never)
            )
        }),
        // The batch job is done only once the prepare has begun.
        Layer.succeed(BatchService, {
          ...service,
          get: (arn: string) =>
            Effect.flatMap(Deferred.isDone(begun), (done) =>
              done
                ? service.get(arn)
                : Effect.map(service.get(arn), (job) => ({ ...job, status: "InProgress" as const }))
            )
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(
            batchDuties(settings).pipe(Layer.provide([held, leads]), Layer.provide(Supervisors.layer))
          )
          yield* Deferred.await(begun)
          yield* untilFound(
            "the submitted job goes on",
            Effect.map(jobOf(submitted.jobId), ({ status }) => status === "pending")
          )
        })
      )
      assert.strictEqual((yield* rowOf(submitted.jobId))?.outcome, "collected")
      assert.deepStrictEqual(opened, [`files/${stuck.fileId}`])
      assert.isTrue(yield* isState(stuck.jobId, "preparing"))
      assert.isUndefined(yield* rowOf(third.jobId))
    })
  )
})
