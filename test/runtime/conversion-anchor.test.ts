import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Layer, Result, Stream } from "effect"

import * as BatchLines from "../../src/adapters/bedrock/batch-lines.ts"
import { BatchService } from "../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../src/ports/conversion/conversion-store.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { Leadership } from "../../src/ports/leadership.ts"
import { BatchObjects, FileObjects } from "../../src/ports/object-store.ts"
import { conversionDuties } from "../../src/runtime/compose/conversion.ts"
import { Supervisors } from "../../src/runtime/process/supervisor.ts"
import { decodeSettings, type Env } from "../../src/runtime/settings/settings.ts"
import { anyId } from "../support/any-id.ts"

const LANE = {
  BATCH_CONVERSION_ENABLED: "true",
  BATCH_CONVERSION_S3_BUCKET: "bucket",
  BATCH_CONVERSION_ROLE_ARN: "arn:aws:iam::000000000000:role/r"
}

/** What an anchor, which leads or does not, has done once a request was made a job and, if it leads, its upkeep has come round. */
const doneBy = (env: Env, leads: boolean) =>
  Effect.gen(function* () {
    const settings = Result.getOrThrow(
      decodeSettings({ DB_URL: "postgres://u:p@127.0.0.1/x", ...env }, { embedded: true })
    )
    const done: Array<string> = []
    const note = <A>(what: string, answer: A) =>
      Effect.sync(() => {
        done.push(what)
        return answer
      })
    const made = yield* Deferred.make<void>()
    const kept = yield* Deferred.make<void>()
    const orphans = [1, 1, 0]
    const closed = [1, 0]
    const queued = [
      { jobId: anyId("job"), fileId: anyId("file"), pages: 700, options: { highFidelity: true } }
    ]
    const store = Layer.mock(ConversionStore, {
      nextQueued: Effect.sync(() => queued.shift()),
      createJob: (jobId, { status }) =>
        Effect.andThen(note(`${jobId} ${status}`, true), Deferred.succeed(made, undefined)),
      recoverOrphan: (stale) =>
        Effect.suspend(() => note(`orphan after ${Duration.toSeconds(stale)} s`, orphans.shift() ?? 0)),
      sweep: () => note("sweep", 0),
      deleteFileOfClosedAccount: Effect.suspend(() => note("closed account", closed.shift() ?? 0)),
      applyBudget: (budget) => note(`budget ${budget}`, 0),
      filesToPurge: () => Effect.succeed([{ id: anyId("gone"), jobIds: [] }]),
      filePurged: (id) => Effect.andThen(note(`purged ${id}`, undefined), Deferred.succeed(kept, undefined))
    })
    yield* Effect.andThen(Deferred.await(made), leads ? Deferred.await(kept) : Effect.void).pipe(
      Effect.provide(
        conversionDuties(settings).pipe(
          Layer.provide([
            store,
            Layer.mock(FileObjects, { list: () => Stream.empty }),
            Layer.mock(BatchStore, { toPurge: () => Effect.succeed([]) }),
            Layer.mock(BatchService, {}),
            BatchLines.layer,
            Layer.mock(BatchObjects, {}),
            Layer.mock(PageSources, {}),
            Layer.succeed(Leadership, {
              term: Effect.succeed(undefined),
              whileLeading: (work) => (leads ? Effect.as(work, true) : Effect.succeed(false))
            })
          ]),
          Layer.provideMerge(Supervisors.layer)
        )
      )
    )
    return done
  })

describe("the anchor of conversions", () => {
  it.live("makes the jobs that were asked for by its own flags, whether it leads or not", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* doneBy(LANE, false), ["job waiting_batch"])
      assert.deepStrictEqual(yield* doneBy({ ...LANE, BATCH_CONVERSION_ENABLED: "" }, false), ["job pending"])
    })
  )

  it.live(
    "looks after all of them while it leads: orphans, stuck files, closed accounts, the budget, deleted files",
    () =>
      Effect.gen(function* () {
        const done = yield* doneBy(
          { MODEL_DAILY_BUDGET_USD: "7.5", CHUNK_HEARTBEAT_INTERVAL_MS: "2000" },
          true
        )
        assert.deepStrictEqual(done.filter((what) => what !== "job pending").slice(0, 8), [
          "orphan after 10 s",
          "orphan after 10 s",
          "orphan after 10 s",
          "sweep",
          "closed account",
          "closed account",
          "budget 7.5",
          "purged gone"
        ])
      })
  )
})
