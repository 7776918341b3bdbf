/** What an erasure leaves of queues that somebody else is just working off, and what of them it leaves alone (P3, MAIL-66). */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import { enqueue, MAIL } from "../send-queue/rows.ts"

const clear = empty(
  "email_defer_queue, email_send_queue, email_send_claims, email_log, email_suppressions, erased_suppressions, admin_audit_log"
)

type Row = Readonly<Record<string, unknown>>

const GONE = "gone@x.test"
const HASH = "a".repeat(64)

const erase = WriteSql.use((sql) => sql<Row>`select erase_person(${GONE}, 'admin') as found`).pipe(
  Effect.map(([row]) => row?.["found"])
)

/** A retry that waits, for the person alone; `held`: its consumer has it for so many minutes more. */
const waiting = (key: string, held?: number) =>
  WriteSql.use((sql) => {
    const element = JSON.stringify({
      rowId: crypto.randomUUID(),
      firstAttemptAt: Date.now(),
      request: { provider: "provider_a" },
      failedOver: false,
      details: {
        category: "transactional",
        source: "test",
        from: "n@x.test",
        to: [GONE],
        others: [],
        subject: "s",
        idempotencyKey: key,
        keyHash: key,
        keyTag: `tag-${key}`
      }
    })
    return sql`insert into email_defer_queue (id, queue_name, element, state, visible_at, created_at, updated_at, acquired_by)
      values (${key}, 'q', ${element}, 'pending', now() + make_interval(mins => ${held ?? 60}), now(), now(),
        ${held === undefined ? null : crypto.randomUUID()}::uuid)`
  })

const waits = WriteSql.use((sql) => sql<Row>`select id, element from email_defer_queue order by sequence`)
const logged = WriteSql.use((sql) => sql<Row>`select status from email_log order by created_at`)

layer(layerPostgres)("an erased person", (it) => {
  it.effect("keeps a retry that is under way, for as long as its consumer has it", () =>
    Effect.gen(function* () {
      yield* clear
      yield* waiting("under way", 5)
      yield* waiting("dropped", -5)
      yield* waiting("waits")
      assert.isTrue(yield* erase)
      assert.deepStrictEqual(
        (yield* waits).map(({ id }) => id),
        ["under way"]
      )
      assert.deepStrictEqual(yield* logged, [{ status: "suppressed" }, { status: "suppressed" }])
    })
  )

  it.effect(
    "has no retry ended that has just ended by itself: its message goes, and the log says nothing more",
    () =>
      Effect.gen(function* () {
        yield* clear
        yield* waiting("ends")
        const sql = yield* WriteSql
        yield* whileOpen(sql`update email_defer_queue set state = 'completed'`, erase)
        assert.deepStrictEqual(yield* waits, [{ id: "ends", element: "{}" }])
        assert.deepStrictEqual(yield* logged, [])
      })
  )

  it.effect("loses their address in a request that has just ended, and nothing else of it changes", () =>
    Effect.gen(function* () {
      yield* clear
      yield* enqueue({ ...MAIL, to: [GONE, "b@x.test"] })
      const sql = yield* WriteSql
      const ends = sql`update email_send_queue set state = 'sent', due_at = null, request = null, ended_at = now(),
        result = ${JSON.stringify({ suppressedRecipients: [GONE] })}::text::jsonb`
      assert.isTrue(yield* whileOpen(ends, erase))
      const [row] =
        yield* sql`select state, request, position(${GONE} in q::text) as at from email_send_queue q`
      assert.deepStrictEqual(row, { state: "sent", request: null, at: 0 })
    })
  )

  it.effect(
    "is not found in a request that only speaks of them; one of theirs keeps no error that quotes them",
    () =>
      Effect.gen(function* () {
        yield* clear
        yield* enqueue({ ...MAIL, text: `Write to ${GONE}` })
        assert.isFalse(yield* erase)
        const [id = ""] = yield* enqueue({ ...MAIL, to: GONE })
        const sql = yield* WriteSql
        yield* sql`update email_send_queue set error = ${`${GONE} is greylisted`} where id = ${id}::uuid`
        assert.isTrue(yield* erase)
        const [row] = yield* sql`select state, error from email_send_queue where id = ${id}::uuid`
        assert.deepStrictEqual(row, { state: "cancelled", error: "the person was erased" })
      })
  )

  it.effect("is known by the rows of the key's present use, or by the audit of a day where it has none", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const erased = sql`select email_erased_of(${HASH}, ${[GONE, "b@x.test"]}) as gone`
      const row = (
        hours: number
      ) => sql`insert into email_log (key_hash, outcome, status, to_addresses, created_at)
        values (${HASH}, 'deferred', 'deferred', array[erased_alias(${GONE})], now() - make_interval(hours => ${hours}))`
      const audit = (minutes: number) => sql`insert into admin_audit_log (action, actor, target, created_at)
        values ('person_erased', 'admin', erased_alias(${GONE}), now() - make_interval(mins => ${minutes}))`
      const claim = sql`insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at)
        values (${HASH}, 'p', 'held', 'provider_a', false, 'o', now() - interval '2 hours')`
      for (const [happens, gone] of [
        [[], []],
        [[claim, row(1)], [GONE]],
        // Their mail of an earlier use says nothing of this one.
        [[claim, row(3)], []],
        [[audit(23.5 * 60)], [GONE]],
        [[audit(24.5 * 60)], []]
      ] as const) {
        yield* clear
        yield* Effect.all(happens)
        assert.deepStrictEqual(yield* erased, [{ gone }])
      }
    })
  )

  // Each waits for the first one; had it locked another one before, the holder of the first would wait for it in turn.
  it.effect("has requests and retries locked in the order of their ids and places", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const ids = yield* enqueue(...Array.from({ length: 10 }, () => ({ ...MAIL, to: [GONE, "b@x.test"] })))
      const [first = "", ...others] = ids.toSorted()
      const request = (some: ReadonlyArray<string>) =>
        sql`update email_send_queue set deaths = deaths where id = any(${some}::uuid[])`
      assert.isTrue(yield* whileOpen(request([first]), erase, request(others)))
      for (const key of ["1", "2", "3"]) yield* waiting(key)
      const retry = (...keys: ReadonlyArray<string>) =>
        sql`update email_defer_queue set attempts = attempts where id = any(${keys})`
      // The table holds it behind the others from now on.
      yield* retry("1")
      assert.isTrue(yield* whileOpen(retry("1"), erase, retry("2", "3")))
    })
  )

  it.effect("or a bounced one is suppressed in one order, by the hash or the address", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const many = Array.from({ length: 20 }, (_, at) => `p${String(at).padStart(2, "0")}@x.test`)
      const hashed = (
        some: ReadonlyArray<string>
      ) => sql`insert into erased_suppressions (address_hash, reason)
        select decode(x, 'hex'), 'complaint' from unnest(${some}::text[]) as x`
      const plain = (some: ReadonlyArray<string>) => sql`insert into email_suppressions (email, reason)
        select x, 'complaint' from unnest(${some}::text[]) as x`
      const hashes = many.map((_, at) => String(at).padStart(2, "0").repeat(32))
      const add = (names: ReadonlyArray<string>) =>
        sql`select add_email_suppressions(${names.map((name) => `complaint:${name}`)}::text[], 'n')`
      const twice = (names: ReadonlyArray<string>) => [...names, ...names].toReversed()
      yield* whileOpen(
        hashed(hashes.slice(0, 1)),
        add(twice(hashes.map((hash) => `erased:${hash}`))),
        hashed(hashes.slice(1))
      )
      yield* whileOpen(plain(many.slice(0, 1)), add(twice(many)), plain(many.slice(1)))
      const [row] = yield* sql`select (select count(*)::int from erased_suppressions) as hashed,
        (select count(*)::int from email_suppressions) as plain`
      assert.deepStrictEqual(row, { hashed: 20, plain: 20 })
    })
  )
})
