/** What a claim, or the rows of a key without one, still mean just within and just beyond their time, and in each state. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const clear = empty("email_send_claims, email_log, email_unclaimed_sends")

type Row = Readonly<Record<string, unknown>>

interface Kept {
  readonly state: string
  readonly leaving?: boolean
  readonly ambiguous?: boolean
  readonly owner?: string
  /** Of its first and last attempt, in hours. */
  readonly ages?: readonly [number, number]
  readonly result?: object | null
}

/** A claim whose lease is over. */
const claim = ({ ages = [1, 1], ambiguous = false, leaving = true, owner = "before", result, state }: Kept) =>
  WriteSql.use(
    (sql) => sql`insert into email_send_claims
      (key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag, result)
      values ('key', 'payload', ${state}, 'provider_a', ${ambiguous}, ${leaving}, ${owner}, now() - interval '1 minute',
        now() - make_interval(mins => ${ages[0] * 60}), now() - make_interval(mins => ${ages[1] * 60}), 'tag',
        nullif(${JSON.stringify(result === undefined ? (state === "held" ? null : { ok: false }) : result)}::text::jsonb, 'null'))`
  )

/** A row of the key, without a claim. */
const logged = (tag: string, hours: number, provider: string) =>
  WriteSql.use(
    (sql) => sql`insert into email_log (key_hash, key_tag, outcome, status, error_kind, provider, created_at)
      values ('key', ${tag}, 'failed', 'failed', 'rejected', ${provider}, now() - make_interval(mins => ${hours * 60}))`
  )

const begin = (known?: object) =>
  WriteSql.use((sql) =>
    sql.unsafe<Row>("select * from begin_email_sends($1::jsonb)", [
      JSON.stringify([
        {
          key_hash: "key",
          addresses: [],
          payload_hash: "payload",
          provider: "provider_b",
          owner: "now",
          lease_ms: 60_000,
          tag: "first",
          known
        }
      ])
    ])
  ).pipe(Effect.map(([row]) => row!))

const knows = (hours: number) => ({
  provider: "provider_b",
  tag: "known",
  ageMs: hours * 3_600_000,
  lastAgeMs: 3_600_000,
  isSettled: false
})

layer(layerPostgres)("a key in its time", (it) => {
  it.effect(
    "S1: is asked for until 24 hours after its first attempt, by a claim or by what a process knows",
    () =>
      Effect.gen(function* () {
        for (const [hours, late] of [
          [23.5, false],
          [24.5, true]
        ] as const) {
          yield* clear
          yield* claim({ state: "held", ages: [hours, 1] })
          assert.deepInclude(yield* begin(), { decision: "Claimed", sticky: "provider_a", late })
          yield* clear
          assert.deepInclude(yield* begin(knows(hours)), { decision: "Claimed", sticky: "provider_b", late })
          yield* clear
          yield* claim({ state: "refused" })
          assert.deepInclude(yield* begin(knows(hours)), { decision: "Claimed", sticky: "provider_b", late })
        }
      })
  )

  it.effect("S5: has its next use another tag 24 hours after its last attempt, and not before", () =>
    Effect.gen(function* () {
      for (const [hours, isSame] of [
        [23.5, true],
        [24.5, false]
      ] as const) {
        yield* clear
        yield* claim({ state: "refused", ages: [hours, hours] })
        assert.strictEqual((yield* begin())["tag"] === "tag", isSame)
        yield* clear
        yield* logged("tag", hours, "provider_a")
        assert.strictEqual((yield* begin())["tag"] === "tag", isSame)
      }
      yield* clear
      yield* logged("older", 3, "provider_a")
      yield* logged("newest", 1, "provider_b")
      yield* logged("old", 2, "provider_a")
      assert.deepInclude(yield* begin(), { decision: "Claimed", tag: "newest" })
    })
  )

  it.effect.each(["accepted", "deferred", "ambiguous", "ended"])(
    "S9: that is %s without that its holder asked anybody is no free key",
    (state) =>
      Effect.gen(function* () {
        yield* clear
        yield* claim({ state, leaving: false })
        const began = yield* begin()
        assert.isTrue(
          began["decision"] === "Replay" || began["sticky"] === "provider_a",
          JSON.stringify(began)
        )
      })
  )

  it.effect(
    "S3: is moved by the call that holds it and no other, in no other state, and in doubt to nobody else",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const moves = (kept: Kept, to: string, owner = "before") =>
          Effect.gen(function* () {
            yield* clear
            yield* claim({ result: null, ...kept })
            const [row] = yield* sql<{
              readonly moved: boolean
            }>`select move_email_claim('key', ${owner}, ${to}) as moved`
            return row?.moved
          })
        for (const state of ["held", "deferred", "refused", "ambiguous", "ended"])
          assert.strictEqual(yield* moves({ state }, "provider_b"), state === "held", state)
        assert.isFalse(yield* moves({ state: "held" }, "provider_b", "another"))
        assert.isTrue(yield* moves({ state: "held", ambiguous: true }, "provider_a"))
        assert.isFalse(yield* moves({ state: "held", ambiguous: true }, "provider_b"))
      })
  )

  it.effect("S3: that has been settled is leased to its holder no more, in whatever state that was", () =>
    Effect.gen(function* () {
      for (const state of ["accepted", "deferred", "ambiguous", "ended", "refused"]) {
        yield* clear
        yield* claim({ state, owner: "now", ages: [25, 1] })
        const sql = yield* WriteSql
        yield* sql`update email_send_claims set lease_until = null`
        const { decision, sticky } = yield* begin()
        assert.deepStrictEqual(
          { decision, sticky },
          { decision: state === "refused" ? "Claimed" : "Replay", sticky: null },
          state
        )
      }
    })
  )

  it.effect("MAIL-45: sends without a claim are counted for a day", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* sql`insert into email_unclaimed_sends (count, noted_at)
        values (1, now() - interval '23 hours'), (2, now() - interval '25 hours'), (4, now())`
      yield* sql`select note_unclaimed_email_sends(8)`
      const [row] = yield* sql`select sum(count)::int as n from email_unclaimed_sends`
      assert.deepStrictEqual(row, { n: 13 })
    })
  )
})
