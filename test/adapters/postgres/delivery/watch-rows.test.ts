/** What the rows of alarms, digests, reports and readiness hold beside what their ports show. */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const TAG = "t".repeat(64)
const SUBSCRIPTION = "00000000-0000-4000-8000-00000000000a"

suiteLayer(layerPostgres)("rows of what is watched", (it) => {
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
        ["new@x.test", "1 minute"],
        ["old@x.test", "1 hour"]
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
