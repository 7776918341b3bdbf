import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"

export const HOOK = "00000000-0000-4000-8000-0000000000f0"
export const LEASE = "00000000-0000-4000-8000-0000000000e0"
export const OTHER = "00000000-0000-4000-8000-0000000000e1"

export const clearHooks = empty("event_hooks, email_log, email_events, email_suppressions, unsubscribes")

export const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`

/** From the highest to the lowest, so that the table has its rows in another order than their ids are. */
export const NUMBERS = Array.from({ length: 20 }, (_, index) => 20 - index)

/** A hook that gets everything. */
export const putHook = (values: Readonly<Record<string, unknown>> = {}) =>
  WriteSql.use(
    (sql) =>
      sql`insert into event_hooks ${sql.insert({ id: HOOK, url: "https://shop.test/hooks", secret: "whsec_AAAA", ...values })}`
  )

const MINUTE_MS = 60_000

/** The moment so many minutes from now. */
export const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS)

/** A delivery of the hook with this number; one that is due, of a subject of its own, where nothing else is said. */
export const putDelivery = (number: number, values: Readonly<Record<string, unknown>> = {}) =>
  WriteSql.use((sql) => {
    const ended = values["state"] !== undefined && values["state"] !== "pending"
    return sql`insert into event_hook_deliveries ${sql.insert({
      id: idOf(number),
      hook_id: HOOK,
      message_id: `msg_${number}`,
      type: "email.sent",
      subject: `key:${number}`,
      body: '{"type":"email.sent","data":{"to":[]}}',
      state: "pending",
      next_at: ended ? null : inMinutes(-1),
      ended_at: ended ? inMinutes(-1) : null,
      ...values
    })}`
  })

export const putDeliveries = (values: Readonly<Record<string, unknown>>) =>
  Effect.forEach(NUMBERS, (number) => putDelivery(number, values))

/** The state of each delivery, by number, and whether it is due. */
export const deliveryStates = WriteSql.use((sql) =>
  Effect.map(
    sql<{
      readonly state: string
      readonly due: boolean
    }>`select state, coalesce(next_at <= clock_timestamp(), false) as due
      from event_hook_deliveries order by id`,
    (rows) => rows.map(({ due, state }) => (state === "pending" ? (due ? "due" : "waits") : state))
  )
)

/** Notes how tries ended. */
export const endTries = (...ends: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  WriteSql.use((sql) => sql`select end_event_hook_tries(${JSON.stringify(ends)}::jsonb, '{1 hour}')`)

export const receiptOf = (number: number) => ({ id: idOf(number), lease: LEASE, received: true })
export const failureOf = (number: number) => ({ id: idOf(number), lease: LEASE, received: false })

/** A function of entries, as its adapter calls it. */
export const call = (name: string, ...entries: ReadonlyArray<object>) =>
  WriteSql.use((sql) => sql.unsafe(`select * from ${name}($1::jsonb)`, [JSON.stringify(entries)]))
