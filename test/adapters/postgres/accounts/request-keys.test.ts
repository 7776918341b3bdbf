import { assert, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Latch, Layer } from "effect"

import * as RequestKeys from "../../../../src/adapters/postgres/accounts/request-keys.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { runHousekeeping } from "../../../../src/adapters/postgres/housekeeping.ts"
import type { CustomerId } from "../../../../src/domain/ids.ts"
import { RequestKeys as Keys } from "../../../../src/ports/accounts/request-keys.ts"
import { suite } from "../../../contracts/accounts/request-keys.ts"
import { customer } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"

const stores = Layer.provideMerge(RequestKeys.layer, postgres)
const window = Duration.minutes(1)
const age = (hours: number) =>
  WriteSql.use(
    (sql) => sql`update request_keys set created_at = created_at - make_interval(hours => ${hours})`
  )

suite("PostgreSQL", stores, Effect.asVoid(age(24)))

it.live("of attempts at the same moment one holds the key, also while it is given back", () =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const sql = yield* WriteSql
    const request = { customerId: yield* customer(1), keyHash: anyId(), requestHash: "r" }
    const begin = Effect.suspend(() => {
      const attempt = { ...request, callId: anyId(), lease: anyId(), window }
      return Effect.map(keys.hold(attempt), (found) => ({ attempt, found }))
    })
    for (let round = 0; round < 20; round += 1) {
      const all = yield* Effect.all(
        Array.from({ length: 8 }, () => begin),
        { concurrency: "unbounded" }
      )
      const held = all.filter(({ found }) => found.state === "held")
      assert.lengthOf(held, 1)
      assert.lengthOf(
        all.filter(({ found }) => found.state === "busy"),
        7
      )
      const [{ attempt }] = held as [(typeof held)[number]]
      const [, next] = yield* Effect.all([keys.giveBack(attempt, true), begin], { concurrency: 2 })
      if (next.found.state === "held") yield* keys.giveBack(next.attempt, true)
      assert.deepStrictEqual(
        yield* sql`select from request_keys where customer_id = ${request.customerId}::uuid`,
        []
      )
    }
  }).pipe(Effect.provide(stores))
)

it.live("of attempts that find a dead one at the same moment, one goes on", () =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const request = { customerId: yield* customer(1), keyHash: anyId(), requestHash: "r", callId: anyId() }
    yield* keys.hold({ ...request, lease: anyId(), window: Duration.zero })
    const sql = yield* WriteSql
    const next = Effect.suspend(() => keys.hold({ ...request, lease: anyId(), window }))
    const held = yield* Latch.make(false)
    const both = yield* Effect.forkChild(
      Effect.andThen(held.await, Effect.all([next, next], { concurrency: 2 }))
    )
    // Both have come to the key before either of them has it.
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`select from request_keys where key_hash = ${request.keyHash} for update`
        yield* held.open
        yield* sql<{ readonly n: number }>`select count(*)::integer as n
          from pg_stat_clear_snapshot(), pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.pipe(
          Effect.repeat({ until: ([row]) => row?.n === 2 })
        )
      })
    )
    const states = (yield* Fiber.join(both)).map(({ state }) => state)
    assert.deepStrictEqual(states.toSorted(), ["busy", "held"])
  }).pipe(Effect.provide(stores))
)

it.live("HTTP-16: a key is the same until 24 hours are over", () =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const sql = yield* WriteSql
    const request = { customerId: yield* customer(1), keyHash: anyId(), requestHash: "r", callId: anyId() }
    const attempt = { ...request, lease: anyId(), window }
    yield* keys.hold(attempt)
    yield* keys.answer(attempt, "first")
    const again = { ...attempt, lease: anyId() }
    yield* sql`update request_keys set created_at = clock_timestamp() - interval '23 hours 59 minutes'`
    assert.strictEqual((yield* keys.hold(again)).state, "answered")
    yield* sql`update request_keys set created_at = clock_timestamp() - interval '24 hours'`
    assert.strictEqual((yield* keys.hold(again)).state, "held")
  }).pipe(Effect.provide(stores))
)

it.live("an erased person is in no answer that is kept, and no other answer is changed", () =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const sql = yield* WriteSql
    const answered = Effect.fnUntraced(function* (customerId: CustomerId, answer: object) {
      const attempt = {
        customerId,
        keyHash: anyId(),
        requestHash: "r",
        callId: anyId(),
        lease: anyId(),
        window
      }
      yield* keys.hold(attempt)
      yield* keys.answer(attempt, answer)
      return sql`select answer from request_keys where key_hash = ${attempt.keyHash}`
    })
    const [owner, other] = [yield* customer(1), yield* customer(1)]
    const own = yield* answered(owner, { file: { name: "secret" } })
    const share = yield* answered(other, { recipients: 0, unsentRecipients: ["Ann@x.test", "joann@x.test"] })
    const file = yield* answered(other, { file: { name: "ann@x.test.pdf" } })
    yield* sql`select erase_request_keys('ann@x.test', ${owner}::uuid)`
    assert.deepStrictEqual(
      [yield* own, yield* share, yield* file],
      [
        [],
        [{ answer: { recipients: 0, unsentRecipients: ["joann@x.test"] } }],
        [{ answer: { file: { name: "ann@x.test.pdf" } } }]
      ]
    )
  }).pipe(Effect.provide(stores))
)

it.live("HTTP-16: housekeeping forgets keys of calls after 24 hours, and no other", () =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const sql = yield* WriteSql
    yield* sql`delete from request_keys`
    const customerId = yield* customer(1)
    const left = sql`select key_hash from request_keys order by key_hash`
    const hold = (keyHash: string) =>
      keys.hold({
        customerId,
        keyHash: anyId(keyHash),
        requestHash: "r",
        callId: anyId(),
        lease: anyId(),
        window
      })
    yield* hold("old")
    yield* sql`update request_keys set held_until = now()`
    yield* age(25)
    yield* hold("new")
    yield* runHousekeeping
    assert.lengthOf(yield* left, 1)
  }).pipe(Effect.provide(stores))
)
