import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"

import { withDeadline } from "../../src/application/deadline.ts"

/** An operation that does not end, and whose interruption does not either. */
const stuck = (interrupted: () => void): Effect.Effect<never> =>
  Effect.onInterrupt(Effect.never, () => Effect.andThen(Effect.sync(interrupted), Effect.never))

const late = { duration: "2 seconds", onTimeout: () => Effect.fail("late") } as const

describe("withDeadline", () => {
  it.effect("answers as the operation does, at once or later", () =>
    Effect.gen(function* () {
      const failing: Effect.Effect<number, string> = Effect.fail("no")
      assert.strictEqual(yield* withDeadline(Effect.succeed(1), late), 1)
      assert.deepStrictEqual(yield* Effect.exit(withDeadline(failing, late)), Exit.fail("no"))
      assert.strictEqual(yield* withDeadline(Effect.as(Effect.yieldNow, 2), late), 2)
      assert.deepStrictEqual(
        yield* Effect.exit(withDeadline(Effect.andThen(Effect.yieldNow, failing), late)),
        Exit.fail("no")
      )
    })
  )

  it.effect(
    "moves on at the deadline, not before, and tells the operation to stop without waiting for it",
    () =>
      Effect.gen(function* () {
        let interrupted = false
        const fiber = yield* Effect.forkChild(
          withDeadline(
            stuck(() => (interrupted = true)),
            late
          ),
          { startImmediately: true }
        )
        yield* TestClock.adjust("1999 millis")
        assert.isUndefined(fiber.pollUnsafe())
        assert.isFalse(interrupted)
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.fail("late"))
        assert.isTrue(interrupted)
      })
  )

  it.effect("a caller that goes away tells the operation to stop and does not wait for it", () =>
    Effect.gen(function* () {
      let interrupted = false
      const fiber = yield* Effect.forkChild(
        withDeadline(
          stuck(() => (interrupted = true)),
          late
        ),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(fiber)
      assert.isTrue(interrupted)
    })
  )

  it.effect("an operation that ends in time is not answered again by its deadline", () =>
    Effect.gen(function* () {
      let timeouts = 0
      const gate = yield* Deferred.make<number>()
      const waiting = withDeadline(Deferred.await(gate), {
        duration: "2 seconds",
        onTimeout: () => Effect.sync(() => (timeouts += 1))
      })
      const fiber = yield* Effect.forkChild(Effect.tap(waiting, Effect.sleep("1 minute")), {
        startImmediately: true
      })
      yield* Deferred.succeed(gate, 7)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(fiber), 7)
      assert.strictEqual(timeouts, 0)
    })
  )

  it.effect("shows the fiber, so that a shutdown can end the operation early", () =>
    Effect.gen(function* () {
      let shown: Fiber.Fiber<never> | undefined
      const fiber = yield* Effect.forkChild(
        Effect.exit(withDeadline(Effect.never, { ...late, onFork: (one) => (shown = one) })),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(shown!)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.join(fiber)))
    })
  )
})
