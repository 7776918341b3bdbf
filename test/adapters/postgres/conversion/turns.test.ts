import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, Fiber, Latch, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as Conversions from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const WAITING = 10_000

/** Pages of tables and indexes that one claim may look at, 8 KiB each; reading all that waits takes thousands. */
const MOST_PAGES = 400

/** Files that wait, each for a chunk, a layout-true result or an inline conversion; of one owner, or each of another. */
const fill = (owners: number) => [
  // Without triggers, which derive what is given here: in a fifth of the time.
  "set local session_replication_role = replica",
  `insert into customers (email) select 'owner' || n || '@turns.test' from generate_series(1, ${owners}) as n`,
  `create temporary table owners as
    select id, row_number() over (order by id) as n from customers where email like '%@turns.test'`,
  `insert into files (customer_id, name, kind, size_bytes, pages, object_key, status, job_id)
    select o.id, 'a.pdf', 'pdf', 1000, 20, 'k', 'uploaded', null
    from generate_series(1, ${WAITING}) as i join owners o on o.n = 1 + i % ${owners}`,
  `insert into large_conversion_jobs (file_id, customer_id, total_pages, total_chunks)
    select id, customer_id, 20, 1 from files where name = 'a.pdf'`,
  `insert into chunk_jobs (job_id, chunk_index, first_page, last_page, customer_id, queued_at)
    select id, 0, 0, 19, customer_id, created_at from large_conversion_jobs`,
  `insert into flyer_jobs (file_id, customer_id) select id, customer_id from files where name = 'a.pdf'`,
  `insert into convert_queue (job_id, file_id, customer_id, options)
    select gen_random_uuid(), id, customer_id, '{}' from files where name = 'a.pdf'`,
  `insert into files (customer_id, name, kind, size_bytes, pages, object_key, status)
    select customer_id, 'a.docx', 'docx', 1000, 1, 'k', 'uploaded' from files where name = 'a.pdf'`,
  `update files set status = 'processing', job_id = gen_random_uuid() where kind = 'docx'`,
  "drop table owners",
  "analyze"
]

interface Explained {
  readonly "QUERY PLAN": ReadonlyArray<{
    readonly Plan: { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number }
  }>
}

/** Pages that a statement looks at, those of the functions that it calls as well, on a connection that has run it before. */
const pagesOf = (statement: string) =>
  WriteSql.use((sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(statement)
        const [row] = yield* sql.unsafe<Explained>(`explain (analyze, buffers, format json) ${statement}`)
        const plan = row!["QUERY PLAN"][0]!.Plan
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
      })
    )
  )

const CLAIMS = {
  chunk: "select * from claim_chunk(gen_random_uuid(), 'w')",
  "chunk with a limit": "select * from claim_chunk(gen_random_uuid(), 'w', 3)",
  flyer: "select * from claim_flyer(gen_random_uuid(), interval '1 minute')",
  inline: "select * from claim_inline(gen_random_uuid(), interval '1 minute')"
}

const layer = Layer.fresh(Layer.provideMerge(Conversions.layer, layerPostgres))

const filled = (owners: number) =>
  Layer.effectDiscard(
    WriteSql.use((sql) =>
      sql.withTransaction(Effect.forEach(fill(owners), (text) => sql.unsafe(text).unprepared))
    )
  ).pipe(Layer.orDie, Layer.provideMerge(layer))

suiteLayer(filled(1))("one owner's ten thousand files (DOC-12)", (it) => {
  it.effect("a claim of any kind looks at a few pages of the tables", () =>
    Effect.gen(function* () {
      for (const [name, statement] of Object.entries(CLAIMS)) {
        for (let n = 0; n < 3; n++) assert.isBelow(yield* pagesOf(statement), MOST_PAGES, name)
      }
    })
  )

  it.effect("eight workers at once give another owner's page to one of them in the first two rounds", () =>
    Effect.gen(function* () {
      const [store, sql] = [yield* ConversionStore, yield* WriteSql]
      yield* sql`insert into customers (email) values ('one@turns.test')`
      yield* sql`insert into files (customer_id, name, kind, size_bytes, pages, object_key)
        select id, 'one.pdf', 'pdf', 1000, 1, 'k' from customers where email = 'one@turns.test'`
      yield* sql`insert into large_conversion_jobs (file_id, total_chunks) select id, 1 from files where name = 'one.pdf'`
      yield* sql`insert into chunk_jobs (job_id, chunk_index, first_page, last_page)
        select j.id, 0, 0, 0 from large_conversion_jobs j join files f on f.id = j.file_id where f.name = 'one.pdf'`
      const round = Effect.forEach(Array.from({ length: 8 }), () => store.claimChunk("w", anyId()), {
        concurrency: "unbounded"
      })
      const claimed = [...(yield* round), ...(yield* round)]
      assert.lengthOf(new Set(claimed.map((chunk) => chunk?.id)), 16)
      assert.lengthOf(
        claimed.filter((chunk) => chunk?.totalPages === 1),
        1
      )
    })
  )

  it.effect("claims at the same time do not go past an owner's limit together", () =>
    Effect.gen(function* () {
      const [store, sql] = [yield* ConversionStore, yield* WriteSql]
      yield* sql`update chunk_jobs set status = 'pending', lease = null where status = 'processing'`
      for (let n = 0; n < 5; n++)
        yield* Effect.forEach(Array.from({ length: 8 }), () => store.claimChunk("w", anyId(), 3), {
          concurrency: "unbounded"
        })
      const [most] = yield* sql<{ readonly n: number }>`select max(n)::int as n from (
        select count(*) as n from chunk_jobs where status = 'processing' group by customer_id) x`
      assert.strictEqual(most?.n, 3)
    })
  )
})

suiteLayer(filled(WAITING))("ten thousand owners with a file each", (it) => {
  it.effect("a claim of a chunk or a flyer looks at a few pages; the next request is found as fast", () =>
    Effect.gen(function* () {
      const { chunk, flyer } = CLAIMS
      for (const statement of [chunk, flyer]) {
        for (let n = 0; n < 3; n++) assert.isBelow(yield* pagesOf(statement), MOST_PAGES, statement)
      }
      const store = yield* ConversionStore
      const first = yield* store.nextQueued
      yield* store.createJob(first!.jobId, { status: "pending", options: {}, chunkPages: 20 })
      assert.notStrictEqual((yield* store.nextQueued)?.fileId, first?.fileId)
    })
  )

  it.effect("claims of both kinds at once walk past each other: each piece of work is given out once", () =>
    Effect.gen(function* () {
      const [store, sql] = [yield* ConversionStore, yield* WriteSql]
      yield* sql`update chunk_jobs set status = 'pending', lease = null where status = 'processing'`
      yield* sql`update flyer_jobs set status = 'pending', lease = null where status = 'processing'`
      const claims = Array.from({ length: 24 }, (_, n) =>
        n % 2 === 0 ? store.claimChunk("w", anyId(), 1) : store.claimFlyer(anyId(), Duration.minutes(1), 1)
      )
      const claimed = yield* Effect.all(claims, { concurrency: "unbounded" })
      assert.lengthOf(new Set(claimed.map((work) => work?.id)), 24)
      // No owner is asked twice while others wait.
      const [most] = yield* sql<{ readonly chunks: number; readonly flyers: number }>`select
        (select max(n)::int from (
          select count(*) as n from chunk_jobs where status = 'processing' group by customer_id) x) as chunks,
        (select max(n)::int from (
          select count(*) as n from flyer_jobs where status = 'processing' group by customer_id) x) as flyers`
      assert.deepStrictEqual(most, { chunks: 1, flyers: 1 })
    })
  )

  it.effect("a claim of a chunk whose transaction is open keeps no flyer back", () =>
    Effect.gen(function* () {
      const [store, sql] = [yield* ConversionStore, yield* WriteSql]
      const [open, done] = [yield* Latch.make(false), yield* Latch.make(false)]
      const holder = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`select * from claim_chunk(${anyId()}::uuid, 'w')`
            yield* open.open
            yield* done.await
          })
        )
      )
      yield* open.await
      assert.isDefined(yield* store.claimFlyer(anyId(), Duration.minutes(1)))
      yield* done.open
      yield* Fiber.join(holder)
    })
  )
})
