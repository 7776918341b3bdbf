import { createHash } from "node:crypto"

import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"

type Row = Readonly<Record<string, unknown>>

/** A mail of a caller who chose no key. */
export const MAIL = {
  to: "a@x.test",
  subject: "s",
  text: "t",
  category: "transactional",
  source: "api:test"
}

/** No request, claim or row of an earlier test is in the way. */
export const clear = empty(
  "email_send_queue, email_send_claims, email_log, email_pace, email_queue_pauses, admin_audit_log"
)

/** A function of entries, as its adapter calls it. */
export const call = (name: string, entries: ReadonlyArray<object>) =>
  WriteSql.use((sql) => sql.unsafe<Row>(`select * from ${name}($1::jsonb)`, [JSON.stringify(entries)]))

/** All rows of a table. */
export const stored = (table: string) => WriteSql.use((sql) => sql.unsafe<Row>(`select * from ${table}`))

/** Queues requests; their ids, in their order. */
export const enqueue = (...requests: ReadonlyArray<object>) =>
  Effect.map(
    call(
      "enqueue_emails",
      requests.map((request) => ({ request, payload_hash: "payload" }))
    ),
    (rows) =>
      rows
        .toSorted((one, other) => Number(one["ordinal"]) - Number(other["ordinal"]))
        .map(({ id }) => String(id))
  )

/** A request that a sender holds. */
export interface Taken {
  readonly id: string
  readonly lease: string
  readonly idempotency_key: string
}

/** A provider that takes everything at once. */
export const PACE = { provider: "provider_a", rate: 0, least: 0, most: 0, primary: true }

/** Takes what is due, for twelve seconds. */
export const take = (limit = 100, paces: ReadonlyArray<object> = [PACE]) =>
  WriteSql.use(
    (sql) => sql<Taken>`select id, lease, idempotency_key
      from take_queued_emails(${JSON.stringify(paces)}::jsonb, ${limit}, interval '12 seconds') where id is not null`
  )

/** Every sender has been silent for longer than its lease. */
export const lapse = WriteSql.use(
  (sql) => sql`update email_send_queue set due_at = now() - interval '1 second' where state = 'sending'`
)

export const hashOf = (key: string) => createHash("sha256").update(key).digest("hex")

export const heldOf = ({ id, lease }: Taken) => ({ queue_id: id, lease })

/** What a sender begins a request with. */
export const claimOf = (taken: Taken) => ({
  ...heldOf(taken),
  key_hash: hashOf(taken.idempotency_key),
  addresses: ["a@x.test"],
  payload_hash: "payload",
  provider: "provider_a",
  owner: taken.lease,
  lease_ms: 12_000,
  tag: `tag-${taken.id}`
})
