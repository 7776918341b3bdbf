import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/delivery/audit-digest-store.ts"
import type { CustomerId } from "../../../../src/domain/ids.ts"
import { AuditDigestStore } from "../../../../src/ports/delivery/audit-digest-store.ts"
import { DAILY, period, subscriptions, suite } from "../../../contracts/delivery/audit-digest-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const iso = (at: number) => new Date(at).toISOString()

const subscribe = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* WriteSql
    for (const { cadence, createdAt, email, id } of subscriptions) {
      yield* sql`insert into audit_digest_subscriptions ${sql.insert({ id, email, cadence, created_at: iso(createdAt) })}`
    }
    yield* sql`insert into audit_digest_subscriptions (email, cadence, active, created_at)
      values ('off@x.test', 'daily', false, '2026-01-01')`
  })
)
const layerStore = Layer.merge(layer, subscribe).pipe(Layer.provideMerge(layerPostgres), Layer.orDie)

suite("PostgreSQL", Layer.fresh(layerStore))

const HOUR = 3_600_000
const request = {
  to: "a@x.test",
  subject: "s",
  text: "t",
  category: "notification",
  source: "api:x"
} as const

describe("digests on PostgreSQL", () => {
  it.live("gives up an attempt without an end once the relay has forgotten its key", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const store = yield* AuditDigestStore
      const claim = (owner: CustomerId, patient: boolean) =>
        store.claim({ subscriptionId: DAILY, period, owner, leaseMs: 0, patient, request })
      const age = (column: "uncertain_since" | "claimed_at" | "updated_at", by: string) =>
        sql`update audit_digest_deliveries set ${sql(column)} = ${sql(column)} - ${by}::interval`
      yield* claim(anyId("dead"), false)
      yield* age("claimed_at", "23 hours 59 minutes")
      assert.strictEqual((yield* claim(anyId("next"), false))._tag, "Claimed")
      yield* age("uncertain_since", "2 minutes")
      assert.strictEqual((yield* claim(anyId("by hand"), false))._tag, "Unknown")
      assert.strictEqual((yield* claim(anyId("by itself"), true))._tag, "Waiting")
    }).pipe(Effect.provide(Layer.fresh(layerStore)))
  )

  it.live("a patient run comes again when the wait is over", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const store = yield* AuditDigestStore
      const claim = (owner: CustomerId) =>
        store.claim({ subscriptionId: DAILY, period, owner, leaseMs: 60_000, patient: true, request })
      const end = { state: "failed", certain: true, error: "e" } as const
      yield* claim(anyId("one"))
      yield* store.settle({ subscriptionId: DAILY, period, owner: "one", end })
      yield* sql`update audit_digest_deliveries set updated_at = updated_at - interval '1 minute'`
      assert.strictEqual((yield* claim(anyId("two")))._tag, "Waiting")
      yield* sql`update audit_digest_deliveries set updated_at = updated_at - interval '1 minute'`
      assert.strictEqual((yield* claim(anyId("three")))._tag, "Claimed")
    }).pipe(Effect.provide(Layer.fresh(layerStore)))
  )

  it.live("leaves out customers whose account is deleted", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const store = yield* AuditDigestStore
      yield* sql`insert into customers (id, email, deleted_at) values
        (${DAILY}::uuid, 'gone@x.test', now()), ('00000000-0000-4000-8000-0000000000ff', 'here@x.test', null)`
      yield* sql`insert into audit_digest_subscriptions (email, cadence, customer_id) values
        ('gone@x.test', 'weekly', ${DAILY}::uuid), ('here@x.test', 'weekly', '00000000-0000-4000-8000-0000000000ff')`
      const rows = yield* store.pending({
        period: { ...period, cadence: "weekly" },
        after: undefined,
        limit: 9,
        createdBefore: undefined
      })
      assert.deepStrictEqual(rows.map(({ email }) => email).sort(), ["c@x.test", "here@x.test"])
    }).pipe(Effect.provide(Layer.fresh(layerStore)))
  )

  it.live(
    "counts what was sent in the period, and failures where they happened; a customer sees his own",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const store = yield* AuditDigestStore
        const mail = (status: string, created: number, happened: number | undefined, to: string) =>
          sql`insert into email_log ${sql.insert({
            status,
            created_at: iso(created),
            last_event_at: happened === undefined ? null : iso(happened),
            to_addresses: [to],
            error: status === "bounced" ? "no such user" : null,
            source: "api:contact"
          })}`
        const { from, to } = period
        yield* mail("sent", from, undefined, "a@x.test")
        yield* mail("delivered", from, from + HOUR, "a@x.test")
        yield* mail("clicked", to - 1, to + HOUR, "b@x.test")
        yield* mail("deferred", from, undefined, "b@x.test")
        yield* mail("failed", from + HOUR, undefined, "a@x.test")
        yield* mail("bounced", from - 20 * HOUR, from + 2 * HOUR, "b@x.test")
        yield* mail("complained", from - 20 * HOUR, from - 19 * HOUR, "b@x.test")
        yield* mail("bounced", to - 1, to, "b@x.test")
        yield* mail("sent", from - 1, undefined, "a@x.test")
        yield* mail("sent", to, undefined, "a@x.test")
        yield* sql`insert into admin_audit_log (action, actor, target, details, created_at) values
        ('email_unsuppress', 'admin', 'q@x.test', '{}', ${iso(from + 3 * HOUR)}),
        ('refund', 'admin', null, jsonb_build_object('customer_id', ${DAILY}::text), ${iso(from + 4 * HOUR)}),
        ('email_unsuppress', 'admin', 'late@x.test', '{}', ${iso(to)})`
        const whole = yield* store.activity({ period, customer: undefined, limit: 3 })
        assert.deepStrictEqual(whole.counts, {
          sent: 4,
          delivered: 2,
          bounced: 1,
          complained: 0,
          failed: 1,
          suppressed: 0
        })
        assert.strictEqual(whole.total, 4)
        assert.deepStrictEqual(whole.entries, [
          { _tag: "Admin", at: from + 4 * HOUR, actor: "admin", action: "refund", target: null },
          {
            _tag: "Admin",
            at: from + 3 * HOUR,
            actor: "admin",
            action: "email_unsuppress",
            target: "q@x.test"
          },
          {
            _tag: "Mail",
            at: from + 2 * HOUR,
            source: "api:contact",
            status: "bounced",
            recipients: ["b@x.test"],
            error: "no such user"
          }
        ])
        const own = yield* store.activity({
          period,
          customer: { id: anyId(DAILY), email: "A@x.test" },
          limit: 9
        })
        assert.deepStrictEqual(own.counts, { ...whole.counts, sent: 2, delivered: 1, bounced: 0 })
        assert.deepStrictEqual(
          own.entries.map((entry) => (entry._tag === "Admin" ? entry.action : entry.status)),
          ["refund", "failed"]
        )
      }).pipe(Effect.provide(Layer.fresh(layerStore)))
  )
})
