/**
 * `SharedAllowances`: processes that count together give out no more than there is, and say when there will be enough again.
 *
 * Adapters: postgres, redis. Rules: HTTP-6.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { SharedAllowances } from "../../../src/ports/shared-allowances.ts"

export const shared = Effect.map(SharedAllowances, (one) => one!)

/** What every store of allowances does; `pass` lets seconds go by for every key. */
export const suite = <R, E>(
  name: string,
  layer: Layer.Layer<R>,
  pass: (seconds: number) => Effect.Effect<unknown, E, R>
) =>
  suiteLayer(layer)(`allowances on ${name}`, (it) => {
    it.effect("of many processes at once as many take as there is, whether or not the key is known", () =>
      Effect.gen(function* () {
        const { take } = yield* shared
        const allowance = { key: "race", limit: 7, window: "1 hour" } as const
        for (let round = 0; round < 2; round++) {
          const waits = yield* Effect.forEach(Array.from({ length: 40 }), () => take(allowance), {
            concurrency: "unbounded"
          })
          assert.lengthOf(
            waits.filter((wait) => wait === undefined),
            round === 0 ? 7 : 0
          )
        }
      })
    )

    it.effect("is used up, says when there will be enough, refills evenly; each key has its own", () =>
      Effect.gen(function* () {
        const { take } = yield* shared
        const of = (key: string, amount?: number) =>
          take({ key, limit: 3, window: "1 minute", ...(amount === undefined ? {} : { amount }) })
        for (let n = 0; n < 3; n++) assert.isUndefined(yield* of("a"))
        const wait = Duration.toSeconds((yield* of("a"))!)
        assert.isTrue(wait > 15 && wait <= 20, `${wait}`)
        assert.isUndefined(yield* of("b"))
        yield* pass(20)
        assert.isUndefined(yield* of("a"))
        assert.isDefined(yield* of("a"))
        yield* pass(600)
        assert.isUndefined(yield* of("a", 3))
        assert.isDefined(yield* of("a"))
        assert.strictEqual(Duration.toSeconds((yield* of("new", 4))!), 60)
        assert.isUndefined(yield* of("new", 2))
        assert.isDefined(yield* of("new", 2))
        assert.isUndefined(yield* of("new", 1))
      })
    )
  })
