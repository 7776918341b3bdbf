import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Logger, Scope } from "effect"
import { layerWebCrypto } from "effect/crypto/SecureRandom"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

import { makeLeases } from "../../../src/adapters/memory/leadership.ts"
import { Leadership, LeaseStore } from "../../../src/ports/leadership.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { layer, leaderTicking } from "../../../src/runtime/process/leadership.ts"
import { Supervisors } from "../../../src/runtime/process/supervisor.ts"
import { storeDown } from "../../support/worlds/store-down.ts"

const silent = Logger.layer([])
const down = Effect.fail(storeDown())

/** A process that ticks every 10 s while it leads, on a store that a test can cut off or leave without an answer. */
const startProcess = Effect.fnUntraced(function* (store: LeaseStore["Service"], tickTakes = 0) {
  const scope = yield* Scope.make()
  const link = { state: "up" as "up" | "down" | "hanging" }
  const through = <A>(call: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
    Effect.suspend(() => (link.state === "up" ? call : link.state === "down" ? down : Effect.never))
  const reachable = LeaseStore.of({
    take: (claim, ttl) => through(store.take(claim, ttl)),
    renew: (claim, term, ttl) => through(store.renew(claim, term, ttl)),
    release: (claim) => through(store.release(claim))
  })
  const ticks: Array<number> = []
  const done: Array<number> = []
  const tick = Effect.gen(function* () {
    ticks.push(yield* Clock.currentTimeMillis)
    yield* Effect.sleep(tickTakes)
    done.push(yield* Clock.currentTimeMillis)
  })
  const context = yield* Layer.buildWithScope(
    leaderTicking("work", "10 seconds", tick).pipe(
      Layer.provideMerge(Layer.fresh(layer())),
      Layer.provide([Layer.succeed(LeaseStore, reachable), layerWebCrypto]),
      Layer.provideMerge(Layer.fresh(Supervisors.layer))
    ),
    scope
  )
  const leads = Effect.map(
    Effect.provideContext(
      Leadership.use(({ term }) => term),
      context
    ),
    (term) => term !== undefined
  )
  const supervised = Effect.provideContext(
    Supervisors.use(({ snapshot }) => snapshot),
    context
  )
  return { link, ticks, done, leads, supervised, context, stop: Scope.close(scope, Exit.void) }
})

const test = <E>(name: string, body: Effect.Effect<void, E>) =>
  it.effect(name, () => Effect.provide(body, silent))

describe("leadership", () => {
  test(
    "is one process's; the other follows within a second of a clean stop",
    Effect.gen(function* () {
      const store = makeLeases()
      const a = yield* startProcess(store)
      yield* TestClock.adjust("1 second")
      const b = yield* startProcess(store)
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual([yield* a.leads, yield* b.leads], [true, false])
      assert.isAtLeast(a.ticks.length, 6)
      assert.deepStrictEqual(b.ticks, [])
      yield* a.stop
      yield* TestClock.adjust("1250 millis")
      assert.isTrue(yield* b.leads)
      assert.lengthOf(b.ticks, 1)
      yield* b.stop
    })
  )

  test(
    "counts a follower's fibers as running, without a tick",
    Effect.gen(function* () {
      const store = makeLeases()
      yield* store.take({ name: "leader", holder: "another" }, 1e9)
      const a = yield* startProcess(store)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(
        (yield* a.supervised).map(({ lastRunAt, name, state }) => [name, state, lastRunAt === null]),
        [
          ["leadership", "running", false],
          ["work", "running", true]
        ]
      )
      yield* a.stop
    })
  )

  for (const state of ["down", "hanging"] as const) {
    test(
      `ends before the lease does where the store is ${state}, and interrupts the tick under way`,
      Effect.gen(function* () {
        const store = makeLeases()
        const a = yield* startProcess(store, 1_000_000)
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual([yield* a.leads, a.ticks.length], [true, 1])
        a.link.state = state
        yield* TestClock.adjust("9 seconds")
        assert.isFalse(yield* a.leads)
        assert.deepStrictEqual(
          [a.done, yield* store.take({ name: "leader", holder: "b" }, 1)],
          [[], undefined]
        )
        a.link.state = "up"
        yield* TestClock.adjust("15 seconds")
        assert.deepStrictEqual([yield* a.leads, a.ticks.length], [true, 2])
        yield* a.stop
      })
    )
  }

  test(
    "survives a renewal that fails for a while",
    Effect.gen(function* () {
      const a = yield* startProcess(makeLeases(), 1_000_000)
      yield* TestClock.adjust("5 seconds")
      a.link.state = "down"
      yield* TestClock.adjust("5 seconds")
      a.link.state = "up"
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual([yield* a.leads, a.ticks.length], [true, 1])
      yield* a.stop
    })
  )

  test(
    "is gone at once where the lease is another's",
    Effect.gen(function* () {
      const store = makeLeases()
      let asked = 0
      const fake = LeaseStore.of({
        ...store,
        take: (claim, ttl) => (++asked === 1 ? store.take(claim, ttl) : Effect.succeed(undefined)),
        renew: () => Effect.succeed(false)
      })
      const a = yield* startProcess(fake, 1_000_000)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([yield* a.leads, a.ticks.length], [true, 1])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([yield* a.leads, a.done], [false, []])
      yield* a.stop
    })
  )

  it("never leads twice at once, however links and processes come and go", async () => {
    const change = fc.record({
      who: fc.nat(2),
      state: fc.constantFrom("up" as const, "down" as const, "hanging" as const),
      wait: fc.integer({ min: 1, max: 20_000 })
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), (changes) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const store = makeLeases()
            const all = yield* Effect.forEach([0, 1, 2], () => startProcess(store))
            for (const { state, wait, who } of changes) {
              all[who]!.link.state = state
              for (let left = wait; left > 0; left -= 500) {
                yield* TestClock.adjust(Math.min(500, left))
                const leading = yield* Effect.filter(all, ({ leads }) => leads)
                assert.isAtMost(leading.length, 1)
              }
            }
            for (const { link } of all) link.state = "up"
            yield* TestClock.adjust("14 seconds")
            assert.lengthOf(yield* Effect.filter(all, ({ leads }) => leads), 1)
            yield* Effect.forEach(all, ({ stop }) => stop)
          }).pipe(Effect.provide([silent, TestClock.layer()]))
        )
      ),
      { numRuns: 30 }
    )
  })
})
