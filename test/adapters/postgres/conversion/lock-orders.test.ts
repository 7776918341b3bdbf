/**
 * In which order the functions of conversion lock rows: each test has the row that comes first locked by another transaction, which
 * then locks those that come after it. Had the function locked one of these before, the two would wait for each other. The functions are
 * called bare: a store tries again after a deadlock.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import type { CustomerId, FileId } from "../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import {
  clean,
  completeAll,
  customer,
  job,
  pdf,
  STALE,
  WINDOW
} from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

/** As many rows that a plan without an order comes upon another one first. */
const MANY = Array.from({ length: 12 }, (_, index) => index)

const lock = (
  table: "files" | "customers" | "large_conversion_jobs" | "chunk_jobs" | "flyer_jobs",
  ids: ReadonlyArray<string>
) =>
  WriteSql.use((sql) =>
    sql.unsafe(`select from ${table} where id = any($1::uuid[]) order by id for no key update`, [ids])
  )

/** Moves a row behind the others of its table. */
const last = (table: "files" | "customers" | "large_conversion_jobs", id: string) =>
  WriteSql.use((sql) => sql.unsafe(`update ${table} set id = id where id = $1::uuid`, [id]))

/** Ids in their order, of which the first one's row stands last. */
const firstStandsLast = Effect.fnUntraced(function* <A extends string>(
  table: "files" | "customers" | "large_conversion_jobs",
  ids: ReadonlyArray<A>
) {
  const [first = "", ...others] = ids.toSorted()
  yield* last(table, first)
  return { first, others, backwards: [...others.toReversed(), first] as ReadonlyArray<A> }
})

const files = (owner: CustomerId) => Effect.forEach(MANY, () => pdf(owner, 1))
const jobs = (owner: CustomerId, ids: ReadonlyArray<FileId>) =>
  Effect.forEach(ids, (id) => job(owner, id, { highFidelity: true }))

suiteLayer(postgres, { excludeTestServices: true })("the order of locks of conversions", (it) => {
  it.effect("a result is stored: the file before its owner's funds", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      const fileId = yield* pdf(owner, 1)
      yield* job(owner, fileId)
      yield* completeAll
      const { jobId, lease } = (yield* store.claimAssembly(anyId(), STALE))!
      const answer = yield* whileOpen(
        lock("files", [fileId]),
        sql`select complete_assembly(${jobId}::uuid, ${lease}::uuid, 'r') as answer`,
        lock("customers", [owner])
      )
      assert.deepStrictEqual(answer, [{ answer: "completed" }])
    })
  )

  it.effect.each([
    ["complete_chunk(id, lease, 'r', '[]')", "assembling"],
    ["fail_chunk(id, lease, 'x', '[]', 1, interval '0')", "failed"],
    ["recover_orphan_chunks(interval '1 minute', 1)", 1]
  ] as const)("a chunk ends: its job before it: %s", ([call, expected]) =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      const jobId = yield* job(owner, yield* pdf(owner, 1))
      const { id } = (yield* store.claimChunk("w", anyId()))!
      yield* sql`update chunk_jobs set heartbeat_at = now() - interval '1 hour'`
      const answer = yield* whileOpen(
        lock("large_conversion_jobs", [jobId]),
        sql.unsafe(`select ${call} as answer from chunk_jobs where id = $1::uuid`, [id]),
        lock("chunk_jobs", [id])
      )
      assert.deepStrictEqual(answer, [{ answer: expected }])
    })
  )

  it.effect("a free reflow is asked for: the file before its flyer", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      const fileId = yield* pdf(owner, 1)
      const id = anyId()
      yield* store.requestFlyer({ id, fileId, customerId: owner, window: WINDOW })
      yield* store.finishFlyer((yield* store.claimFlyer(anyId(), STALE))!, "k", [])
      const answer = yield* whileOpen(
        lock("files", [fileId]),
        sql`select request_reflow(${id}::uuid, ${owner}::uuid, ${anyId()}::uuid, '{}', interval '1 hour') as answer`,
        lock("flyer_jobs", [id])
      )
      assert.deepStrictEqual(answer, [{ answer: "queued" }])
    })
  )

  it.effect("a bulk order: its files by their ids, whatever their order in it", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const owner = yield* customer(100)
      const { backwards, first, others } = yield* firstStandsLast("files", yield* files(owner))
      const items = JSON.stringify(backwards.map((fileId) => ({ jobId: anyId(), fileId, options: {} })))
      const answer = yield* whileOpen(
        lock("files", [first]),
        sql`select answer from request_bulk(${anyId()}::uuid, ${owner}::uuid, ${items}::jsonb, interval '1 hour')`,
        lock("files", others)
      )
      assert.deepStrictEqual(answer, [{ answer: "queued" }])
    })
  )

  it.effect("the daily budget: jobs by their age", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const owner = yield* customer(100)
      const made = yield* jobs(owner, yield* files(owner))
      // Turned round, so that the oldest was written last.
      yield* sql`update large_conversion_jobs set
        created_at = '2020-01-01'::timestamptz + (clock_timestamp() - created_at)`
      const [oldest = "", ...others] = made.toReversed()
      const changed = yield* whileOpen(
        lock("large_conversion_jobs", [oldest]),
        sql`select apply_model_budget(0) as changed`,
        lock("large_conversion_jobs", others)
      )
      assert.deepStrictEqual(changed, [{ changed: MANY.length }])
    })
  )

  it.effect("costs of many jobs: by their ids", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const owner = yield* customer(100)
      const made = yield* jobs(owner, yield* files(owner))
      const { backwards, first, others } = yield* firstStandsLast("large_conversion_jobs", made)
      const entries = backwards.map((id) => ({
        id: anyId(),
        job_id: id,
        source: "s",
        backend: "b",
        cost_usd: 1
      }))
      yield* whileOpen(
        lock("large_conversion_jobs", [first]),
        sql`select book_costs(${JSON.stringify(entries)}::jsonb)`,
        lock("large_conversion_jobs", others)
      )
      const [row] = yield* sql`select count(*)::int as n from cost_ledger`
      assert.deepStrictEqual(row, { n: MANY.length })
    })
  )

  it.effect("the sweep: owners of holds by their ids", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const owners = yield* Effect.forEach(MANY, () => customer(10))
      for (const owner of owners.toReversed()) yield* job(owner, yield* pdf(owner, 1))
      yield* sql`update funds_holds set expires_at = clock_timestamp()`
      const { first, others } = yield* firstStandsLast("customers", owners)
      yield* whileOpen(
        lock("customers", [first]),
        sql`select sweep_conversions(interval '90 minutes', interval '1 minute')`,
        lock("customers", others)
      )
      const [row] =
        yield* sql`select count(*)::int as n from funds_holds where expires_at > clock_timestamp()`
      assert.deepStrictEqual(row, { n: MANY.length })
    })
  )
})
