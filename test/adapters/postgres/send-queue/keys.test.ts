/** What the claim of a direct send on a key, and an earlier request with it, mean for a request of the queue. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { call, clear, enqueue, hashOf, MAIL, stored } from "./rows.ts"

const KEYED = { ...MAIL, idempotencyKey: "order" }

/** A claim of a direct send on the key. */
interface DirectClaim {
  readonly state: string
  readonly leaving?: boolean
  readonly ambiguous?: boolean
  readonly leased?: boolean
  readonly hours?: number
  readonly payload?: string
}

const claim = ({
  ambiguous = false,
  hours = 1,
  leased = false,
  leaving = true,
  payload = "payload",
  state
}: DirectClaim) =>
  WriteSql.use(
    (sql) => sql`insert into email_send_claims
      (key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at)
      values (${hashOf("order")}, ${payload}, ${state}, 'provider_a', ${ambiguous}, ${leaving}, 'direct',
        now() + case when ${leased} then interval '1 minute' else interval '-1 minute' end,
        now() - make_interval(mins => ${hours * 60}), now() - make_interval(mins => ${hours * 60}))`
  )

/** What a direct send has left of the key, and whether a request with that key is cancelled then. */
const CANCELS: ReadonlyArray<readonly [claim: DirectClaim, state: "cancelled" | "queued"]> = [
  [{ state: "accepted" }, "queued"],
  [{ state: "deferred" }, "queued"],
  [{ state: "ambiguous", ambiguous: true }, "queued"],
  [{ state: "ended", ambiguous: true }, "queued"],
  [{ state: "held" }, "queued"],
  [{ state: "held", leaving: false, leased: true }, "queued"],
  [{ state: "held", leaving: false }, "cancelled"],
  [{ state: "refused" }, "cancelled"],
  [{ state: "accepted", hours: 23.5 }, "queued"],
  [{ state: "accepted", hours: 24.5 }, "cancelled"]
]

/** Whether a request of the same key is queued for another mail than the direct send's, or a conflict. */
const CONFLICTS: ReadonlyArray<readonly [claim: DirectClaim, isConflict: boolean]> = [
  [{ state: "accepted", payload: "another" }, true],
  [{ state: "held", payload: "another" }, true],
  [{ state: "accepted", payload: "another", hours: 23.5 }, true],
  [{ state: "accepted", payload: "another", hours: 24.5 }, false],
  [{ state: "refused", payload: "another" }, false],
  [{ state: "accepted" }, false],
  // A retry made it: any mail fits.
  [{ state: "deferred", payload: "" }, false]
]

layer(layerPostgres)("a key of the queue", (it) => {
  it.effect.each(CANCELS)(
    "that a direct send left %j: its request is %s by a cancel (QUEUE-6)",
    ([one, state]) =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* WriteSql
        const [id = ""] = yield* enqueue({
          ...KEYED,
          sendAt: new Date(Date.now() + 86_400_000).toISOString()
        })
        yield* claim(one)
        assert.deepStrictEqual(yield* sql`select cancel_email(${id}::uuid) as state`, [{ state }])
        // What is not cancelled takes the end that its key has, at once.
        const due = yield* sql`select due_at <= clock_timestamp() as due from email_send_queue`
        assert.deepStrictEqual(due, [{ due: state === "queued" ? true : null }])
      })
  )

  it.effect.each(CONFLICTS)(
    "that a direct send left %j: another mail is a conflict: %s (QUEUE-2)",
    ([one, isConflict]) =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* WriteSql
        yield* claim(one)
        const queued = yield* Effect.exit(enqueue(KEYED))
        assert.strictEqual(queued._tag, isConflict ? "Failure" : "Success")
        // A caller in SQL names no hash of its mail; a mail without a key has one of its own.
        yield* enqueue(MAIL)
        if (isConflict) yield* sql`select enqueue_email(${JSON.stringify(KEYED)}::jsonb)`
      })
  )

  it.effect.each(["sending", "deferred", "sent", "suppressed", "failed", "cancelled"])(
    "whose request is %s has it neither cancelled nor moved (QUEUE-6, FRONT-8)",
    (state) =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* WriteSql
        const [id = ""] = yield* enqueue(KEYED)
        if (state === "sending" || state === "deferred")
          yield* sql`update email_send_queue set state = ${state}`
        else
          yield* sql`update email_send_queue set state = ${state}, due_at = null, request = null, ended_at = now()`
        const before = yield* stored("email_send_queue")
        assert.deepStrictEqual(yield* sql`select cancel_email(${id}::uuid) as state`, [{ state }])
        const later = "2026-12-01T00:00:00Z"
        assert.deepStrictEqual(yield* sql`select reschedule_queued_email(${id}::uuid, ${later}) as state`, [
          { state }
        ])
        assert.deepStrictEqual(yield* stored("email_send_queue"), before)
      })
  )

  it.effect("is its request's for a day after that has ended, by the end of the request (QUEUE-2)", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const [first] = yield* enqueue(KEYED)
      const ended = (
        hours: number
      ) => sql`update email_send_queue set state = 'sent', due_at = null, request = null,
        ended_at = now() - make_interval(mins => ${hours * 60})`
      yield* ended(23.5)
      assert.deepStrictEqual(yield* enqueue(KEYED), [first])
      assert.strictEqual((yield* Effect.exit(enqueue({ ...KEYED, subject: "another" })))._tag, "Failure")
      yield* ended(24.5)
      const [second] = yield* enqueue({ ...KEYED, subject: "another" })
      assert.notStrictEqual(second, first)
      const states =
        yield* sql`select state, held_key is not null as held from email_send_queue order by created_at`
      assert.deepStrictEqual(states, [
        { state: "sent", held: false },
        { state: "queued", held: true }
      ])
    })
  )

  it.effect("is taken in one order by batches, whatever order they name their mails in (QUEUE-2)", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const keys = Array.from({ length: 20 }, (_, at) => `key-${String(at).padStart(2, "0")}`)
      const backwards = keys.toReversed().map((idempotencyKey) => ({ ...MAIL, idempotencyKey }))
      yield* enqueue(...backwards)
      const order = yield* sql`select idempotency_key as key from email_send_queue order by created_at`
      assert.deepStrictEqual(
        order.map(({ key }) => key),
        keys
      )
      const again = yield* call("enqueue_emails", [{ request: { ...MAIL, idempotencyKey: "z" } }])
      assert.deepInclude(again[0], { ordinal: 1, idempotency_key: "z", state: "queued" })
    })
  )
})
