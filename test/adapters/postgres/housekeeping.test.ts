import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { runHousekeeping } from "../../../src/adapters/postgres/housekeeping.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"

describe("housekeeping", () => {
  it.live("forgets all keys whose last attempt is 24 hours ago, however many, and no other", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`insert into email_send_claims
          (key_hash, payload_hash, state, provider, ambiguous, owner, lease_until, first_attempt_at, last_attempt_at)
        select n::text, 'p', 'accepted', 'provider_a', false, 'o',
          case when n = 2 then now() + interval '1 minute' end,
          now() - case when n = 1 then interval '23 hours' else interval '25 hours' end,
          now() - case when n <= 3 then interval '23 hours' else interval '24 hours 1 minute' end
        from generate_series(1, 25003) as n`
      yield* runHousekeeping
      const left = yield* sql`select key_hash from email_send_claims order by key_hash`
      assert.deepStrictEqual(left, [{ key_hash: "1" }, { key_hash: "2" }, { key_hash: "3" }])
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("keeps the key of a process that died in a send for 90 days", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const at = (days: number) => sql`now() - make_interval(days => ${days})`
      for (const [key, days, leaving] of [
        ["dead", 89, true],
        ["forgotten", 91, true],
        ["asked nobody", 2, false]
      ] as const)
        yield* sql`insert into email_send_claims
            (key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at)
          values (${key}, 'p', 'held', 'provider_a', false, ${leaving}, 'o', ${at(days)}, ${at(days)}, ${at(days)})`
      yield* runHousekeeping
      assert.deepStrictEqual(yield* sql`select key_hash from email_send_claims`, [{ key_hash: "dead" }])
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("forgets requests of the send queue 30 days after their end", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`insert into email_send_queue
          (idempotency_key, key_hash, request_hash, category, lane, send_at, state, ended_at)
        select n::text, n::text, 'r', 'auth', 1, now(), 'sent', now() - make_interval(days => n) from generate_series(28, 32) as n`
      yield* sql`select enqueue_email(${JSON.stringify({ to: "a@x.test", subject: "s", text: "t", category: "auth", source: "api:test" })}::jsonb)`
      yield* sql`update email_send_queue set send_at = now() - interval '40 days', created_at = now() - interval '40 days' where ended_at is null`
      yield* runHousekeeping
      const left =
        yield* sql`select key_hash from email_send_queue where ended_at is not null order by key_hash`
      assert.deepStrictEqual(left, [{ key_hash: "28" }, { key_hash: "29" }])
      assert.lengthOf(yield* sql`select from email_send_queue where ended_at is null`, 1)
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("EVENT-14: suppresses by events of mails whose row was lost, of one recipient and no other", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const event = (messageId: string, kind: string, recipients: ReadonlyArray<string>) =>
        Effect.asVoid(
          sql`select send_id from record_email_event('provider_a', ${messageId}, ${kind}, p_recipients => ${recipients}::text[],
            p_key_tag => ${`tag of ${messageId}`}, p_bounce_type => ${kind === "bounced" ? "Permanent" : null})`
        )
      yield* event("lost", "bounced", ["a@x.test"])
      yield* event("lost", "complained", ["a@x.test"])
      yield* event("two", "bounced", ["b@x.test", "c@x.test"])
      yield* event("fresh", "bounced", ["d@x.test"])
      const old = sql`update email_log set created_at = now() - interval '11 minutes' where provider_message_id <> 'fresh'`
      yield* old
      const listed = sql`select email, reason from email_suppressions order by email, reason`
      assert.deepStrictEqual(yield* listed, [])
      for (let times = 0; times < 2; times += 1) {
        yield* runHousekeeping
        assert.deepStrictEqual(yield* listed, [
          { email: "a@x.test", reason: "complaint" },
          { email: "a@x.test", reason: "hard_bounce" }
        ])
      }
      // Taken off the list by hand: the same event, repeated, puts nobody back.
      yield* sql`delete from email_suppressions`
      yield* event("lost", "bounced", ["a@x.test"])
      yield* old
      yield* runHousekeeping
      assert.deepStrictEqual(yield* listed, [])
    }).pipe(Effect.provide(layerPostgres))
  )
})
