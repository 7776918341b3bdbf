/** What the rows of events, alarms, digests and readiness hold beside what their ports show. */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const TAG = "t".repeat(64)
const SUBSCRIPTION = "00000000-0000-4000-8000-00000000000a"

const record = (message: string, event: string, entry: object = {}) =>
  WriteSql.use(
    (sql) =>
      sql`select status from record_email_events(${JSON.stringify([
        { provider: "provider_a", provider_message_id: message, event, recipients: ["ann@x.test"], ...entry }
      ])}::jsonb)`
  )
const clearLog = empty("email_log, email_events, email_send_claims, email_suppressions, erased_suppressions")
/** A row of the use of a key, so many minutes old. */
const attempt = (outcome: string, subject: string, minutes: number) =>
  WriteSql.use(
    (sql) => sql`insert into email_log (outcome, status, subject, key_tag, key_hash, created_at)
      values (${outcome}, ${outcome}, ${subject}, ${TAG}, 'k', now() - make_interval(mins => ${minutes}::int))`
  )

suiteLayer(layerPostgres)("rows of deliveries and of what is watched", (it) => {
  it.effect(
    "an event that names a use of a key is of its newest deferral, and of no attempt that ended",
    () =>
      Effect.gen(function* () {
        yield* clearLog
        const sql = yield* WriteSql
        yield* attempt("deferred", "older", 60)
        yield* attempt("deferred", "newer", 30)
        yield* attempt("failed", "failed", 1)
        yield* record("m-1", "delivered", { key_tag: TAG })
        assert.deepStrictEqual(
          yield* sql`select subject, status, provider_message_id as message from email_log order by created_at`,
          [
            { subject: "older", status: "deferred", message: null },
            { subject: "newer", status: "delivered", message: "m-1" },
            { subject: "failed", status: "failed", message: null }
          ]
        )
      })
  )

  it.effect.each([
    ["the only attempt failed", "failed", false],
    ["an attempt is under way", "deferred", true]
  ] as const)("an event that names a use of a key has a row of that key where %s", ([, outcome, underWay]) =>
    Effect.gen(function* () {
      yield* clearLog
      const sql = yield* WriteSql
      yield* attempt(outcome, "before", 30)
      if (underWay)
        yield* sql`insert into email_send_claims
            (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at, tag, lease_until)
          values ('k', 'p', 'held', 'provider_a', false, 'o', now(), ${TAG}, now() + interval '1 minute')`
      yield* record("m-1", "delivered", { key_tag: TAG })
      assert.deepStrictEqual(
        yield* sql`select status, key_hash as key from email_log where provider_message_id is not distinct from 'm-1'
          union all select status, key_hash from email_log where subject = 'before'`,
        [
          { status: "delivered", key: "k" },
          { status: outcome, key: "k" }
        ]
      )
    })
  )

  it.effect("events of several mails in one call are kept in the order in which they came (EVENT-15)", () =>
    Effect.gen(function* () {
      yield* clearLog
      const sql = yield* WriteSql
      const events = Array.from({ length: 60 }, (_, index) => ({
        provider: "provider_a",
        provider_message_id: `m-${(index * 7) % 5}`,
        event: "clicked",
        occurred_at: new Date(Date.UTC(2026, 10, 28) + index * 1000).toISOString()
      }))
      yield* sql`select from record_email_events(${JSON.stringify(events)}::jsonb)`
      assert.lengthOf(yield* sql`select from email_events where number <= 12`, 60)
      assert.deepStrictEqual(
        yield* sql`select one.occurred_at from email_events one join email_events other
          on other.send_id = one.send_id and other.number > one.number and other.occurred_at <= one.occurred_at`,
        []
      )
    })
  )

  it.effect(
    "a list that is older than what webhooks brought hides neither it nor what came before it (L3)",
    () =>
      Effect.gen(function* () {
        yield* clearLog
        const sql = yield* WriteSql
        const last = sql`select last_event as event, extract(hour from last_event_at at time zone 'UTC')::int as hour from email_log`
        yield* record("m-1", "opened", { occurred_at: "2026-11-28T10:00:00Z" })
        yield* record("m-1", "delivered", { occurred_at: "2026-11-28T08:00:00Z", listed: true })
        assert.deepStrictEqual(yield* last, [{ event: "opened", hour: 10 }])
        yield* record("m-1", "delivered", { occurred_at: "2026-11-28T09:00:00Z" })
        assert.deepStrictEqual(yield* last, [{ event: "opened", hour: 10 }])
      })
  )

  it.effect(
    "an erased person's mail that bounces suppresses the person, though its row names nobody any more (P3)",
    () =>
      Effect.gen(function* () {
        yield* clearLog
        const sql = yield* WriteSql
        yield* sql`insert into email_log (outcome, status, provider, provider_message_id, to_addresses, recipient_count)
        values ('sent', 'sent', 'provider_a', 'm-1', '{ann@x.test}', 1)`
        yield* sql`select erase_person('ann@x.test', 'test')`
        yield* record("m-1", "bounced", { bounce_type: "Permanent" })
        assert.deepStrictEqual(
          yield* sql`select suppression_marks = array['hard_bounce:' || erased_alias('ann@x.test')] as marked from email_log`,
          [{ marked: true }]
        )
      })
  )

  it.effect("an alarm is as it is since its last notice, whatever is measured between", () =>
    Effect.gen(function* () {
      yield* empty("email_alarms, email_alarm_notices")
      const sql = yield* WriteSql
      const state = sql`select since < now() - interval '30 minutes' as older, detail from email_alarms`
      yield* sql`select change_email_alarm('failovers', false, 0, null, true, 1, null, 'begun', 'many')`
      yield* sql`update email_alarms set since = now() - interval '1 hour'`
      yield* sql`select change_email_alarm('failovers', true, 1, null, true, 1, 1790000000000, null, 'fewer')`
      assert.deepStrictEqual(yield* state, [{ older: true, detail: "many" }])
      yield* sql`select change_email_alarm('failovers', true, 1, 1790000000000, false, 1, null, 'ended', 'none')`
      assert.deepStrictEqual(yield* state, [{ older: false, detail: "none" }])
    })
  )

  it.effect("a process that can write leaves one row, which goes with it a day later", () =>
    Effect.gen(function* () {
      yield* empty("readiness_checks, email_log, email_send_claims")
      const sql = yield* WriteSql
      yield* sql`insert into readiness_checks (process, written_at)
        select name, now() - age from (values ('me', interval '2 days'), ('gone', '25 hours'), ('here', '23 hours')) as x (name, age)`
      for (const process of ["me", "me", "new"]) yield* sql`select check_that_mail_can_be_written(${process})`
      assert.deepStrictEqual(
        yield* sql`select process, written_at > now() - interval '1 hour' as now from readiness_checks order by process`,
        [
          { process: "here", now: false },
          { process: "me", now: true },
          { process: "new", now: true }
        ]
      )
      assert.lengthOf(yield* sql`select from email_log union all select from email_send_claims`, 0)
    })
  )

  it.effect("a patient run waits for six hours at most (EVENT-50)", () =>
    Effect.gen(function* () {
      yield* empty("audit_digest_subscriptions")
      const sql = yield* WriteSql
      yield* sql`insert into audit_digest_subscriptions (id, email, cadence) values (${SUBSCRIPTION}::uuid, 'ann@x.test', 'daily')`
      const claim = sql`select decision from claim_audit_digest(
        ${SUBSCRIPTION}::uuid, 'daily', '2026-11-20', 'one', 60000, true, '{}')`
      const failed = (ago: string) =>
        sql`update audit_digest_deliveries set state = 'failed', attempts = 20, updated_at = now() - ${ago}::interval`
      assert.deepStrictEqual(yield* claim, [{ decision: "Claimed" }])
      yield* failed("350 minutes")
      assert.deepStrictEqual(yield* claim, [{ decision: "Waiting" }])
      yield* failed("361 minutes")
      assert.deepStrictEqual(yield* claim, [{ decision: "Claimed" }])
    })
  )

  it.effect("a report is about the newest deferral of its use (RETURN-3)", () =>
    Effect.gen(function* () {
      yield* empty("email_log, email_send_claims")
      const sql = yield* WriteSql
      for (const [to, age] of [
        ["old@x.test", "1 hour"],
        ["new@x.test", "1 minute"]
      ] as const)
        yield* sql`insert into email_log (outcome, status, key_tag, key_hash, to_addresses, created_at)
          values ('deferred', 'deferred', ${TAG}, 'k', ${[to]}, now() - ${age}::interval)`
      assert.deepStrictEqual(
        yield* sql`select * from mail_of_report('m-1', ${TAG}, '{old@x.test,new@x.test}')`,
        [{ known: true, recipients: ["new@x.test"] }]
      )
    })
  )

  it.effect("a mail has ten minutes until its row counts as lost (EVENT-14)", () =>
    Effect.gen(function* () {
      yield* empty("email_log, email_suppressions")
      const sql = yield* WriteSql
      yield* sql`insert into email_log (status, provider, provider_message_id, to_addresses, suppression_marks)
        values ('bounced', 'provider_a', 'm-1', '{ann@x.test}', '{hard_bounce:}')`
      const lost = (age: string) =>
        Effect.gen(function* () {
          yield* sql`update email_log set created_at = now() - ${age}::interval`
          yield* sql`select suppress_lost_email_rows()`
          return (yield* sql`select from email_suppressions`).length
        })
      assert.strictEqual(yield* lost("9 minutes 30 seconds"), 0)
      assert.strictEqual(yield* lost("11 minutes"), 1)
    })
  )
})
