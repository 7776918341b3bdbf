/**
 * `AuditDigestStore`: of many runs one sends a digest; what failed or died is sent again, and nothing twice.
 *
 * Adapters: memory, postgres. Rules: EVENT-50.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { duePeriod } from "../../../src/domain/delivery/audit-digest-period.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import { AuditDigestStore, type DigestEnd } from "../../../src/ports/delivery/audit-digest-store.ts"

/** Subscriptions that each store of the suite holds. */
export const DAILY = "00000000-0000-4000-8000-00000000000a"
export const LATE = "00000000-0000-4000-8000-00000000000b"
export const WEEKLY = "00000000-0000-4000-8000-00000000000c"
export const GONE = "00000000-0000-4000-8000-00000000000d"

export const period = duePeriod("daily", Date.parse("2026-11-20T14:00:00Z"))

/** {@link LATE} subscribed after the period, the others before. */
export const subscriptions = [
  { id: DAILY, email: "a@x.test", cadence: "daily", customerId: null, createdAt: period.from },
  { id: LATE, email: "B@x.test", cadence: "daily", customerId: null, createdAt: period.to },
  { id: WEEKLY, email: "c@x.test", cadence: "weekly", customerId: null, createdAt: period.from }
] as const

const request = (text: string): SendRequest => ({
  to: "a@x.test",
  subject: "s",
  text,
  category: "notification",
  source: "api:audit-digest",
  idempotencyKey: "k"
})

const claim = (owner: string, options: { readonly patient?: boolean; readonly leaseMs?: number } = {}) =>
  AuditDigestStore.use((store) =>
    store.claim({
      subscriptionId: DAILY,
      period,
      owner,
      leaseMs: options.leaseMs ?? 60_000,
      patient: options.patient ?? false,
      request: request(owner)
    })
  )

const settle = (owner: string, end: DigestEnd) =>
  AuditDigestStore.use((store) => store.settle({ subscriptionId: DAILY, period, owner, end }))

const failed = (certain: boolean): DigestEnd => ({ state: "failed", certain, error: "e" })
const textOf = (result: Effect.Success<ReturnType<typeof claim>>) =>
  result._tag === "Claimed" ? result.request.text : result._tag

/** What every store of digests does; each test gets one of its own. */
export const suite = (name: string, layer: Layer.Layer<AuditDigestStore>) =>
  describe(`audit digest store: ${name}`, () => {
    const test = (title: string, body: Effect.Effect<void, unknown, AuditDigestStore>) =>
      it.live(title, () => body.pipe(Effect.provide(layer)))

    test(
      "pages by id through the subscriptions of the cadence that wait",
      Effect.gen(function* () {
        const store = yield* AuditDigestStore
        const ids = (after: string | undefined, limit: number, createdBefore?: number) =>
          Effect.map(store.pending({ period, after, limit, createdBefore }), (rows) =>
            rows.map(({ id }) => id)
          )
        assert.deepStrictEqual(yield* ids(undefined, 1), [DAILY])
        assert.deepStrictEqual(yield* ids(DAILY, 9), [LATE])
        assert.deepStrictEqual(yield* ids(undefined, 9, period.to), [DAILY])
        yield* claim("one")
        assert.deepStrictEqual(yield* ids(undefined, 9), [DAILY, LATE])
        yield* settle("one", failed(true))
        assert.deepStrictEqual(yield* ids(undefined, 9), [DAILY, LATE])
        yield* claim("two")
        yield* settle("two", { state: "sent" })
        assert.deepStrictEqual(yield* ids(undefined, 9), [LATE])
      })
    )

    test(
      "lets one of many runs at once send, and none after it was sent",
      Effect.gen(function* () {
        const owners = Array.from({ length: 12 }, (_, index) => `owner-${index}`)
        const claims = yield* Effect.forEach(owners, (owner) => claim(owner), { concurrency: "unbounded" })
        assert.deepStrictEqual(claims.map(({ _tag }) => _tag).sort(), [
          ...Array.from({ length: 11 }, () => "Busy"),
          "Claimed"
        ])
        const winner = owners[claims.findIndex(({ _tag }) => _tag === "Claimed")]!
        assert.isFalse(yield* settle("somebody else", { state: "sent" }))
        assert.isTrue(yield* settle(winner, { state: "sent" }))
        assert.isFalse(yield* settle(winner, failed(true)))
        assert.strictEqual((yield* claim("late"))._tag, "Settled")
      })
    )

    test(
      "gives a failed one again, with a mail of its own where the first surely did not go out",
      Effect.gen(function* () {
        assert.strictEqual(textOf(yield* claim("one")), "one")
        yield* settle("one", failed(true))
        assert.strictEqual(textOf(yield* claim("two")), "two")
        yield* settle("two", failed(false))
        assert.strictEqual(textOf(yield* claim("three")), "two")
        yield* settle("three", failed(true))
        assert.strictEqual(textOf(yield* claim("four")), "two")
        yield* settle("four", { state: "suppressed" })
        assert.strictEqual(textOf(yield* claim("five")), "Settled")
      })
    )

    test(
      "passes a dead run's claim on, with its mail; the dead one settles nothing",
      Effect.gen(function* () {
        yield* claim("dead", { leaseMs: 0 })
        assert.strictEqual(textOf(yield* claim("next")), "dead")
        assert.isFalse(yield* settle("dead", { state: "sent" }))
        assert.isTrue(yield* settle("next", { state: "sent" }))
      })
    )

    test(
      "makes its mail anew for as long as each attempt surely sent nothing",
      Effect.gen(function* () {
        for (const owner of ["one", "two", "three"]) {
          assert.strictEqual(textOf(yield* claim(owner)), owner)
          yield* settle(owner, failed(true))
        }
      })
    )

    test(
      "lets a patient run wait for no dead one",
      Effect.gen(function* () {
        yield* claim("dead", { leaseMs: 0 })
        assert.strictEqual(textOf(yield* claim("next", { patient: true })), "dead")
      })
    )

    test(
      "lets a patient run wait after a failure, and nobody else",
      Effect.gen(function* () {
        yield* claim("one", { patient: true })
        yield* settle("one", failed(true))
        assert.strictEqual(textOf(yield* claim("two", { patient: true })), "Waiting")
        assert.strictEqual(textOf(yield* claim("three")), "three")
      })
    )

    test(
      "gives nothing for a subscription that is gone",
      Effect.gen(function* () {
        const store = yield* AuditDigestStore
        const entry = { subscriptionId: GONE, period, owner: "o", leaseMs: 1000, patient: false }
        assert.strictEqual((yield* store.claim({ ...entry, request: request("x") }))._tag, "Settled")
      })
    )
  })
