import { randomUUID } from "node:crypto"

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { BatchService } from "../../../../src/ports/batch-service.ts"
import { ConversionStore } from "../../../../src/ports/conversion-store.ts"
import { driverTick } from "../../../domain/batch/tick.ts"
import { clean, isState, jobOf, laneWorld, parked, rowOf, settingsOf } from "../../../domain/batch/world.ts"
import { customer, pdf, STALE } from "./world.ts"

/** A job and its two chunks, with the columns that the contract names and no others. */
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

const fileOf = ({ fileId, owner }: { readonly fileId: string; readonly owner: string }) =>
  ConversionStore.use((store) => store.file(fileId, owner))

layer(laneWorld, { timeout: 60_000, excludeTestServices: true })("rows that are written by hand", (it) => {
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
          [(yield* jobOf(made.jobId)).status, (yield* jobOf(made.jobId)).chunks],
          ["cancelled", ["cancelled"]]
        )
        assert.strictEqual((yield* fileOf(made))?.status, "uploaded")
      }
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
        [(yield* rowOf(made.jobId))?.outcome, (yield* rowOf(made.jobId))?.close_reason],
        ["skipped", "user chose interactive"]
      )
    })
  )

  it.effect("a job whose chunks have no results is claimed for assembly, and fails there", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const { jobId } = yield* jobByHand("assembling", "completed")
      const claimed = yield* store.claimAssembly(randomUUID(), STALE)
      assert.deepStrictEqual(claimed?.chunkKeys, Array(2).fill(`jobs/${jobId}/chunks/none`))
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
      assert.deepStrictEqual((yield* jobOf(jobId)).chunks, ["pending"])
    })
  )

  it.effect("chunks that were paused go on with their job", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId } = yield* jobByHand("paused_budget")
      yield* sql`select apply_model_budget(null)`
      assert.deepStrictEqual(
        [(yield* jobOf(jobId)).status, (yield* jobOf(jobId)).chunks],
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
