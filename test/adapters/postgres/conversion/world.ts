import { Duration, Effect, Fiber, Latch } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import type { CostEntry } from "../../../../src/domain/conversion/cascade/cost.ts"
import type { JobOptions } from "../../../../src/domain/conversion/job.ts"
import type { CustomerId, FileId, JobId } from "../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"

export const WINDOW = Duration.minutes(90)
export const STALE = Duration.minutes(1)

/** No work of an earlier test is in the way. */
export const clean = WriteSql.use(
  (sql) => sql`with
    b as (delete from conversion_batch_jobs), l as (delete from cost_ledger), x as (delete from credit_charges),
    h as (delete from funds_holds), c as (delete from chunk_jobs), q as (delete from convert_queue),
    y as (delete from flyer_jobs), j as (delete from large_conversion_jobs), f as (delete from files)
    delete from customers`
)

/** A paid customer with these credits. */
export const customer = Effect.fnUntraced(function* (credits: number) {
  const sql = yield* WriteSql
  const id = anyId()
  yield* sql`insert into customers (id, email, plan_type, credits_remaining)
    values (${id}::uuid, ${`${id}@x.test`}, 'paid', ${credits})`
  return id
})

/** A PDF of so many pages. */
export const pdf = Effect.fnUntraced(function* (customerId: CustomerId, pages: number) {
  const store = yield* ConversionStore
  const id = anyId()
  yield* store.addFile({
    id,
    customerId,
    name: "a.pdf",
    kind: "pdf",
    sizeBytes: 1000,
    pages,
    objectKey: `files/${id}`
  })
  return id
})

/** A conversion that was asked for and has its job, in chunks of `chunkPages`. */
export const job = Effect.fnUntraced(function* (
  customerId: CustomerId,
  fileId: FileId,
  options: JobOptions = {},
  chunkPages = 2
) {
  const store = yield* ConversionStore
  const jobId = anyId()
  const requested = yield* store.request({ jobId, fileId, customerId, options, window: WINDOW })
  if (requested !== "queued") return yield* Effect.die(new Error(`the request was answered ${requested}`))
  yield* store.createJob(jobId, { status: "pending", options, chunkPages })
  return jobId
})

/** What the customer has: credits, what is set aside, what was charged. */
export const funds = Effect.fnUntraced(function* (customerId: CustomerId) {
  const sql = yield* WriteSql
  const rows = yield* sql<{ readonly credits: number; readonly held: number; readonly charged: number }>`
    select c.credits_remaining as credits,
      coalesce((select sum(h.credits) from funds_holds h where h.customer_id = c.id and h.state = 'held'), 0)::int as held,
      coalesce((select sum(x.credits) from credit_charges x where x.customer_id = c.id), 0)::int as charged
    from customers c where c.id = ${customerId}::uuid`
  return rows[0]!
})

/** A cost of a chunk's models. */
export const cost = (jobId: JobId, usd: number, id = anyId()): CostEntry => ({
  id,
  jobId,
  chunkId: undefined,
  source: "chunk-scheduler",
  backend: "chunked-vision",
  model: "m",
  usage: { inputTokens: 10, outputTokens: 20 },
  costUsd: usd,
  metadata: {}
})

/** Runs `second` while the transaction of `first` is open; that commits once `second` waits for it, or is done. */
export const whileOpen = Effect.fnUntraced(function* <A, E, R, B, E2, R2>(
  first: Effect.Effect<A, E, R>,
  second: Effect.Effect<B, E2, R2>
) {
  const sql = yield* WriteSql
  const open = yield* Latch.make(false)
  const other = yield* Effect.forkChild(Effect.andThen(open.await, second))
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* first
      yield* open.open
      while (other.pollUnsafe() === undefined) {
        yield* sql`select pg_stat_clear_snapshot()`
        const [row] = yield* sql<{ readonly waiting: boolean }>`select exists (
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        ) as waiting`
        if (row?.waiting === true) break
      }
    })
  )
  return yield* Fiber.join(other)
})
