import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"

import { WorkBell } from "../../src/application/work-bell.ts"

/** A worker that takes what is there, each piece with so many turns of the event loop in between, and rests for a minute. */
const worker = (store: { waiting: number }, turns: number) =>
  Effect.gen(function* () {
    const rest = yield* (yield* WorkBell).listen("conversions")
    while (true) {
      const found = store.waiting
      for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
      if (found > 0) store.waiting -= 1
      else yield* rest("1 minute")
    }
  })

describe("the bell", () => {
  it.effect("wakes all who rest, and nobody who comes later", () =>
    Effect.gen(function* () {
      const bell = yield* WorkBell
      const sleepers = yield* Effect.forEach([1, 2], () =>
        Effect.forkChild(Effect.flatMap(bell.listen("conversions"), (rest) => rest("1 minute")))
      )
      yield* Effect.yieldNow
      yield* bell.ring("conversions")
      yield* Effect.forEach(sleepers, Fiber.join)
      const later = yield* Effect.forkChild(
        Effect.flatMap(bell.listen("conversions"), (rest) => rest("1 minute"))
      )
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(later.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.isDefined(later.pollUnsafe())
    })
  )

  it.effect("lets whom it has woken rest again, also after it rang several times", () =>
    Effect.gen(function* () {
      const bell = yield* WorkBell
      const rest = yield* bell.listen("conversions")
      yield* bell.ring("conversions")
      yield* bell.ring("conversions")
      yield* rest("1 minute")
      const again = yield* Effect.forkChild(rest("1 minute"))
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(again.pollUnsafe())
      yield* bell.ring("conversions")
      yield* Fiber.join(again)
    })
  )

  it.effect("whenever it rings, nothing is left lying: a ring while somebody looks is not lost", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }),
          fc.nat(5),
          fc.integer({ min: 1, max: 3 }),
          (gaps, turns, workers) =>
            Effect.runPromise(
              Effect.gen(function* () {
                const bell = yield* WorkBell
                const store = { waiting: 0 }
                const fibers = yield* Effect.forEach(Array.from({ length: workers }), () =>
                  Effect.forkChild(worker(store, turns))
                )
                for (const gap of gaps) {
                  for (let turn = 0; turn < gap; turn++) yield* Effect.yieldNow
                  store.waiting += 1
                  yield* bell.ring("conversions")
                }
                for (let turn = 0; turn < 200; turn++) yield* Effect.yieldNow
                assert.isAtMost(store.waiting, 0)
                yield* Fiber.interruptAll(fibers)
              })
            )
        ),
        { numRuns: 300 }
      )
    )
  )
})
