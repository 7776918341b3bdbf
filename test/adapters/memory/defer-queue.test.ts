import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

import { layerNone, makeDeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { MAX_RECEIVES } from "../../../src/domain/mail/deferred-send.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { deferredSend, suite } from "../../contracts/mail/defer-queue.ts"

suite(
  "memory",
  (options) =>
    Effect.sync(() => {
      const broker = makeDeferBroker(options)
      return {
        queue: broker.attach().queue,
        second: broker.attach().queue,
        inject: broker.inject,
        killHolder: Effect.gen(function* () {
          const holder = broker.attach()
          const holding = yield* Deferred.make<void>()
          const fiber = yield* Effect.forkChild(
            holder.queue.consume(() => Effect.andThen(Deferred.succeed(holding, undefined), Effect.never), {
              concurrency: 1
            })
          )
          yield* Deferred.await(holding)
          yield* holder.kill
          yield* Fiber.await(fiber)
        })
      }
    }),
  { dedupes: false, virtualTime: true, knowsConsumers: true }
)

it.effect(
  "a killed process hands nothing back: its message has been received, and comes back later (D3)",
  () =>
    Effect.gen(function* () {
      const broker = makeDeferBroker({ visibilitySeconds: 10 })
      const client = broker.attach().queue
      yield* client.enqueue(deferredSend("deadly"), 0)
      for (let death = 0; death < MAX_RECEIVES; death++) {
        const holder = broker.attach()
        const holding = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          holder.queue.consume(() => Effect.andThen(Deferred.succeed(holding, undefined), Effect.never), {
            concurrency: 1
          })
        )
        yield* Deferred.await(holding)
        yield* holder.kill
        yield* Fiber.await(fiber)
        assert.deepStrictEqual(
          (yield* broker.pending).map(({ held }) => held),
          [true]
        )
        yield* TestClock.adjust("10 seconds")
      }
      const [letter] = yield* client.deadLetters({ limit: 1 })
      assert.strictEqual(letter?.message?.rowId, "deadly")
    })
)

it.effect(
  "a consumer that waits takes a message that comes later and is due earlier, and then the other",
  () =>
    Effect.gen(function* () {
      const { queue } = makeDeferBroker({ visibilitySeconds: 10 }).attach()
      const taken: Array<string> = []
      yield* Effect.forkChild(
        queue.consume(({ rowId }) => Effect.sync(() => void taken.push(rowId)), { concurrency: 1 })
      )
      for (const [rowId, delay] of [
        ["third", 30],
        ["first", 10],
        ["second", 20]
      ] as const) {
        yield* queue.enqueue(deferredSend(rowId), delay)
        yield* TestClock.adjust("1 second")
      }
      for (const seen of [[], ["first"], ["first", "second"], ["first", "second", "third"]]) {
        assert.deepStrictEqual(taken, seen)
        yield* TestClock.adjust("10 seconds")
      }
    })
)

it.effect("no queue: nothing can be deferred, and nothing is ill", () =>
  Effect.gen(function* () {
    const queue = yield* DeferQueue
    assert.isFalse(queue.configured)
    assert.strictEqual(
      (yield* Effect.flip(queue.enqueue(deferredSend("x"), 0))).reason,
      "No retry queue is configured"
    )
    assert.deepStrictEqual(yield* queue.deadLetters({ limit: 1 }), [])
    assert.isFalse(yield* queue.redrive("x"))
    yield* queue.check
  }).pipe(Effect.provide(layerNone))
)
