import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"
import { sendEntry } from "../../support/postgres/send-entry.ts"

const KEY = "k".repeat(64)
const TAG = "t".repeat(64)

const eventOf = (message: string, entry: object = {}) => ({
  provider: "provider_a",
  provider_message_id: message,
  event: "delivered",
  recipients: ["ann@x.test"],
  ...entry
})

/** Until so many connections wait for a lock; of this database's own: other tests on the server wait for locks as well. */
const waiting = (count: number) =>
  WriteSql.use((sql) =>
    sql
      .unsafe<{ readonly n: number }>(
        `select count(*)::integer as n from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'`
      )
      .pipe(Effect.repeat({ until: ([row]) => row?.n === count }))
  )

layer(layerPostgres)("locks of rows are taken in one order", (it) => {
  it.effect("by a deferral that completes the row of an early event too (D1, L1)", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const call = (name: string, entries: ReadonlyArray<object>) =>
        sql.unsafe(`select * from ${name}($1::jsonb)`, [JSON.stringify(entries)])

      yield* call("record_email_events", [eventOf("m-0", { key_tag: TAG }), eventOf("m-2")])
      const held = yield* Deferred.make<void>()
      const letGo = yield* Deferred.make<void>()
      // Holds a row that the batch of sends comes to when it has written m-1.
      const holder = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`select from email_log where provider_message_id = 'm-2' for update`
            yield* Deferred.succeed(held, undefined)
            yield* Deferred.await(letGo)
          })
        )
      )
      yield* Deferred.await(held)
      const sends = yield* Effect.forkChild(
        call("record_email_sends", [
          sendEntry({
            id: "10000000-0000-4000-8000-000000000001",
            outcome: "sent",
            provider_message_id: "m-1"
          }),
          sendEntry({
            id: "10000000-0000-4000-8000-000000000002",
            outcome: "sent",
            provider_message_id: "m-2"
          }),
          sendEntry({
            id: "10000000-0000-4000-8000-000000000003",
            outcome: "deferred",
            key_hash: KEY,
            key_tag: TAG
          })
        ])
      )
      yield* waiting(1)
      const events = yield* Effect.forkChild(call("record_email_events", [eventOf("m-0"), eventOf("m-1")]))
      yield* waiting(2)
      yield* Deferred.succeed(letGo, undefined)
      yield* Fiber.join(holder)
      yield* Fiber.join(sends)
      yield* Fiber.join(events)
      const rows =
        yield* sql`select provider_message_id, outcome, status from email_log order by provider_message_id`
      assert.deepStrictEqual(rows, [
        { provider_message_id: "m-0", outcome: "deferred", status: "delivered" },
        { provider_message_id: "m-1", outcome: "sent", status: "delivered" },
        { provider_message_id: "m-2", outcome: "sent", status: "delivered" }
      ])
    })
  )

  it.effect.each([
    [
      "another link is asked for",
      "begin_sign_in('both@x.test', decode(repeat('22', 32), 'hex'), null, 900, 5)"
    ],
    ["the account is closed", "close_account((select id from customers where email = 'both@x.test'))"],
    ["the person is erased", "erase_person('both@x.test', 'test')"]
  ] as const)("by a link that is opened while %s (DOC-52)", ([, other]) =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`delete from magic_links`
      yield* sql`insert into customers (email) values ('both@x.test') on conflict do nothing`
      yield* sql`insert into admins (email, rights, invited_by) values ('both@x.test', '{admin}', 'test')
        on conflict do nothing`
      yield* sql`insert into magic_links (token_hash, customer_id, admin_email, expires_at)
        select decode(repeat('11', 32), 'hex'), id, email, now() + interval '1 hour'
        from customers where email = 'both@x.test'`
      const held = yield* Deferred.make<void>()
      const letGo = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`select from customers where email = 'both@x.test' for update`
            yield* Deferred.succeed(held, undefined)
            yield* Deferred.await(letGo)
          })
        )
      )
      yield* Deferred.await(held)
      const first = yield* Effect.forkChild(sql.unsafe(`select * from ${other}`))
      yield* waiting(1)
      const opened = yield* Effect.forkChild(
        sql`select * from redeem_magic_link(decode(repeat('11', 32), 'hex'), null, sha256(random()::text::bytea), 900)`
      )
      yield* waiting(2)
      yield* Deferred.succeed(letGo, undefined)
      yield* Fiber.join(holder)
      assert.lengthOf(yield* Fiber.join(first), 1)
      yield* Fiber.join(opened)
    })
  )
})
