import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import type { CustomerId } from "../../../../src/domain/ids.ts"
import { anyId } from "../../../support/any-id.ts"

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
