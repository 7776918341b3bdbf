/** What batch rows hold beside what their port shows, and what two that write them at once make of each other. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { BatchOutcome, BatchRowState } from "../../../../src/domain/batch/row.ts"
import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { claimed, claimFrom, JOB, PRICE, submittedRow } from "../../../contracts/batch/batch-store/rows.ts"
import { clean, DocumentsWorld, parked } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

const INPUT = { prefix: "p/", records: 3, shards: 1, bytes: 1, model: "m1", price: PRICE }

/** A row with its records, not submitted yet. */
const uploadedRow = Effect.gen(function* () {
  const store = yield* BatchStore
  yield* parked(3)
  const row = yield* claimed
  yield* store.uploaded(row, INPUT)
  return row
})

const full = WriteSql.use(
  (sql) => sql<{ readonly id: string }>`select id from conversion_batch_jobs where full_at is not null`
)

layer(postgres, { excludeTestServices: true })("rows of the batch lane", (it) => {
  it.effect(
    "a full service is noted on the rows that wait for it, without a wait for who is at work on one",
    () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* BatchStore
        // What is submitted does not wait, nor what has no records yet.
        yield* store.submitted(yield* uploadedRow, JOB)
        yield* parked(3)
        yield* claimed
        const [busy, waiting] = [yield* uploadedRow, yield* uploadedRow]
        yield* whileOpen(store.uploaded(busy, INPUT), store.serviceFull)
        assert.deepStrictEqual(yield* full, [{ id: waiting.id }])
      })
  )

  it.effect("BATCH-14: the deadline is a poll of its own, before the next one and only once", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* BatchStore
      const world = yield* DocumentsWorld
      const { jobId } = yield* submittedRow
      const next = Effect.gen(function* () {
        yield* sql`update conversion_batch_jobs set next_poll_at = clock_timestamp()`
        assert.lengthOf(yield* store.claimPolls(Duration.hours(1), 10), 1)
        return (yield* sql`select next_poll_at = deadline_at as "atDeadline", next_poll_at > clock_timestamp() as later
          from conversion_batch_jobs`)[0]
      })
      assert.deepStrictEqual(yield* next, { atDeadline: false, later: true })
      yield* sql`update conversion_batch_jobs set deadline_at = clock_timestamp() + interval '30 minutes'`
      assert.deepStrictEqual(yield* next, { atDeadline: true, later: true })
      yield* world.setBatchRow(jobId, { overdueFor: Duration.minutes(1) })
      assert.deepStrictEqual(yield* next, { atDeadline: false, later: true })
    })
  )

  it.effect(
    "X1: a row that is closed with its bill waits for who holds the job, and holds up nobody meanwhile",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const { claimed: row, jobId } = yield* submittedRow
        const bill = JSON.stringify({ id: row.id, job_id: jobId, source: "batch", backend: "b", cost_usd: 1 })
        // Called bare: the store would try again after a deadlock.
        const closed = yield* whileOpen(
          sql`select from large_conversion_jobs where id = ${jobId}::uuid for no key update`,
          sql`select end_conversion_batch_row(${row.id}::uuid, null, 'failed', 'x', null, 0, 0, ${bill}::jsonb) as closed`,
          sql`select make_conversion_job_interactive(${jobId}::uuid)`
        )
        assert.deepStrictEqual(closed, [{ closed: true }])
      })
  )

  it.effect("DOC-22: a page costs what the records of the last 20 batch jobs did", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { fileId, jobId } = yield* parked(3)
      // Of 40 batch jobs the older half cost ten times as much.
      yield* sql`with j as (
          insert into large_conversion_jobs (file_id, status) select ${fileId}::uuid, 'completed'
          from generate_series(1, 40) returning id
        )
        insert into conversion_batch_jobs (job_id, state, outcome, records, cost_usd, closed_at)
        select id, 'closed', 'collected', 10, case when at > 20 then 10 else 1 end, now() - at * interval '1 day'
        from (select id, row_number() over () as at from j) numbered order by at % 7, at`
      const claim = (dailyUsd: number) => claimFrom("parked", anyId(), anyId(), 1, { dailyUsd, pageUsd: 100 })
      assert.isUndefined(yield* claim(0.29))
      assert.strictEqual((yield* claim(0.31))?.jobId, jobId)
    })
  )

  it.effect(
    "BATCH-10, BATCH-15, BATCH-17: the oldest is next, whatever the planner makes of its statistics",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const world = yield* DocumentsWorld
        const jobs = yield* Effect.forEach([1, 3, 2], (hours) =>
          Effect.tap(parked(3), ({ jobId }) => world.setJob(jobId, { age: Duration.hours(hours) }))
        )
        // Without an index it would come upon them as they were written.
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`set local enable_indexscan = off`
            for (const next of [
              sql<{ readonly id: string }>`select id from next_unclaimed_batch_job()`,
              sql<{ readonly id: string }>`select id from next_batch_job_within(100, 0.1)`
            ])
              assert.deepStrictEqual(yield* next, [{ id: jobs[1]!.jobId }])
            yield* Effect.forEach(jobs, ({ jobId }) => world.addBatchRow(jobId, "closed"))
            const stranded = sql<{
              readonly id: string
            }>`select job_id as id from stranded_batch_conversion_jobs()`
            const order = [1, 2, 0].map((at) => ({ id: jobs[at]!.jobId }))
            assert.deepStrictEqual(yield* stranded, order)
            yield* sql`update conversion_batch_jobs b set state = 'preparing', term = 1, claimed_at = j.created_at
            from large_conversion_jobs j where j.id = b.job_id`
            const open = yield* claimFrom("open", anyId(), anyId(), 2)
            assert.strictEqual(open?.jobId, jobs[1]?.jobId)
          })
        )
      })
  )

  it.effect("a row that is written by hand is whole: what it is closed as, until when it is submitted", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      for (const [reason, outcome] of [
        ...BatchOutcome.literals.map((word) => [word, word] as const),
        ["somebody said so", "skipped"] as const,
        [null, "skipped"] as const
      ]) {
        const { jobId } = yield* parked(3)
        const [row] = yield* sql`insert into conversion_batch_jobs (job_id, state, close_reason)
          values (${jobId}::uuid, 'closed', ${reason})
          returning outcome, closed_at is not null as "isDated", deadline_at is null as "isOpenEnded"`
        assert.deepStrictEqual(row, { outcome, isDated: true, isOpenEnded: true })
      }
      for (const state of BatchRowState.literals.filter((word) => word !== "closed")) {
        const { jobId } = yield* parked(3)
        const [row] = yield* sql`insert into conversion_batch_jobs (job_id, state, outcome)
          values (${jobId}::uuid, ${state}, 'failed')
          returning outcome, closed_at, submitted_at is null as "isAhead", deadline_at is null as "isOpenEnded"`
        const isAhead = state === "preparing"
        assert.deepStrictEqual(row, { outcome: null, closed_at: null, isAhead, isOpenEnded: isAhead })
      }
    })
  )
})
