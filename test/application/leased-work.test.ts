import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

import { type Lease, staleAfter, underLease } from "../../src/application/leased-work.ts"
import { StoreUnavailable } from "../../src/ports/store-unavailable.ts"
import { clockAhead } from "../support/later.ts"

const INTERVAL = Duration.seconds(10)

const away = (isRetryable: boolean) =>
  new StoreUnavailable({ operation: "complete", reason: "connection refused", isRetryable })

/** A lease that notes what it is asked for. */
const leaseOf = (changes: Partial<Lease<string, string>> = {}) => {
  const asked: Array<string> = []
  const note = (what: string) => () => Effect.sync(() => asked.push(what))
  const lease: Lease<string, string> = {
    name: "work",
    heartbeat: () => Effect.as(note("heartbeat")(), true),
    release: note("release"),
    complete: (result) => note(`complete ${result}`)(),
    fail: (failure) => note(`fail ${failure}`)(),
    lost: note("lost"),
    ...changes
  }
  return { asked, lease }
}

/** Runs for so long, second by second; answers whether it has ended. */
const pass = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>, seconds: number) {
  for (let second = 0; second < seconds; second++) yield* TestClock.adjust("1 second")
  return fiber.pollUnsafe() !== undefined
})

describe("work under a lease", () => {
  it.effect("keeps its lease while it lasts, and reports its end once", () =>
    Effect.gen(function* () {
      const { asked, lease } = leaseOf()
      const fiber = yield* Effect.forkChild(
        underLease(Effect.as(Effect.sleep("25 seconds"), "r"), lease, INTERVAL)
      )
      assert.isTrue(yield* pass(fiber, 26))
      assert.deepStrictEqual(asked, ["heartbeat", "heartbeat", "complete r"])
      const failing = leaseOf()
      yield* underLease(Effect.fail("f"), failing.lease, INTERVAL)
      assert.deepStrictEqual(failing.asked, ["fail f"])
    })
  )

  it.effect("is interrupted once its lease is lost, before another worker may claim it", () =>
    Effect.gen(function* () {
      for (const heartbeat of [Effect.succeed(false), Effect.fail(away(true)), Effect.never]) {
        const { asked, lease } = leaseOf({ heartbeat: () => heartbeat })
        const fiber = yield* Effect.forkChild(underLease(Effect.never, lease, INTERVAL))
        assert.isTrue(yield* pass(fiber, Duration.toSeconds(staleAfter(INTERVAL)) - 1))
        assert.deepStrictEqual(asked, ["lost"])
      }
    })
  )

  it.effect("is neither kept nor lost by a step of the machine's clock", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      for (const stepMs of [-3_600_000, 3_600_000]) {
        let aheadMs = 0
        const stepped = Effect.provideService(
          Clock.Clock,
          clockAhead(clock, () => aheadMs)
        )
        const silent = leaseOf({ heartbeat: () => Effect.never })
        const late = leaseOf({ heartbeat: () => Effect.delay(Effect.succeed(true), "4 seconds") })
        const [ends, lasts] = yield* Effect.forEach([silent, late], ({ lease }) =>
          Effect.forkChild(stepped(underLease(Effect.never, lease, INTERVAL)))
        )
        yield* pass(ends!, 12)
        aheadMs = stepMs
        assert.isTrue(yield* pass(ends!, Duration.toSeconds(staleAfter(INTERVAL)) - 13))
        assert.isFalse(yield* pass(lasts!, 60))
        assert.deepStrictEqual([silent.asked, late.asked], [["lost"], []])
        yield* Fiber.interrupt(lasts!)
      }
    })
  )

  it.effect("that is asked to stop ends by itself, its result reported all the same", () =>
    Effect.gen(function* () {
      for (const [result, reported] of [
        [undefined, "lost"],
        ["r", "complete r"]
      ] as const) {
        const stopped = yield* Deferred.make<void>()
        const { asked, lease } = leaseOf({
          heartbeat: () => Effect.succeed(false),
          stop: () => Deferred.doneUnsafe(stopped, Effect.void)
        })
        const work = Effect.as(Effect.andThen(Deferred.await(stopped), Effect.sleep("30 seconds")), result)
        const fiber = yield* Effect.forkChild(underLease(work, lease, INTERVAL))
        assert.isFalse(yield* pass(fiber, 39))
        assert.isTrue(yield* pass(fiber, 2))
        assert.deepStrictEqual(asked, [reported])
      }
    })
  )

  it.effect("is released when its process stops", () =>
    Effect.gen(function* () {
      const { asked, lease } = leaseOf()
      const fiber = yield* Effect.forkChild(underLease(Effect.never, lease, INTERVAL))
      yield* pass(fiber, 1)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(asked, ["release"])
    })
  )

  it.effect("reports its end again while the store is away, and not where that is of no use", () =>
    Effect.gen(function* () {
      for (const [isRetryable, tries] of [
        [true, 6],
        [false, 1]
      ] as const) {
        let tried = 0
        const { lease } = leaseOf({
          complete: () =>
            Effect.suspend(() =>
              Effect.fail(away(isRetryable)).pipe(Effect.tapError(() => Effect.sync(() => tried++)))
            )
        })
        const fiber = yield* Effect.forkChild(Effect.flip(underLease(Effect.succeed("r"), lease, INTERVAL)))
        assert.isTrue(yield* pass(fiber, 30))
        assert.strictEqual((yield* Fiber.join(fiber))._tag, "StoreUnavailable")
        assert.strictEqual(tried, tries)
      }
    })
  )
})
