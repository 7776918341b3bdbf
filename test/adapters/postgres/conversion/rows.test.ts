/** What rows of conversions hold beside what their port shows, and what two that write them at once make of each other. */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { FileStatus } from "../../../../src/domain/conversion/file.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import {
  addFile,
  ask,
  asked,
  claimInline,
  clean,
  customer,
  job,
  pdf,
  STALE,
  WINDOW
} from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

/** Whether the owner's turn lasts for at least as long after their document was last changed. */
const busyFor = (interval: string) =>
  WriteSql.use((sql) =>
    Effect.map(
      sql<{
        readonly busy: boolean
      }>`select bool_and(t.busy_until >= f.updated_at + ${interval}::interval) as busy
        from inline_turns t join files f on f.customer_id = t.customer_id`,
      ([row]) => row?.busy
    )
  )

/** Without an index, rows are come upon as they were written. */
const withoutIndex = <A, E, R>(read: Effect.Effect<A, E, R>) =>
  WriteSql.use((sql) =>
    sql.withTransaction(
      Effect.andThen(
        sql`select set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true)`,
        read
      )
    )
  )

suiteLayer(postgres, { excludeTestServices: true })("rows of conversions", (it) => {
  it.effect("H3: an attempt counts for ten minutes at most, and half a minute more without a result", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const ends = [
        ["1 hour", true, "10 minutes"],
        ["1 hour", false, "10 minutes 30 seconds"],
        [undefined, false, "30 seconds"]
      ] as const
      for (const [since, isDone, expected] of ends) {
        yield* clean
        yield* sql`delete from inline_turns`
        yield* asked(yield* customer(10), 1)
        const claimed = (yield* claimInline)!
        if (since !== undefined)
          yield* sql`update files set claimed_at = clock_timestamp() - ${since}::interval`
        const failure = { error: "no", costs: [], maxAttempts: 1 }
        yield* Effect.asVoid<unknown, unknown, never>(
          isDone ? store.finishInline(claimed, "k", []) : store.failInline(claimed, failure)
        )
        assert.isTrue(yield* busyFor(expected), expected)
      }
    })
  )

  it.effect("C2: two workers at once take two flyers whose workers are silent", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      const ids = [anyId(), anyId()]
      for (const id of ids) {
        yield* store.requestFlyer({ id, fileId: yield* pdf(owner, 1), customerId: owner, window: WINDOW })
        yield* store.claimFlyer(anyId(), STALE)
      }
      yield* sql`update flyer_jobs set heartbeat_at = clock_timestamp() - interval '1 hour'`
      const claim = Effect.suspend(() => store.claimFlyer(anyId(), STALE))
      assert.strictEqual((yield* whileOpen(claim, claim))?.id, ids[1])
      assert.isUndefined(yield* claim)
    })
  )

  it.effect(
    "C3: a live job that is written by hand is what its file shows, unless that shows another or is gone",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const written = Effect.fnUntraced(function* (status: string, isDeleted: boolean) {
          yield* clean
          const fileId = yield* pdf(yield* customer(10), 2)
          yield* sql`update files set status = ${status}, phase = null,
          deleted_at = ${isDeleted ? "now" : null}::timestamptz where id = ${fileId}::uuid`
          yield* sql`insert into large_conversion_jobs (file_id) values (${fileId}::uuid)`
          const [row] =
            yield* sql`select f.status, f.phase, f.job_id = j.id as shown from files f, large_conversion_jobs j`
          return row
        })
        const shown = { status: "chunked_processing", phase: "Queued: 0/0 chunks", shown: true }
        for (const status of ["uploaded", "completed", "failed"])
          assert.deepStrictEqual(yield* written(status, false), shown, status)
        assert.deepInclude(yield* written("chunked_processing", false), { phase: null, shown: null })
        assert.deepInclude(yield* written("uploaded", true), { status: "uploaded", shown: null })
      })
  )

  it.effect("C3: a file that moves on while it is swept is left as it is", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      for (const [change, status] of [
        ["job_id = gen_random_uuid()", "chunked_processing"],
        ["status = 'completed'", "completed"]
      ] as const) {
        yield* clean
        const owner = yield* customer(10)
        yield* job(owner, yield* pdf(owner, 2))
        yield* sql`update large_conversion_jobs set status = 'failed'`
        yield* store.sweep(WINDOW, STALE)
        yield* sql`update files set updated_at = now() - interval '1 hour'`
        const swept = yield* whileOpen(sql.unsafe(`update files set ${change}`), store.sweep(WINDOW, STALE))
        assert.strictEqual(swept, 0, change)
        assert.deepStrictEqual(yield* sql`select status from files`, [{ status }], change)
      }
    })
  )

  it.effect("H3, DOC-12: each owner's oldest is next, whatever the planner makes of its statistics", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const [owner, other] = [yield* customer(100), yield* customer(100)]
      const documents = yield* asked(owner, 3)
      yield* asked(other, 1)
      yield* sql`update files set updated_at = now() - interval '150 minutes' where customer_id = ${other}::uuid`
      const flyers = [anyId(), anyId(), anyId()]
      for (const id of flyers)
        yield* store.requestFlyer({ id, fileId: yield* pdf(owner, 1), customerId: owner, window: WINDOW })
      for (const [at, hours] of [1, 3, 2].entries()) {
        yield* sql`update files set updated_at = now() - ${hours}::integer * interval '1 hour'
          where id = ${documents[at] ?? ""}::uuid`
        yield* sql`update flyer_jobs set created_at = now() - ${hours}::integer * interval '1 hour'
          where id = ${flyers[at] ?? ""}::uuid`
      }
      const next = yield* withoutIndex(
        sql`select (select id from claim_inline(${anyId()}::uuid, interval '1 minute')) as document,
          (select id from claim_flyer(${anyId()}::uuid, interval '1 minute')) as flyer`
      )
      assert.deepStrictEqual(next, [{ document: documents[1], flyer: flyers[1] }])
    })
  )

  it.effect("H3: no owner is passed over, whatever the planner makes of its statistics", () =>
    Effect.gen(function* () {
      yield* clean
      const owners = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => customer(10))
      for (const owner of owners.toSorted().toReversed()) yield* asked(owner, 1)
      const claims = yield* Effect.forEach(owners, () => withoutIndex(claimInline))
      assert.lengthOf(
        claims.filter((claimed) => claimed !== undefined),
        owners.length
      )
    })
  )

  it.effect("DOC-12: an owner whose work waits is found at once, however many have none left", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const owner = yield* customer(100)
      const jobId = yield* job(owner, yield* pdf(owner, 1))
      const flyer = { id: anyId(), fileId: yield* pdf(owner, 1), customerId: owner, window: WINDOW }
      yield* store.requestFlyer(flyer)
      yield* sql`with others as (
          insert into customers (email) select 'o' || n || '@x.test' from generate_series(1, 40) n returning id
        ), flyers as (
          insert into flyer_jobs (file_id, customer_id, status) select ${flyer.fileId}::uuid, id, 'completed' from others
        )
        insert into chunk_jobs (job_id, chunk_index, first_page, last_page, status, customer_id)
        select ${jobId}::uuid, 10 + row_number() over (), 1, 1, 'completed', id from others`
      // It was served last: in the order of turns it comes behind all of them.
      yield* sql`update work_turns set customer_id = ${owner}::uuid`
      assert.strictEqual((yield* store.claimChunk("w", anyId()))?.jobId, jobId)
      assert.strictEqual((yield* store.claimFlyer(anyId(), STALE))?.id, flyer.id)
    })
  )

  it.effect("DOC-12: owners are served by their ids, whatever the planner makes of its statistics", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const owners = yield* Effect.all([customer(10), customer(10), customer(10), customer(10)])
      const inOrder = owners.toSorted()
      for (const owner of inOrder.toReversed()) {
        yield* job(owner, yield* pdf(owner, 1))
        const fileId = yield* pdf(owner, 1)
        yield* store.requestFlyer({ id: anyId(), fileId, customerId: owner, window: WINDOW })
      }
      yield* sql`update work_turns set customer_id = '00000000-0000-0000-0000-000000000000'`
      const ownerOf = (claim: Effect.Effect<ReadonlyArray<{ readonly owner: string }>, SqlError>) =>
        Effect.map(withoutIndex(claim), ([row]) => row?.owner)
      const chunks = yield* Effect.forEach(owners, () =>
        ownerOf(sql`select f.customer_id as owner from claim_chunk(${anyId()}::uuid, 'w') c
          join files f on f.id = c.file_id`)
      )
      const flyers = yield* Effect.forEach(owners, () =>
        ownerOf(sql`select f.customer_id as owner from claim_flyer(${anyId()}::uuid, interval '1 minute') c
          join files f on f.id = c.file_id`)
      )
      assert.deepStrictEqual([chunks, flyers], [inOrder, inOrder])
    })
  )

  it.effect(
    "DOC-12: the oldest job's first chunk is next, whatever the planner makes of its statistics",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const store = yield* ConversionStore
        for (const paused of [0, 9]) {
          yield* clean
          const owner = yield* customer(100)
          for (let n = 0; n < paused; n++) yield* job(owner, yield* pdf(owner, 1), { highFidelity: true })
          yield* store.applyBudget(0)
          const jobs = yield* Effect.forEach([1, 2, 3], () =>
            Effect.flatMap(pdf(owner, 4), (id) => job(owner, id))
          )
          // As old as it is, its rows stand behind those of the others, and its first chunk behind the second.
          const oldest = jobs[2] ?? ""
          yield* sql`update large_conversion_jobs set created_at = now() - interval '1 minute' where id = ${oldest}::uuid`
          if (paused === 0)
            yield* sql`update chunk_jobs set queued_at = now() - interval '1 minute' where job_id = ${oldest}::uuid`
          yield* sql`update chunk_jobs set worker = null where chunk_index = 0`
          const claimed = yield* withoutIndex(
            sql`select job_id as job, chunk_index as at from claim_chunk(${anyId()}::uuid, 'w')`
          )
          assert.deepStrictEqual(claimed, [{ job: oldest, at: 0 }], `${paused} are paused`)
        }
      })
  )

  it.effect("C1: chunks that are written by hand at the same moment share the pages", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const fileId = yield* pdf(yield* customer(10), 4)
      yield* sql`insert into large_conversion_jobs (file_id) values (${fileId}::uuid)`
      const write = (index: number) =>
        sql`insert into chunk_jobs (job_id, chunk_index) select id, ${index}::integer from large_conversion_jobs`
      yield* whileOpen(write(0), write(1))
      assert.deepStrictEqual(
        yield* sql`select first_page as first, last_page as last from chunk_jobs order by chunk_index`,
        [
          { first: 0, last: 1 },
          { first: 2, last: 3 }
        ]
      )
    })
  )

  it.effect("C4: a job without chunks gets them from one of two that look for orphans", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const recover = store.recoverOrphan(STALE, 3)
      for (const status of ["pending", "processing"]) {
        const fileId = yield* pdf(yield* customer(10), 4)
        yield* sql`insert into large_conversion_jobs (file_id, status, updated_at)
          values (${fileId}::uuid, ${status}, now() - interval '1 hour')`
        assert.strictEqual(yield* whileOpen(recover, recover), 0, status)
        assert.deepStrictEqual(
          yield* sql`select phase, (select count(*)::int from chunk_jobs c join large_conversion_jobs j on j.id = c.job_id
            where j.file_id = f.id) as chunks from files f where id = ${fileId}::uuid`,
          [{ phase: "Queued: 0/1 chunks", chunks: 1 }],
          status
        )
      }
    })
  )

  it.effect("C3: pages of a chunk that nobody works on are not shown as done", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const owner = yield* customer(10)
      const jobId = yield* job(owner, yield* pdf(owner, 4))
      yield* sql`update chunk_jobs set pages_done = 1, status = case chunk_index when 0 then 'processing' else 'pending' end`
      yield* sql`select conversion_progress(${jobId}::uuid)`
      assert.deepStrictEqual(yield* sql`select done, phase from files`, [
        { done: 1, phase: "Converting: 0/2 chunks" }
      ])
    })
  )

  it.effect("DOC-12: each kind of work has a turn of its own", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const owner = yield* customer(10)
      yield* sql`update work_turns set customer_id = '00000000-0000-0000-0000-000000000000'`
      yield* job(owner, yield* pdf(owner, 1))
      assert.deepStrictEqual(yield* sql`select kind from work_turns where customer_id = ${owner}::uuid`, [
        { kind: "request" }
      ])
    })
  )

  it.effect(
    "DOC-51: of two senders at once each takes a message, the older order's first, its items in their order",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const store = yield* ConversionStore
        const owner = yield* customer(100)
        const [later, earlier] = [anyId(), anyId()]
        for (const bulkId of [later, earlier]) {
          const items = yield* Effect.forEach([0, 1, 2], () =>
            Effect.map(pdf(owner, 1), (fileId) => ({ jobId: anyId(), fileId, options: {} }))
          )
          yield* sql`select answer from request_bulk(${bulkId}::uuid, ${owner}::uuid, ${JSON.stringify(items)}::jsonb, interval '1 hour')`
          for (const { jobId } of items) yield* store.cancel(jobId)
        }
        // Turned round, so that what comes first was written last.
        yield* sql`update bulk_items set place = 10 - place`
        yield* sql`update bulk_orders set created_at = '2020-01-01'::timestamptz + (clock_timestamp() - created_at)`
        const claims: Array<string | undefined> = []
        const claim = withoutIndex(
          sql<{ readonly bulk: string; readonly items: ReadonlyArray<{ readonly fileId: string }> }>`
          select bulk_id as bulk, items from claim_bulk_message(interval '5 minutes', 4)`
        )
        const first = yield* Effect.map(claim, ([row]) => row).pipe((one) =>
          whileOpen(
            Effect.tap(one, (row) => Effect.sync(() => claims.push(row?.bulk))),
            Effect.tap(one, (row) => Effect.sync(() => claims.push(row?.bulk)))
          )
        )
        assert.deepStrictEqual(claims, [earlier, later])
        assert.deepStrictEqual(
          first?.items.map(({ fileId }) => fileId),
          (yield* sql<{ readonly id: string }>`select file_id as id from bulk_items
          where bulk_id = ${later}::uuid order by place`).map(({ id }) => id)
        )
      })
  )

  it.effect("DOC-51: what is not converted any more, and has not ended, has failed", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const outcomes: Array<unknown> = []
      const shown = FileStatus.literals
      for (const status of shown) {
        yield* clean
        const owner = yield* customer(10)
        const fileId = yield* addFile(owner, 1, "docx")
        const jobId = anyId()
        yield* ask(owner, fileId, jobId)
        yield* sql`update files set status = ${status}`
        const [row] = yield* sql`select bulk_outcome(${fileId}::uuid, ${jobId}::uuid) as outcome`
        outcomes.push(row?.["outcome"])
      }
      assert.deepStrictEqual(
        outcomes,
        shown.map((status) => (status === "processing" ? null : "failed"))
      )
    })
  )

  it.effect("DOC-22: a job that goes on takes its paused chunks along, and no other", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      yield* job(owner, yield* pdf(owner, 6), { highFidelity: true })
      yield* store.applyBudget(0)
      yield* sql`update chunk_jobs set status = case chunk_index when 0 then 'completed' when 1 then 'paused_budget' else 'failed' end`
      assert.strictEqual(yield* store.applyBudget(undefined), 1)
      assert.deepStrictEqual(
        yield* sql`select status from chunk_jobs order by chunk_index`,
        ["completed", "pending", "failed"].map((status) => ({ status }))
      )
      assert.strictEqual(yield* store.recoverOrphan(Duration.zero, 3), 0)
    })
  )
})
