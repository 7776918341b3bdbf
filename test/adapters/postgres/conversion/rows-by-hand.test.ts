import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { releaseTick } from "../../../../src/application/batch/driver.ts"
import { CHUNK_PAGES } from "../../../../src/domain/conversion/job.ts"
import type { CustomerId, FileId, JobId } from "../../../../src/domain/ids.ts"
import { BatchService } from "../../../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { driverTick } from "../../../application/batch/world/tick.ts"
import {
  clean,
  convertAll,
  isState,
  jobOf,
  laneWorld,
  parked,
  rowOf,
  settingsOf
} from "../../../application/batch/world/world.ts"
import { pdf, STALE, WINDOW } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { customer } from "./world.ts"

/** A job and its two chunks, with only the documented columns. */
const jobByHand = Effect.fnUntraced(function* (status: string, chunkStatus = status) {
  const sql = yield* WriteSql
  const owner = yield* customer(10)
  const fileId = yield* pdf(owner, 4)
  const jobs = yield* sql<{
    readonly id: string
  }>`insert into large_conversion_jobs (file_id, status, options)
    values (${fileId}::uuid, ${status}, '{"highFidelity": true}') returning id`
  const jobId = jobs[0]?.id ?? ""
  yield* sql`insert into chunk_jobs (job_id, chunk_index, status)
    values (${jobId}::uuid, 0, ${chunkStatus}), (${jobId}::uuid, 1, ${chunkStatus})`
  return { owner, fileId, jobId }
})

/** A job without chunks. */
const bareJob = Effect.fnUntraced(function* (status: string, pages: number) {
  const sql = yield* WriteSql
  const owner = yield* customer(100)
  const fileId = yield* pdf(owner, pages)
  const jobs = yield* sql<{
    readonly id: string
  }>`insert into large_conversion_jobs (file_id, status, options)
    values (${fileId}::uuid, ${status}, '{"highFidelity": true}') returning id`
  return jobs[0]?.id ?? ""
})

/** The chunks that the executor would have made. */
const chunksOf = Effect.fnUntraced(function* (jobId: JobId) {
  const sql = yield* WriteSql
  return yield* sql<{ readonly first: number; readonly last: number; readonly status: string }>`
    select first_page as first, last_page as last, status from chunk_jobs where job_id = ${jobId}::uuid
    order by chunk_index`
})

const WHOLE = [
  { first: 0, last: CHUNK_PAGES - 1, status: "pending" },
  { first: CHUNK_PAGES, last: 2 * CHUNK_PAGES - 1, status: "pending" },
  { first: 2 * CHUNK_PAGES, last: 2 * CHUNK_PAGES, status: "pending" }
]

const fileOf = ({ fileId, owner }: { readonly fileId: FileId; readonly owner: CustomerId }) =>
  ConversionStore.use((store) => store.file(fileId, owner))

layer(laneWorld, { excludeTestServices: true })("rows that are written by hand", (it) => {
  it.effect("a live job is its file's conversion: shown, cancelled", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      for (const status of ["pending", "waiting_batch", "processing", "paused_budget"]) {
        const made = yield* jobByHand(status)
        const file = yield* fileOf(made)
        assert.deepStrictEqual(
          [file?.status, file?.jobId, file?.batchWaiting],
          ["chunked_processing", made.jobId, status === "waiting_batch"]
        )
        yield* sql`select cancel_conversion_job(${made.jobId}::uuid)`
        assert.deepStrictEqual(
          [(yield* jobOf(anyId(made.jobId))).status, (yield* jobOf(anyId(made.jobId))).chunks],
          ["cancelled", ["cancelled"]]
        )
        assert.strictEqual((yield* fileOf(made))?.status, "uploaded")
      }
    })
  )

  it.effect(
    "C4: a parked job without chunks gets them when it goes on: processed now, released, given up by the driver",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const store = yield* BatchStore
        const hurried = yield* bareJob("waiting_batch", 2 * CHUNK_PAGES + 1)
        const answers = yield* Effect.forEach(
          [1, 2, 3, 4],
          () => store.makeInteractive(anyId(hurried), WINDOW),
          {
            concurrency: "unbounded"
          }
        )
        assert.lengthOf(
          answers.filter((answer) => answer === "resumed"),
          1
        )
        assert.deepStrictEqual(yield* chunksOf(anyId(hurried)), WHOLE)
        const text = yield* convertAll()
        assert.include(text, `words of page ${2 * CHUNK_PAGES}`)
        assert.strictEqual((yield* jobOf(anyId(hurried))).status, "assembling")

        const overdue = yield* bareJob("waiting_batch", 2 * CHUNK_PAGES + 1)
        yield* sql`update large_conversion_jobs set created_at = now() - interval '27 hours' where id = ${overdue}::uuid`
        yield* releaseTick(settingsOf())
        assert.deepStrictEqual(yield* chunksOf(anyId(overdue)), WHOLE)

        const driven = yield* bareJob("waiting_batch", 1)
        yield* driverTick(settingsOf(), 1)
        assert.strictEqual((yield* rowOf(anyId(driven)))?.outcome, "skipped")
        assert.deepStrictEqual(yield* chunksOf(anyId(driven)), [{ first: 0, last: 0, status: "pending" }])
      })
  )

  it.effect(
    "C4: a job without chunks that nobody writes gets them once, whichever process looks for orphans",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const store = yield* ConversionStore
        const jobId = yield* bareJob("pending", 2 * CHUNK_PAGES + 1)
        assert.strictEqual(yield* store.recoverOrphan(STALE, 3), 0)
        assert.deepStrictEqual(yield* chunksOf(anyId(jobId)), [], "they may be about to be written")
        yield* sql`update large_conversion_jobs set updated_at = now() - interval '2 minutes'`
        const counts = yield* Effect.forEach([1, 2, 3, 4], () => store.recoverOrphan(STALE, 3), {
          concurrency: "unbounded"
        })
        assert.strictEqual(
          counts.reduce((sum, count) => sum + count, 0),
          1
        )
        assert.deepStrictEqual(yield* chunksOf(anyId(jobId)), WHOLE)
      })
  )

  it.effect("one that has ended, or comes after another, is not", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      assert.strictEqual((yield* fileOf(yield* jobByHand("completed")))?.status, "uploaded")
      const { fileId, jobId, owner } = yield* parked(3)
      yield* sql`insert into large_conversion_jobs (file_id, status) values (${fileId}::uuid, 'pending')`
      assert.strictEqual((yield* fileOf({ fileId, owner }))?.jobId, jobId)
    })
  )

  it.effect("Process now: its phase counts the chunks that there are", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const made = yield* jobByHand("waiting_batch")
      yield* sql`select make_conversion_job_interactive(${made.jobId}::uuid)`
      assert.strictEqual((yield* fileOf(made))?.phase, "Queued: 0/2 chunks")
      assert.deepStrictEqual(
        [(yield* rowOf(anyId(made.jobId)))?.outcome, (yield* rowOf(anyId(made.jobId)))?.close_reason],
        ["skipped", "user chose interactive"]
      )
    })
  )

  it.effect("a job that somebody else puts together is left to them, until they count as dead (X2)", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const made = yield* jobByHand("assembling", "completed")
      const moved = yield* jobByHand("processing", "completed")
      yield* sql`update large_conversion_jobs set status = 'assembling' where id = ${moved.jobId}::uuid`
      assert.isUndefined(yield* store.claimAssembly(anyId(), STALE))
      assert.strictEqual(yield* store.cancel(anyId(made.jobId)), "finishing")
      assert.strictEqual(yield* store.cancel(anyId(moved.jobId)), "finishing")
      yield* sql`update large_conversion_jobs set heartbeat_at = now() - interval '2 minutes'`
      // Their chunks have no results: they fail there, instead of at their claim.
      const claimed = yield* store.claimAssembly(anyId(), STALE)
      assert.deepStrictEqual(claimed?.chunkKeys, Array(2).fill(`jobs/${made.jobId}/chunks/none`))
      assert.strictEqual((yield* store.claimAssembly(anyId(), STALE))?.jobId, moved.jobId)
    })
  )

  it.effect(
    "chunks share out the document's pages, and all of them are converted before it is put together (C1)",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const store = yield* ConversionStore
        const { fileId, jobId } = yield* jobByHand("pending")
        yield* sql`insert into chunk_jobs (job_id, chunk_index) values (${jobId}::uuid, 2)`
        assert.deepStrictEqual(
          yield* sql`select bool_and(not_before > updated_at + interval '2 seconds') as later from chunk_jobs`,
          [{ later: true }],
          "others may still be written"
        )
        yield* sql`update chunk_jobs set not_before = now()`
        for (const [chunkIndex, firstPage, lastPage] of [
          [0, 0, 1],
          [1, 2, 2],
          [2, 3, 3]
        ] as const) {
          const lease = anyId()
          const chunk = yield* store.claimChunk("w", lease)
          assert.deepInclude(chunk, { chunkIndex, firstPage, lastPage, fileId, totalPages: 4 })
          // One that comes late has none.
          yield* sql`insert into chunk_jobs (job_id, chunk_index, status)
          values (${jobId}::uuid, 9, 'completed') on conflict do nothing`
          const answer = yield* store.completeChunk({ id: anyId(chunk?.id), lease }, "r", [])
          assert.strictEqual(answer, chunkIndex === 2 ? "assembling" : "completed")
        }
        assert.deepStrictEqual(
          yield* sql`select first_page, last_page from chunk_jobs where chunk_index = 9`,
          [{ first_page: 4, last_page: 3 }]
        )
      })
  )

  it.effect("options that are none of their kind count as not given, and stop no worker", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId } = yield* jobByHand("pending")
      yield* sql`update large_conversion_jobs set
        options = '{"highFidelity": true, "parser": "abacus", "mathOcr": "no", "_batchPrimed": null, "more": 1}'
        where id = ${jobId}::uuid`
      yield* sql`update chunk_jobs set not_before = now()`
      const chunk = yield* ConversionStore.use((store) => store.claimChunk("w", anyId()))
      assert.deepStrictEqual(chunk?.options, { highFidelity: true })
    })
  )

  it.effect("more chunks than pages: the last ones have none", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId } = yield* jobByHand("waiting_batch")
      yield* sql`insert into chunk_jobs (job_id, chunk_index, status)
        select ${jobId}::uuid, i, 'waiting_batch' from generate_series(2, 5) as i`
      const pages = yield* sql<{ readonly first: number; readonly last: number }>`
        select first_page as first, last_page as last from chunk_jobs order by chunk_index`
      const held = pages.flatMap(({ first, last }) =>
        Array.from({ length: last - first + 1 }, (_, at) => first + at)
      )
      assert.deepStrictEqual(held, [0, 1, 2, 3])
      assert.lengthOf(pages, 6)
    })
  )

  it.effect("a file that somebody else converts inline is left to them, until they count as dead", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      yield* sql`insert into files (customer_id, name, kind, size_bytes, pages, object_key, status)
        values (${owner}::uuid, 'a', 'docx', 1, 1, 'a', 'processing'), (${owner}::uuid, 'b', 'png', 1, 1, 'b', 'uploaded')`
      yield* sql`update files set status = 'processing' where kind = 'png'`
      assert.isUndefined(yield* store.claimInline(anyId(), STALE))
      yield* sql`update files set heartbeat_at = now() - interval '2 minutes'`
      for (const _ of ["docx", "png"]) {
        const lease = anyId()
        const claimed = yield* store.claimInline(lease, STALE)
        assert.isDefined(claimed?.jobId)
        assert.strictEqual(
          yield* store.finishInline({ fileId: claimed?.fileId ?? "", lease }, "r", []),
          "completed"
        )
      }
    })
  )

  it.effect("a running chunk that nobody claimed goes back to those that wait (C4)", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const { jobId } = yield* jobByHand("processing")
      assert.strictEqual(yield* store.recoverOrphan(STALE, 5), 0)
      yield* sql`update chunk_jobs set updated_at = now() - interval '2 minutes' where job_id = ${jobId}::uuid`
      assert.strictEqual(yield* store.recoverOrphan(STALE, 5), 1)
      assert.strictEqual(yield* store.recoverOrphan(STALE, 5), 1)
      assert.deepStrictEqual((yield* jobOf(anyId(jobId))).chunks, ["pending"])
    })
  )

  it.effect("chunks that were paused go on with their job", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId } = yield* jobByHand("paused_budget")
      yield* sql`select apply_model_budget(null)`
      assert.deepStrictEqual(
        [(yield* jobOf(anyId(jobId))).status, (yield* jobOf(anyId(jobId))).chunks],
        ["pending", ["pending"]]
      )
    })
  )

  it.effect(
    "a batch row that was closed with a reason only: its job is resumed, primed if it was collected",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        for (const reason of ["collected", "because"]) {
          const { jobId } = yield* parked(3)
          yield* sql`insert into conversion_batch_jobs (job_id, state) values (${jobId}::uuid, 'preparing')`
          yield* sql`update conversion_batch_jobs set state = 'closed', close_reason = ${reason}
          where job_id = ${jobId}::uuid`
          const row = yield* rowOf(jobId)
          assert.strictEqual(row?.outcome, reason === "collected" ? "collected" : "skipped")
          const stranded =
            yield* sql`select from stranded_batch_conversion_jobs() where job_id = ${jobId}::uuid`
          assert.lengthOf(stranded, 1)
          yield* driverTick(settingsOf(), 1)
          const { options, status } = yield* jobOf(jobId)
          assert.deepStrictEqual(
            [status, options._batchPrimed],
            ["pending", reason === "collected" ? true : undefined]
          )
        }
      })
  )

  it.effect(
    "a batch row that was submitted without its batch job is closed, one that was opened again has no outcome (B4)",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const { jobId } = yield* parked(3)
        yield* sql`insert into conversion_batch_jobs (job_id, state, outcome) values (${jobId}::uuid, 'closed', 'failed')`
        yield* sql`update conversion_batch_jobs set state = 'submitted' where job_id = ${jobId}::uuid`
        assert.isTrue(yield* isState(jobId, "submitted"))
        const deadlines = yield* sql<{ readonly hours: number }>`
        select round(extract(epoch from deadline_at - submitted_at) / 3600)::integer as hours from conversion_batch_jobs`
        assert.deepStrictEqual(deadlines, [{ hours: 26 }])
        const service = yield* BatchService
        yield* driverTick(settingsOf(), 1).pipe(
          Effect.provideService(BatchService, {
            ...service,
            get: () => Effect.die("there is nothing to ask for")
          })
        )
        assert.strictEqual((yield* rowOf(jobId))?.outcome, "failed")
        assert.strictEqual((yield* jobOf(jobId)).status, "pending")
      })
  )

  it.effect("mail addresses are kept in lower case", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      yield* sql`insert into customers (email) values (' Hand@Written.Test')`
      yield* sql`insert into email_suppressions (email, reason) values ('Hand@Written.Test', 'manual')`
      yield* sql`insert into prospects (email) values ('Hand@Written.Test')`
      yield* sql`insert into unsubscribes (email) values ('Hand@Written.Test')`
      const found = yield* sql<{ readonly email: string }>`
        select email from customers union all select email from email_suppressions
        union all select email from prospects union all select email from unsubscribes`
      assert.deepStrictEqual(
        found.map(({ email }) => email),
        Array.from({ length: 4 }, () => "hand@written.test")
      )
      const digests =
        yield* sql`insert into audit_digest_subscriptions (email) values ('a@x.test') returning cadence`
      assert.deepStrictEqual(digests, [{ cadence: "daily" }])
    })
  )
})
