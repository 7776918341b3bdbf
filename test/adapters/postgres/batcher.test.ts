import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Tracer } from "effect"
import { TestClock } from "effect/testing"

import { makeBatcher } from "../../../src/adapters/postgres/batcher.ts"

/** A batcher of numbers whose batches wait for a gate; 13 is poison. */
const gated = Effect.fnUntraced(function* (
  options: { readonly capacity?: number; readonly maxBatch?: number } = {}
) {
  const batches: Array<ReadonlyArray<number>> = []
  const gate = yield* Deferred.make<void>()
  const submit = yield* makeBatcher<number, number, string>({
    ...options,
    isAboutItem: (error) => error === "poison",
    onOverflow: () => "full",
    run: (items) =>
      Effect.gen(function* () {
        batches.push(items)
        yield* Deferred.await(gate)
        if (items.includes(13)) return yield* Effect.fail("poison")
        if (items.includes(99)) return yield* Effect.fail("outage")
        return items.map((item) => Exit.succeed(item * 2))
      })
  })
  return { batches, gate, submit }
})

/** Time for a batch to start. */
const turn = Effect.andThen(Effect.yieldNow, Effect.yieldNow)

describe("batcher", () => {
  it.effect("sends a lone call at once, and what waits for a slot as one call, up to the limit", () =>
    Effect.gen(function* () {
      const { batches, gate, submit } = yield* gated({ maxBatch: 3 })
      const fibers = []
      for (const item of [1, 2, 3, 4, 5, 6]) {
        fibers.push(yield* Effect.forkChild(submit(item), { startImmediately: true }))
        if (item < 3) yield* turn
      }
      assert.deepStrictEqual(batches, [[1], [2]])
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [2, 4, 6, 8, 10, 12])
      assert.deepStrictEqual(batches, [[1], [2], [3, 4, 5], [6]])
    })
  )

  it.effect("beside a call under way, another goes out when it holds as many items", () =>
    Effect.gen(function* () {
      const { batches, gate, submit } = yield* gated()
      const fork = (item: number) => Effect.forkChild(submit(item), { startImmediately: true })
      const fibers = yield* Effect.forEach([1, 2, 3], fork)
      yield* turn
      const seen: Array<number> = []
      for (const item of [4, 5, 6]) {
        fibers.push(yield* fork(item))
        yield* turn
        seen.push(batches.length)
      }
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [2, 4, 6, 8, 10, 12])
      assert.deepStrictEqual(seen, [1, 1, 2])
      assert.deepStrictEqual(batches, [
        [1, 2, 3],
        [4, 5, 6]
      ])
    })
  )

  it.effect("a free slot soon takes what waits, though a larger call is stuck and nothing more comes", () =>
    Effect.gen(function* () {
      const { batches, gate, submit } = yield* gated()
      const fork = (item: number) => Effect.forkChild(submit(item), { startImmediately: true })
      const fibers = yield* Effect.forEach([1, 2, 3], fork)
      yield* turn
      fibers.push(yield* fork(4))
      yield* turn
      const seen: Array<number> = []
      for (const millis of [4, 1]) {
        yield* TestClock.adjust(millis)
        yield* turn
        seen.push(batches.length)
      }
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [2, 4, 6, 8])
      assert.deepStrictEqual(seen, [1, 2])
    })
  )

  it.effect("a poison item fails alone", () =>
    Effect.gen(function* () {
      const { gate, submit } = yield* gated()
      yield* Deferred.succeed(gate, undefined)
      const items = Array.from({ length: 50 }, (_, index) => index)
      const exits = yield* Effect.forEach(items, (item) => Effect.exit(submit(item)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        exits,
        items.map((item) => (item === 13 ? Exit.fail("poison") : Exit.succeed(item * 2)))
      )
    })
  )

  it.effect("an outage fails the batch without asking for each item", () =>
    Effect.gen(function* () {
      const { batches, gate, submit } = yield* gated()
      yield* Deferred.succeed(gate, undefined)
      const exits = yield* Effect.forEach([1, 99, 2], (item) => Effect.exit(submit(item)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(exits, [Exit.fail("outage"), Exit.fail("outage"), Exit.fail("outage")])
      assert.lengthOf(batches, 1)
    })
  )

  it.effect("a caller that goes away takes nobody with it, and its item still runs", () =>
    Effect.gen(function* () {
      const { batches, gate, submit } = yield* gated()
      const [gone, stays] = yield* Effect.forEach([1, 2], (item) =>
        Effect.forkChild(submit(item), { startImmediately: true })
      )
      yield* turn
      yield* Fiber.interrupt(gone!)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(stays!), 4)
      assert.deepStrictEqual(batches, [[1, 2]])
    })
  )

  it.effect("fails what finds the queue full", () =>
    Effect.gen(function* () {
      const { gate, submit } = yield* gated({ capacity: 3, maxBatch: 1 })
      const fork = (item: number) => Effect.forkChild(Effect.exit(submit(item)), { startImmediately: true })
      const fibers = yield* Effect.forEach([1, 2], fork)
      yield* turn
      fibers.push(...(yield* Effect.forEach([3, 4, 5, 6], fork)))
      yield* Deferred.succeed(gate, undefined)
      const exits = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(
        exits,
        [2, 4, 6, 8, 10].map((n) => Exit.succeed(n) as Exit.Exit<number, string>).concat(Exit.fail("full"))
      )
    })
  )

  it.effect("a call stands below its first caller's span, and links to the others'", () =>
    Effect.gen(function* () {
      const made: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          made.push(span)
          return span
        }
      })
      const { batches, submit } = yield* Effect.gen(function* () {
        const seen: Array<ReadonlyArray<number>> = []
        const call = yield* makeBatcher<number, number, string>({
          isAboutItem: () => false,
          onOverflow: () => "full",
          run: (items) =>
            Effect.sync(() => {
              seen.push(items)
              return items.map((item) => Exit.succeed(item))
            }).pipe(Effect.withSpan("call"))
        })
        return { batches: seen, submit: call }
      }).pipe(Effect.withTracer(tracer))
      const callers = [1, 2, 3].map((item) => submit(item).pipe(Effect.withSpan(`caller ${item}`)))
      yield* Effect.all([...callers, submit(4)], { concurrency: "unbounded" }).pipe(Effect.withTracer(tracer))
      assert.deepStrictEqual(batches, [[1, 2, 3, 4]])
      yield* submit(5)
      const [first, alone] = made.filter(({ name }) => name === "call")
      const nameOf = (span: Tracer.AnySpan | undefined) => (span?._tag === "Span" ? span.name : undefined)
      assert.strictEqual(nameOf(Option.getOrUndefined(first!.parent)), "caller 1")
      assert.deepStrictEqual(
        first!.links.map(({ span }) => nameOf(span)),
        ["caller 2", "caller 3"]
      )
      assert.isTrue(Option.isNone(alone!.parent))
    })
  )

  it.effect("a shutdown waits for what was handed in", () =>
    Effect.gen(function* () {
      const { batches, fiber } = yield* Effect.scoped(
        Effect.gen(function* () {
          const made = yield* gated({ maxBatch: 1 })
          yield* Deferred.succeed(made.gate, undefined)
          const call = yield* Effect.forkDetach(
            Effect.forEach([1, 2, 3, 4, 5], made.submit, { concurrency: "unbounded" }),
            { startImmediately: true }
          )
          return { ...made, fiber: call }
        })
      )
      assert.deepStrictEqual(batches.flat(), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(yield* Fiber.join(fiber), [2, 4, 6, 8, 10])
    })
  )
})
