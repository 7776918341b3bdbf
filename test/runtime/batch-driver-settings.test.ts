import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { BatchService, type NewBatchJob } from "../../src/ports/batch/batch-service.ts"
import { ConversionStore } from "../../src/ports/conversion/conversion-store.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { Leadership } from "../../src/ports/leadership.ts"
import { batchDuties } from "../../src/runtime/compose/batch.ts"
import { conversionDuties } from "../../src/runtime/compose/conversion.ts"
import { Supervisors } from "../../src/runtime/process/supervisor.ts"
import { decodeSettings } from "../../src/runtime/settings/settings.ts"
import { customer } from "../adapters/postgres/conversion/world.ts"
import {
  clean,
  isClosed,
  isState,
  jobOf,
  laneWorld,
  parked,
  rowOf
} from "../application/batch/world/world.ts"
import { pdf, WINDOW } from "../contracts/conversion/documents-world.ts"
import { anyId } from "../support/any-id.ts"
import { untilFound } from "../support/until.ts"

const settingsWith = (enabled: boolean) =>
  Result.getOrThrow(
    decodeSettings(
      {
        DB_URL: "postgres://u:p@127.0.0.1/x",
        BATCH_CONVERSION_ENABLED: String(enabled),
        BATCH_CONVERSION_S3_BUCKET: "bucket",
        BATCH_CONVERSION_ROLE_ARN: "arn:aws:iam::000000000000:role/r",
        BATCH_CONVERSION_MIN_PAGES: "5",
        BATCH_CONVERSION_MIN_RECORDS: "3",
        BATCH_CONVERSION_MAX_RECORDS: "5",
        BATCH_CONVERSION_MAX_FILE_MB: "1",
        BATCH_CONVERSION_TIMEOUT_HOURS: "100",
        BATCH_CONVERSION_POLL_SECONDS: "7777",
        BATCH_DRIVER_TICK_SECONDS: "1"
      },
      { embedded: true }
    )
  )
const settings = settingsWith(true)

const leads = Layer.succeed(Leadership, {
  term: Effect.succeed(1),
  whileLeading: (work) => Effect.as(work, true)
})

const follows = Layer.succeed(Leadership, {
  term: Effect.succeed(undefined),
  whileLeading: () => Effect.succeed(false)
})

/** As base64 two of them are less than a megabyte, and three are more. */
const PAGE_BYTES = 300_000

layer(laneWorld, { excludeTestServices: true })("the batch lane on the anchor", (it) => {
  it.effect("jobs are made by the settings of the lane, on or off", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const made = Effect.fnUntraced(function* (enabled: boolean, pages: number) {
        const owner = yield* customer(100)
        const [fileId, jobId] = [yield* pdf(owner, pages), anyId()]
        const options = { highFidelity: true }
        yield* store.request({ jobId, fileId, customerId: owner, options, window: WINDOW })
        yield* Effect.scoped(
          Effect.andThen(
            Layer.build(
              conversionDuties(settingsWith(enabled)).pipe(
                Layer.provide(follows),
                Layer.provide(Supervisors.layer)
              )
            ),
            untilFound(
              "the executor has taken the request",
              Effect.map(store.filesById([fileId]), ([file]) => file !== undefined && file.jobStatus !== null)
            )
          )
        )
        return (yield* jobOf(jobId)).status
      })
      assert.deepStrictEqual(
        [yield* made(true, 5), yield* made(true, 4), yield* made(false, 5)],
        ["waiting_batch", "pending", "pending"]
      )
    })
  )

  it.effect("the driver works by the settings of the lane", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const service = yield* BatchService
      const sources = yield* PageSources
      const few = yield* parked(2)
      const many = yield* parked(6)
      const { jobId } = yield* parked(4)
      const created: Array<NewBatchJob> = []
      const here = Layer.mergeAll(
        Layer.succeed(BatchService, {
          ...service,
          create: (job) =>
            Effect.andThen(
              Effect.sync(() => created.push(job)),
              service.create(job)
            )
        }),
        Layer.succeed(PageSources, {
          ...sources,
          open: (key, range) =>
            Effect.map(sources.open(key, range), (pages) => ({
              page: (index: number) =>
                Effect.map(pages.page(index), (page) => ({
                  ...page,
                  pdf: Effect.succeed(new Uint8Array(PAGE_BYTES))
                }))
            }))
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(
            batchDuties(settings).pipe(Layer.provide([here, leads]), Layer.provide(Supervisors.layer))
          )
          yield* untilFound("the job is submitted", isState(jobId, "submitted"))
          yield* untilFound("the job of many records is closed", isClosed(many.jobId))
        })
      )
      assert.deepStrictEqual(
        [(yield* rowOf(few.jobId))?.close_reason, (yield* rowOf(many.jobId))?.close_reason],
        ["fewer than 3 records", "more than 5 records"]
      )
      const { id } = settings.conversion.model
      assert.deepStrictEqual(
        created.map(({ model, name, timeoutHours }) => [name, model, timeoutHours]),
        [[`postlane-${jobId}`, id, 100]]
      )
      assert.deepStrictEqual(
        yield* sql`select b.model, b.batch_job_name as name, b.records, b.shards,
            extract(epoch from b.next_poll_at - b.submitted_at)::int as poll,
            extract(epoch from b.deadline_at - j.created_at)::int as "giveUp"
          from conversion_batch_jobs b join large_conversion_jobs j on j.id = b.job_id where b.job_id = ${jobId}::uuid`,
        [{ model: id, name: `postlane-${jobId}`, records: 4, shards: 2, poll: 7777, giveUp: 102 * 3600 }]
      )
    })
  )
})
