/**
 * `LeaseStore`: one holder at a time, and a term that rises at every change, so that a late write can be refused.
 *
 * Adapters: memory, postgres. No rule of its own: correctness never rests on it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { LeaseStore } from "../../../src/ports/leadership.ts"

const TTL_MS = 60_000
const claim = (holder: string, name = "leader") => ({ name, holder })

/** What every store of leases does; each test gets one of its own. `expire` lets all leases of it run out. */
export const suite = <R>(
  name: string,
  layer: Layer.Layer<LeaseStore | R>,
  expire: Effect.Effect<unknown, unknown, R>
) =>
  describe(`leases: ${name}`, () => {
    const test = <E>(title: string, body: Effect.Effect<void, E, LeaseStore | R>) =>
      it.live(title, () => Effect.provide(body, layer))

    test(
      "gives a free lease to one of many, and none to the others while it lasts",
      Effect.gen(function* () {
        const store = yield* LeaseStore
        const all = Array.from({ length: 20 }, (_, index) => claim(`p${index}`))
        const terms = yield* Effect.forEach(all, (one) => store.take(one, TTL_MS), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          terms.filter((term) => term !== undefined),
          [1]
        )
        const winner = all[terms.indexOf(1)]!
        assert.isTrue(yield* store.renew(winner, 1, TTL_MS))
        assert.strictEqual(yield* store.take(claim("late"), TTL_MS), undefined)
        assert.strictEqual(yield* store.take(claim("late", "another lease"), TTL_MS), 1)
      })
    )

    test(
      "raises the term at every change of holder, and when a holder starts anew",
      Effect.gen(function* () {
        const store = yield* LeaseStore
        assert.strictEqual(yield* store.take(claim("a"), TTL_MS), 1)
        assert.strictEqual(yield* store.take(claim("a"), TTL_MS), 2)
        assert.isFalse(yield* store.renew(claim("a"), 1, TTL_MS))
        assert.isTrue(yield* store.renew(claim("a"), 2, TTL_MS))
        assert.isTrue(yield* store.release(claim("a")))
        assert.strictEqual(yield* store.take(claim("b"), TTL_MS), 3)
        yield* expire
        assert.strictEqual(yield* store.take(claim("a"), TTL_MS), 4)
      })
    )

    test(
      "gives nothing to who lost it: neither by term, nor by name, nor a release of another's",
      Effect.gen(function* () {
        const store = yield* LeaseStore
        assert.strictEqual(yield* store.take(claim("a"), TTL_MS), 1)
        yield* expire
        assert.isFalse(yield* store.renew(claim("a"), 1, TTL_MS))
        assert.isFalse(yield* store.release(claim("a")))
        assert.strictEqual(yield* store.take(claim("b"), TTL_MS), 2)
        for (const term of [1, 2, 3]) assert.isFalse(yield* store.renew(claim("a"), term, TTL_MS))
        assert.isFalse(yield* store.release(claim("a")))
        assert.isFalse(yield* store.renew(claim("b"), 1, TTL_MS))
        assert.isTrue(yield* store.renew(claim("b"), 2, TTL_MS))
      })
    )

    test(
      "hands over at once when it is released",
      Effect.gen(function* () {
        const store = yield* LeaseStore
        assert.strictEqual(yield* store.take(claim("a"), TTL_MS), 1)
        assert.isTrue(yield* store.release(claim("a")))
        assert.isFalse(yield* store.release(claim("a")))
        assert.isFalse(yield* store.renew(claim("a"), 1, TTL_MS))
        assert.strictEqual(yield* store.take(claim("b"), TTL_MS), 2)
      })
    )
  })
