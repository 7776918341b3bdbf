/** What senders, callers and admins make of a request of the queue that another one is just writing: locks, and their order. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import { call, claimOf, clear, enqueue, heldOf, lapse, MAIL, stored, take, type Taken } from "./rows.ts"

const passOn = Effect.andThen(lapse, take())

const sole = (rows: ReadonlyArray<Taken>): Taken => {
  assert.lengthOf(rows, 1)
  return rows[0]!
}

const taken = Effect.gen(function* () {
  yield* clear
  yield* enqueue(MAIL)
  return sole(yield* take())
})

/** A request whose key a direct send is using. */
const heldByDirectSend = Effect.gen(function* () {
  yield* clear
  const [id = ""] = yield* enqueue({ ...MAIL, idempotencyKey: "order" })
  const claim = claimOf({ id, lease: "direct", idempotency_key: "order" })
  yield* call("begin_email_sends", [{ ...claim, owner: "direct" }])
  return id
})

/** Twenty requests, taken, in an order that is not that of their ids. */
const twenty = Effect.gen(function* () {
  yield* clear
  yield* enqueue(...Array.from({ length: 20 }, (_, at) => ({ ...MAIL, subject: `${at}` })))
  const all = (yield* take()).toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const [first, ...others] = all.map(({ id }) => id)
  return { all, backwards: all.toReversed(), first: first!, others }
})

const lockRequests = (...ids: ReadonlyArray<string>) =>
  WriteSql.use((sql) => sql`update email_send_queue set deaths = deaths where id = any(${ids}::uuid[])`)

layer(layerPostgres)("requests of the queue that meet", (it) => {
  it.effect(
    "Q1: pass on while their sender begins them: the answer is that they are in progress elsewhere",
    () =>
      Effect.gen(function* () {
        const one = yield* taken
        const began = yield* whileOpen(passOn, call("begin_queued_emails", [claimOf(one)]))
        assert.deepStrictEqual(
          began.map(({ decision }) => decision),
          ["InProgress"]
        )
        assert.lengthOf(yield* stored("email_send_claims"), 0)
      })
  )

  it.effect("Q1: pass on before, or while, their sender begins a retry: it is busy elsewhere", () =>
    Effect.gen(function* () {
      const one = yield* taken
      const retry = {
        ...heldOf(one),
        key_hash: one.id,
        tag: "t",
        first_attempt_at: null,
        age_ms: 0,
        provider: "provider_a",
        row_id: one.id,
        addresses: [],
        owner: one.lease,
        lease_ms: 60_000
      }
      const sql = yield* WriteSql
      const begin = sql`select decision from begin_queued_retry(${JSON.stringify(retry)}::jsonb)`
      assert.deepStrictEqual(yield* whileOpen(passOn, begin), [{ decision: "Busy" }])
      assert.deepStrictEqual(yield* begin, [{ decision: "Busy" }])
      assert.lengthOf(yield* stored("email_send_claims"), 0)
    })
  )

  it.effect("Q1: pass on while their sender ends them: nothing is written", () =>
    Effect.gen(function* () {
      const one = yield* taken
      const sql = yield* WriteSql
      const end = JSON.stringify([{ ...heldOf(one), state: "failed", attempts: 1, error: "e", result: {} }])
      const ended = yield* whileOpen(
        passOn,
        sql`select held from end_queued_emails(${end}::jsonb, '[]'::jsonb)`
      )
      assert.deepStrictEqual(ended, [{ held: false }])
      assert.deepInclude((yield* stored("email_send_queue"))[0], { state: "sending", error: null })
    })
  )

  it.effect("Q1: are taken by two senders at once, each by one of them, and none waits", () =>
    Effect.gen(function* () {
      yield* clear
      yield* enqueue(...Array.from({ length: 8 }, (_, at) => ({ ...MAIL, subject: `${at}` })))
      const sql = yield* WriteSql
      // Two of each pick are the oldest of all, two those of their category.
      const pick = sql<{ readonly ids: ReadonlyArray<string> }>`
        select pick_queued_emails(array[''], array[3]::smallint[], 4, 2, clock_timestamp()) as ids`
      let first: ReadonlyArray<string> = []
      const [second] = yield* whileOpen(
        Effect.tap(pick, ([row]) =>
          Effect.sync(() => {
            first = row!.ids
          })
        ),
        pick
      )
      assert.strictEqual(new Set([...first, ...second!.ids]).size, 8)
    })
  )

  it.effect("FRONT-8: one that is just being taken is not moved to another time", () =>
    Effect.gen(function* () {
      yield* clear
      const [id = ""] = yield* enqueue(MAIL)
      const sql = yield* WriteSql
      const moved = yield* whileOpen(
        take(),
        sql`select reschedule_queued_email(${id}::uuid, to_char(now() + interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as state`
      )
      assert.deepStrictEqual(moved, [{ state: "sending" }])
      const due = yield* sql`select due_at < now() + interval '1 hour' as soon from email_send_queue`
      assert.deepStrictEqual(due, [{ soon: true }])
    })
  )

  it.effect("QUEUE-6: one whose key a direct send is just ending is cancelled by how that ends", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const id = yield* heldByDirectSend
      const refused = sql`update email_send_claims set state = 'refused', lease_until = null`
      const cancelled = yield* whileOpen(refused, sql`select cancel_email(${id}::uuid) as state`)
      assert.deepStrictEqual(cancelled, [{ state: "cancelled" }])
    })
  )

  it.effect(
    "Q2: a refused cancel in a transaction that stays open does not keep the direct send from its end",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const id = yield* heldByDirectSend
        const ended = yield* whileOpen(
          sql`select cancel_email(${id}::uuid) as state`,
          sql`select state from email_send_claims for update nowait`
        )
        assert.deepStrictEqual(ended, [{ state: "held" }])
      })
  )

  it.effect("QUEUE-8: one that two admins cancel at once is written down once", () =>
    Effect.gen(function* () {
      yield* clear
      const [id = ""] = yield* enqueue(MAIL)
      const sql = yield* WriteSql
      const cancel = (who: string) => sql`select cancel_queued_email(${id}::uuid, ${who}) as state`
      assert.deepStrictEqual(yield* whileOpen(cancel("ann"), cancel("bob")), [{ state: "cancelled" }])
      assert.deepStrictEqual(
        (yield* stored("admin_audit_log")).map(({ actor }) => actor),
        ["ann"]
      )
    })
  )

  it.effect("QUEUE-5: one token goes to one of two that ask for it at once", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* sql`insert into email_pace (provider, free_at, reserved_at) values ('provider_a', now(), now())`
      // A quarter of an hour lies between two tokens.
      const token = sql`select take_email_token('provider_a', 0.001, 0, 0.001) as taken`
      assert.deepStrictEqual(yield* whileOpen(token, token), [{ taken: false }])
    })
  )

  // Each waits for the first one; had it locked another one before, the holder of the first would wait for it in turn.
  const orders = [
    ["begun", (all: ReadonlyArray<Taken>) => call("begin_queued_emails", all.map(claimOf))],
    [
      "prolonged",
      (all: ReadonlyArray<Taken>) =>
        WriteSql.use(
          (sql) =>
            sql`select renew_queued_emails(${JSON.stringify(all.map(heldOf))}::jsonb, interval '1 minute') as id`
        )
    ]
  ] as const
  it.effect.each(orders)("are locked in the order of their ids where they are %s together", ([, many]) =>
    Effect.gen(function* () {
      const { backwards, first, others } = yield* twenty
      const done = yield* whileOpen(lockRequests(first), many(backwards), lockRequests(...others))
      assert.lengthOf(done, 20)
    })
  )

  it.effect("have their claims locked in the order of their keys where they are prolonged together", () =>
    Effect.gen(function* () {
      const { backwards } = yield* twenty
      const sql = yield* WriteSql
      const claims = backwards.map(claimOf).toSorted((one, other) => (one.key_hash < other.key_hash ? 1 : -1))
      // Each by itself: the table holds them in another order than that of their keys.
      for (const claim of claims) yield* call("begin_queued_emails", [claim])
      const keys = claims.map(({ key_hash }) => key_hash).toReversed()
      const lock = (some: ReadonlyArray<string>) =>
        sql`update email_send_claims set updated_at = now() where key_hash = any(${some})`
      const held = yield* whileOpen(
        lock(keys.slice(0, 1)),
        sql`select renew_queued_emails(${JSON.stringify(backwards.map(heldOf))}::jsonb, interval '1 minute') as id`,
        lock(keys.slice(1))
      )
      assert.lengthOf(held, 20)
    })
  )
})
