/** What two that record events, alerts, digests and notices at once make of each other. */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import { call } from "./hook-rows.ts"

const clear = empty(
  "email_log, email_events, email_alerts, email_suppressions, email_send_claims, erased_suppressions, email_alarms, email_alarm_notices, email_stats_closed, audit_digest_subscriptions"
)

const TAG = "t".repeat(64)
const ROW = "00000000-0000-4000-8000-000000000001"
const SUBSCRIPTION = "00000000-0000-4000-8000-00000000000a"

const event = (message: string, name: string, entry: object = {}) => ({
  provider: "provider_a",
  provider_message_id: message,
  event: name,
  recipients: ["ann@x.test"],
  ...entry
})
const record = (message: string, name: string, entry: object = {}) =>
  call("record_email_events", event(message, name, entry))

const send = (entry: object) => call("record_email_sends", sendEntry({ id: ROW, ...entry }))

const messages = WriteSql.use((sql) =>
  Effect.map(
    sql<{ readonly message: string; readonly status: string }>`
      select provider_message_id as message, status from email_log order by provider_message_id collate "C"`,
    (rows) => rows.map(({ message, status }) => `${message} ${status}`)
  )
)

const first = <A>(rows: ReadonlyArray<{ readonly answer: A }>) => rows[0]?.answer
const confirm = WriteSql.use((sql) =>
  Effect.map(
    sql<{ readonly answer: boolean }>`select confirm_email_alert(id) as answer from email_log`,
    first
  )
)
const release = WriteSql.use((sql) =>
  Effect.map(
    sql<{ readonly answer: boolean }>`select release_email_alert(id) as answer from email_log`,
    first
  )
)
const alerts = (name: string) =>
  Effect.map(record("m-1", name), (rows) => rows.map((row) => Reflect.get(row, "alert")))

suiteLayer(layerPostgres)("events that come together", (it) => {
  it.effect("are written before an erasure, which then finds them (P3)", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* whileOpen(record("m-1", "opened"), sql`select erase_person('ann@x.test', 'test')`)
      assert.deepStrictEqual(yield* messages, ["m-1 opened"])
      assert.lengthOf(yield* sql`select from email_log where 'ann@x.test' = any (to_addresses)`, 0)
    })
  )

  it.effect("lock the rows of their mails in one order, in whatever order they come", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const ids = Array.from({ length: 9 }, (_, index) => `m-${9 - index}`)
      const events = ids.map((message) => event(message, "opened"))
      yield* call("record_email_events", ...ids.map((message) => event(message, "sent")))
      yield* whileOpen(
        sql`select from email_log where provider_message_id = 'm-1' for update`,
        call("record_email_events", ...events),
        sql`select from email_log where provider_message_id <> 'm-1' for update`
      )
      assert.deepStrictEqual(
        yield* messages,
        ids.toReversed().map((message) => `${message} opened`)
      )
    })
  )

  it.effect("write the rows of new mails at their places among those that are there", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const lock = sql`select from email_log where provider_message_id = 'm-2' for update`
      const opened = (...ids: ReadonlyArray<string>) =>
        call("record_email_events", ...ids.map((message) => event(message, "opened")))
      yield* record("m-2", "sent")
      yield* whileOpen(record("m-1", "sent"), opened("m-3", "m-2", "m-1", "m-0"), lock)
      yield* whileOpen(lock, opened("m-4", "m-2"), record("m-4", "sent"))
      assert.deepStrictEqual(
        yield* messages,
        ["m-0", "m-1", "m-2", "m-3", "m-4"].map((message) => `${message} opened`)
      )
    })
  )

  it.effect("end where an operator's own index refuses a row, which no new beginning would change", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* sql`create unique index own_index on email_log (subject)`
      const refused = yield* Effect.flip(
        Effect.andThen(
          sql`set local statement_timeout = '3s'`,
          call(
            "record_email_events",
            ...["m-1", "m-2"].map((message) => event(message, "sent", { subject: "S" }))
          )
        ).pipe(sql.withTransaction)
      ).pipe(Effect.ensuring(Effect.orDie(sql`drop index own_index`)))
      assert.strictEqual(refused.reason._tag, "UniqueViolation")
    })
  )

  it.effect("let an acceptance be recorded twice at once, beside a deferral of its key", () =>
    Effect.gen(function* () {
      yield* clear
      const deferral = sendEntry({ outcome: "deferred", key_hash: "key", key_tag: TAG })
      const accepted = sendEntry({ provider_message_id: "m-1", key_hash: "key", key_tag: TAG })
      yield* record("m-1", "opened", { key_tag: TAG })
      yield* whileOpen(
        call("record_email_sends", deferral),
        call("record_email_sends", accepted),
        call("record_email_sends", accepted, sendEntry({ outcome: "failed" }))
      )
      assert.deepStrictEqual(
        (yield* messages).filter((message) => message.startsWith("m-1")),
        ["m-1 opened"]
      )
    })
  )

  it.effect("lock rows before what hooks order, also where a deferral's mail turns out to be sent", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* sql`insert into event_hooks (url, secret) values ('https://hook.test', 'whsec_AAAA')`
      yield* send({ outcome: "deferred", key_hash: "key", key_tag: TAG })
      yield* record("m-2", "sent")
      yield* whileOpen(
        sql`select from email_log where provider_message_id = 'm-2' for update`,
        call("record_email_events", event("m-1", "opened", { key_tag: TAG }), event("m-2", "opened")),
        sql`select lock_hook_subjects(array['key:key'])`
      )
      assert.deepStrictEqual(
        yield* sql`select type from event_hook_deliveries where subject = 'key:key' order by sequence`,
        ["email.deferred", "email.sent", "email.opened"].map((type) => ({ type }))
      )
      yield* sql`delete from event_hooks`
    })
  )

  it.effect("begin again where another one makes a mail's row: one alert a mail, each of its row (A1)", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* record("m-3", "sent")
      const answers = yield* whileOpen(
        record("m-2", "sent"),
        call("record_email_events", ...["m-1", "m-2", "m-3"].map((message) => event(message, "bounced")))
      )
      assert.deepStrictEqual(
        answers.map((row) => [Reflect.get(row, "alert"), Reflect.get(row, "status")]),
        Array.from({ length: 3 }, () => [true, "bounced"])
      )
      assert.deepStrictEqual(yield* messages, ["m-1 bounced", "m-2 bounced", "m-3 bounced"])
      assert.deepStrictEqual(
        yield* sql`select l.provider_message_id as message from email_alerts a left join email_log l on l.id = a.send_id
          order by message`,
        ["m-1", "m-2", "m-3"].map((message) => ({ message }))
      )
      assert.lengthOf(
        yield* sql`select from email_events e join email_log l on l.id = e.send_id where e.event = 'bounced'`,
        3
      )
    })
  )

  it.effect.each([
    ["alone", ["m-2"]],
    ["beside a mail that is new", ["m-1", "m-2"]]
  ] as const)("make a new row where the one of their mail just goes, %s", ([, ids]) =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* record("m-2", "sent")
      const answers = yield* whileOpen(
        sql`delete from email_log`,
        call("record_email_events", ...ids.map((message) => event(message, "bounced")))
      )
      assert.deepStrictEqual(
        answers.map((row) => Reflect.get(row, "alert")),
        ids.map(() => true)
      )
      assert.deepStrictEqual(
        yield* messages,
        ids.map((message) => `${message} bounced`)
      )
      assert.lengthOf(yield* sql`select from email_log where 'ann@x.test' = any (to_addresses)`, ids.length)
    })
  )

  it.effect("see what the other one wrote: a status never goes back (L2)", () =>
    Effect.gen(function* () {
      yield* clear
      yield* record("m-1", "sent")
      yield* whileOpen(record("m-1", "opened"), record("m-1", "delivered"))
      assert.deepStrictEqual(yield* messages, ["m-1 opened"])
    })
  )

  it.effect.each([
    ["of which nothing is known", []],
    ["whose event before named no key", ["sent"]]
  ] as const)("with the deferral of their key are of one row, of a mail %s (D1, L1)", ([, before]) =>
    Effect.gen(function* () {
      yield* clear
      for (const name of before) yield* record("m-1", name)
      const deferral = send({ outcome: "deferred", idempotency_key: "order-17", key_tag: TAG })
      yield* whileOpen(record("m-1", "delivered", { key_tag: TAG }), deferral)
      assert.deepStrictEqual(yield* messages, ["m-1 delivered"])
    })
  )

  it.effect("leave a deferral alone that its own attempt just moves to another mail", () =>
    Effect.gen(function* () {
      yield* clear
      yield* send({ outcome: "deferred", idempotency_key: "order-17", key_tag: TAG })
      const accepted = send({
        outcome: "sent",
        provider_message_id: "m-1",
        idempotency_key: "order-17",
        key_tag: TAG
      })
      yield* whileOpen(accepted, record("m-2", "delivered", { key_tag: TAG }))
      assert.deepStrictEqual(yield* messages, ["m-1 sent", "m-2 delivered"])
    })
  )

  it.effect("raise no alert again that is confirmed while its claim is released (A1)", () =>
    Effect.gen(function* () {
      yield* clear
      assert.deepStrictEqual(yield* alerts("bounced"), [true])
      assert.isTrue(yield* whileOpen(release, confirm))
      assert.deepStrictEqual(yield* alerts("complained"), [false])
    })
  )

  it.effect("release no alert that is just being confirmed (A1)", () =>
    Effect.gen(function* () {
      yield* clear
      yield* record("m-1", "bounced")
      assert.isFalse(yield* whileOpen(confirm, release))
      assert.deepStrictEqual(yield* alerts("complained"), [false])
    })
  )

  const due = [
    ["an alert", "select send_id from claim_due_email_alerts()"],
    ["a notice of an alarm", "select alarm from claim_email_alarm_notice()"]
  ] as const
  it.effect.each(due)("give %s that is due to one of two", ([, claim]) =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* record("m-1", "bounced")
      yield* sql`update email_alerts set due_at = now()`
      yield* sql`select change_email_alarm('failovers', false, 0, null, true, 1, null, 'begun', 'x')`
      assert.lengthOf(yield* whileOpen(sql.unsafe(claim), sql.unsafe(claim)), 0)
      assert.lengthOf(yield* sql`select from email_alerts where attempts > 2`, 0)
    })
  )

  const digest = (owner: string) =>
    WriteSql.use((sql) =>
      Effect.map(
        sql<{ readonly answer: string }>`select decision as answer from claim_audit_digest(
          ${SUBSCRIPTION}::uuid, 'daily', '2026-11-20', ${owner}, 60000, false, '{}')`,
        first
      )
    )
  it.effect("give a digest that failed to one of two, and none whose subscription just goes (EVENT-50)", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* sql`insert into audit_digest_subscriptions (id, email, cadence) values (${SUBSCRIPTION}::uuid, 'ann@x.test', 'daily')`
      assert.strictEqual(
        yield* whileOpen(sql`delete from audit_digest_subscriptions`, digest("one")),
        "Settled"
      )
      yield* sql`insert into audit_digest_subscriptions (id, email, cadence) values (${SUBSCRIPTION}::uuid, 'ann@x.test', 'daily')`
      assert.strictEqual(yield* digest("one"), "Claimed")
      assert.lengthOf(
        yield* sql`select from audit_digest_deliveries where lease_until <= clock_timestamp() + interval '1 minute'`,
        1
      )
      yield* sql`select settle_audit_digest(${SUBSCRIPTION}::uuid, 'daily', '2026-11-20', 'one', 'failed', true, 'e')`
      const locked = sql`select from audit_digest_deliveries for update`
      assert.strictEqual(yield* whileOpen(locked, digest("three"), digest("two")), "Busy")
    })
  )

  it.effect("are not taken for all that is known of a mail whose row is just being written (EVENT-14)", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* record("m-1", "bounced", { bounce_type: "Permanent", key_tag: TAG })
      yield* sql`update email_log set created_at = created_at - interval '11 minutes'`
      const written = send({
        outcome: "sent",
        provider_message_id: "m-1",
        key_tag: TAG,
        others: ["bob@x.test"]
      })
      yield* whileOpen(written, sql`select suppress_lost_email_rows()`)
      assert.deepStrictEqual(yield* sql`select email from email_suppressions`, [])
    })
  )

  it.effect("leave a row that somebody has to the next pruning (EVENT-64)", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* sql`insert into email_log (status, created_at, updated_at)
        values ('sent', now() - interval '40 days', now() - interval '40 days')`
      yield* sql`insert into email_stats_closed select (created_at at time zone 'UTC')::date from email_log`
      const prune = Effect.map(
        sql<{ readonly answer: number }>`select prune_email_log('30 days') as answer`,
        first
      )
      assert.strictEqual(yield* whileOpen(sql`select from email_log for update`, prune), 0)
      assert.strictEqual(yield* prune, 1)
    })
  )
})
