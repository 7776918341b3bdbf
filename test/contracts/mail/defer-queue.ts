/**
 * `DeferQueue`: a message comes no earlier than its delay, stays until it was handled, and after three receives is a dead
 * letter.
 *
 * Adapters: memory, postgres, sqs. Rules: D1, D2, D3, MAIL-54, MAIL-55.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Logger, Queue, Schedule, type Scope } from "effect"
import { TestClock } from "effect/testing"

import {
  type DeferredSend,
  MAX_DEFERRED_BYTES,
  MAX_RECEIVES
} from "../../../src/domain/mail/deferred-send.ts"
import { type DeadLetter, type DeferQueue, tooLargeToQueue } from "../../../src/ports/mail/defer-queue.ts"
import { anyId } from "../../support/any-id.ts"

type Service = DeferQueue["Service"]

/** One queue of its own, seen by two processes. */
export interface DeferQueueWorld {
  readonly queue: Service
  readonly second: Service
  /** Puts any text on the queue, due now. */
  readonly inject: (body: string) => Effect.Effect<void>
  /** Runs a process that receives the one due message and is killed while it holds it. */
  readonly killHolder: Effect.Effect<void>
}

export interface DeferQueueCapabilities {
  /** A row's message that is enqueued twice is there once. */
  readonly dedupes: boolean
  /** Runs on a clock that the test moves. */
  readonly virtualTime: boolean
  /** It knows of its consumers. */
  readonly knowsConsumers: boolean
}

/** A message as a send leaves it. */
export const deferredSend = (rowId: string, content = "<p>Grüße</p>"): DeferredSend => ({
  version: 1,
  rowId: anyId(rowId),
  attempt: 1,
  request: {
    provider: "provider_a",
    key: `key-${rowId}`,
    body: { html: content, odd: "\u0000\u2028\uFFFE\uFFFF😀" }
  },
  details: {
    category: "transactional",
    source: "api:test",
    from: "noreply@postlane.test",
    to: ["reader@example.test"],
    others: [],
    subject: "Hello",
    idempotencyKey: anyId(`key-${rowId}`),
    keyHash: anyId("0".repeat(64))
  },
  firstAttemptAt: 1_790_000_000_000,
  failedOver: false
})

const bytesOf = (message: DeferredSend) => new TextEncoder().encode(JSON.stringify(message)).length

/** Moves the test clock on until the effect has ended. */
const driven = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("100 millis")
    return yield* Fiber.join(fiber)
  })

interface Delivery {
  readonly rowId: string
  readonly at: number
}

/** Starts a consumer; what its handler does comes from the test. */
const startConsumer = <E>(
  queue: Service,
  handle: (message: DeferredSend) => Effect.Effect<void, E>,
  concurrency = 2
) =>
  Effect.gen(function* () {
    const deliveries = yield* Queue.unbounded<Delivery>()
    const fiber = yield* Effect.forkScoped(
      queue.consume(
        (message) =>
          Effect.gen(function* () {
            yield* Queue.offer(deliveries, { rowId: message.rowId, at: yield* Clock.currentTimeMillis })
            yield* handle(message)
          }),
        { concurrency }
      )
    )
    return { fiber, next: Queue.take(deliveries), all: Queue.takeAll(deliveries) }
  })

const untilDead = (queue: Service, count = 1): Effect.Effect<ReadonlyArray<DeadLetter>, unknown> =>
  queue
    .deadLetters({ limit: 10 })
    .pipe(
      Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (letters) => letters.length >= count })
    )

/** The promises of the port, for one adapter. Each test has a queue of its own. */
export const suite = (
  name: string,
  makeWorld: (options: {
    readonly visibilitySeconds: number
  }) => Effect.Effect<DeferQueueWorld, never, Scope.Scope>,
  capabilities: DeferQueueCapabilities
) => {
  const test = <E>(
    title: string,
    visibilitySeconds: number,
    body: (world: DeferQueueWorld) => Effect.Effect<void, E, Scope.Scope>
  ) => {
    // Handlers fail on purpose here: what is logged about it would only hide a real failure.
    const run = Effect.flatMap(makeWorld({ visibilitySeconds }), body).pipe(Effect.provide(Logger.layer([])))
    if (capabilities.virtualTime) it.effect(title, () => driven(run))
    else it.live(title, () => run)
  }

  describe.concurrent(`DeferQueue (${name})`, () => {
    test("gives a message as it came, and no earlier than its delay (D2)", 5, ({ queue }) =>
      Effect.gen(function* () {
        const received = yield* Deferred.make<DeferredSend>()
        const consumer = yield* startConsumer(queue, (message) => Deferred.succeed(received, message))
        const message = deferredSend("d2")
        const from = yield* Clock.currentTimeMillis
        yield* queue.enqueue(message, 2)
        const { at } = yield* consumer.next
        assert.isAtLeast(at - from, 1_990)
        assert.deepStrictEqual(yield* Deferred.await(received), message)
      })
    )

    test("knows whether somebody consumes it, where it can know (D1)", 5, ({ queue, second }) =>
      Effect.gen(function* () {
        const { knowsConsumers } = capabilities
        assert.strictEqual(yield* queue.isConsumed, knowsConsumers ? false : undefined)
        if (!knowsConsumers) return
        const consumer = yield* startConsumer(second, () => Effect.void)
        yield* queue.enqueue(deferredSend("consumed"), 0)
        yield* consumer.next
        assert.isTrue(yield* queue.isConsumed)
        yield* Fiber.interrupt(consumer.fiber)
        assert.isFalse(yield* queue.isConsumed)
      })
    )

    test("keeps nothing of a message whose handler succeeded (D3)", 2, ({ queue }) =>
      Effect.gen(function* () {
        const consumer = yield* startConsumer(queue, () => Effect.void)
        yield* queue.enqueue(deferredSend("done"), 0)
        yield* queue.enqueue(deferredSend("later"), 5)
        assert.strictEqual((yield* consumer.next).rowId, "done")
        assert.strictEqual((yield* consumer.next).rowId, "later")
        assert.deepStrictEqual(yield* queue.deadLetters({ limit: 10 }), [])
      })
    )

    test("brings a failed message back after the visibility time (D3)", 2, ({ queue }) =>
      Effect.gen(function* () {
        let failures = 0
        const consumer = yield* startConsumer(queue, () =>
          failures++ === 0 ? Effect.fail("not now") : Effect.void
        )
        // The queue counts from its own receive, which is later than this and earlier than the handler.
        const from = yield* Clock.currentTimeMillis
        yield* queue.enqueue(deferredSend("again"), 0)
        yield* consumer.next
        const second = yield* consumer.next
        assert.strictEqual(second.rowId, "again")
        assert.isAtLeast(second.at - from, 1_990)
      })
    )

    test(
      "makes it a dead letter after three receives, however its handler ends, and redrives it (D3)",
      1,
      ({ queue }) =>
        Effect.gen(function* () {
          const endings = [
            Effect.fail("failed"),
            Effect.die("crashed"),
            Effect.interrupt,
            Effect.fail("failed"),
            Effect.fail("failed")
          ]
          let deliveries = 0
          const consumer = yield* startConsumer(queue, () => endings[deliveries++] ?? Effect.void)
          const message = deferredSend("dying")
          yield* queue.enqueue(message, 0)
          const [letter] = yield* untilDead(queue)
          assert.strictEqual((yield* consumer.all).length, MAX_RECEIVES)
          assert.deepStrictEqual(letter?.message, message)
          assert.strictEqual(letter?.receives, MAX_RECEIVES)

          const id = letter?.id ?? ""
          assert.isTrue(yield* queue.redrive(id))
          for (let receive = 0; receive < MAX_RECEIVES; receive++) {
            assert.strictEqual((yield* consumer.next).rowId, "dying")
          }
          assert.deepStrictEqual(yield* queue.deadLetters({ limit: 10 }), [])
          assert.isFalse(yield* queue.redrive(id))
        })
    )

    test("lists no more dead letters than asked for, and redrives the one that is named", 1, ({ queue }) =>
      Effect.gen(function* () {
        let failing = true
        yield* startConsumer(queue, () => (failing ? Effect.fail("failed") : Effect.void), 3)
        for (const rowId of ["a", "b", "c"]) yield* queue.enqueue(deferredSend(rowId), 0)
        const letters = yield* untilDead(queue, 3)
        assert.strictEqual((yield* queue.deadLetters({ limit: 2 })).length, 2)
        const wanted = letters.find(({ message }) => message?.rowId === "b")
        // Whatever time the test takes from here on, it does not die again.
        failing = false
        for (const id of ["", "none", "no\0ne", "\ud800"]) assert.isFalse(yield* queue.redrive(id))
        assert.isTrue(yield* queue.redrive(wanted?.id ?? ""))
        const left = (yield* queue.deadLetters({ limit: 10 })).map(({ message }) => message?.rowId)
        assert.sameMembers(left, ["a", "c"])
      })
    )

    test("removes a dead letter that cannot be read, and no other one (D1)", 1, ({ inject, queue }) =>
      Effect.gen(function* () {
        yield* startConsumer(queue, () => Effect.fail("failed"), 3)
        yield* queue.enqueue(deferredSend("readable"), 0)
        yield* inject("no message")
        const letters = yield* untilDead(queue, 2)
        const idOf = (isReadable: boolean) =>
          letters.find(({ message }) => (message !== null) === isReadable)?.id ?? ""
        for (const id of [idOf(true), "", "none", "no\0ne", "\ud800"])
          assert.isFalse(yield* queue.removeUnreadable(id))
        assert.isTrue(yield* queue.removeUnreadable(idOf(false)))
        assert.isFalse(yield* queue.removeUnreadable(idOf(false)))
        assert.deepStrictEqual(
          (yield* queue.deadLetters({ limit: 10 })).map(({ message }) => message?.rowId),
          [anyId("readable")]
        )
      })
    )

    test(
      "counts no receive of a message that its handler puts back, and waits as long as that says (D2)",
      2,
      ({ queue }) =>
        Effect.gen(function* () {
          let deliveries = 0
          const endings = Array.from({ length: MAX_RECEIVES + 1 }, () => "put back")
          const message = deferredSend("away")
          const consumer = yield* startConsumer(queue, (): Effect.Effect<void, unknown> =>
            endings[deliveries++] === "put back" ? queue.putBack(message, 1) : Effect.fail("failed")
          )
          yield* queue.enqueue(message, 0)
          let before = (yield* consumer.next).at
          for (const _ of endings) {
            const { at } = yield* consumer.next
            assert.isAtLeast(at - before, 990)
            before = at
          }
          // From here on it crashes: three times, and no more.
          const [letter] = yield* untilDead(queue)
          assert.deepStrictEqual(letter?.message, message)
          assert.strictEqual(deliveries, endings.length + MAX_RECEIVES)
        })
    )

    test("hands a message back at once when its consumer is stopped (D3)", 60, ({ queue, second }) =>
      Effect.gen(function* () {
        yield* queue.enqueue(deferredSend("held"), 0)
        for (let stop = 0; stop <= MAX_RECEIVES; stop++) {
          const consumer = yield* startConsumer(queue, () => Effect.never, 1)
          yield* consumer.next
          yield* Fiber.interrupt(consumer.fiber)
        }
        const from = yield* Clock.currentTimeMillis
        const { at, rowId } = yield* (yield* startConsumer(second, () => Effect.void, 1)).next
        assert.strictEqual(rowId, "held")
        assert.isBelow(at - from, 30_000)
      })
    )

    test(
      "keeps a message hidden while its handler works, longer than the visibility time",
      3,
      ({ queue, second }) =>
        Effect.gen(function* () {
          const handle = (message: DeferredSend) =>
            message.rowId === "long" ? Effect.sleep("7 seconds") : Effect.void
          const consumers = [yield* startConsumer(queue, handle), yield* startConsumer(second, handle)]
          yield* queue.enqueue(deferredSend("long"), 0)
          yield* queue.enqueue(deferredSend("end"), 10)
          const seen: Array<string> = []
          while (!seen.includes("end")) {
            const { rowId } = yield* Effect.raceFirst(consumers[0]!.next, consumers[1]!.next)
            seen.push(rowId)
          }
          assert.deepStrictEqual(seen, ["long", "end"])
        })
    )

    test("gives two consumers all messages, and none to both at once", 5, ({ queue, second }) =>
      Effect.gen(function* () {
        const rowIds = Array.from({ length: 20 }, (_, index) => `m${index}`)
        const held = new Set<string>()
        const seen: Array<string> = []
        const twice: Array<string> = []
        const done = yield* Deferred.make<void>()
        const handle = ({ rowId }: DeferredSend) =>
          Effect.gen(function* () {
            if (held.has(rowId)) twice.push(rowId)
            held.add(rowId)
            yield* Effect.sleep("50 millis")
            held.delete(rowId)
            seen.push(rowId)
            if (seen.length === rowIds.length) yield* Deferred.succeed(done, undefined)
          })
        yield* startConsumer(queue, handle, 3)
        yield* startConsumer(second, handle, 3)
        yield* Effect.forEach(rowIds, (rowId) => queue.enqueue(deferredSend(rowId), 0), { concurrency: 5 })
        yield* Deferred.await(done)
        assert.sameMembers(seen, rowIds)
        assert.deepStrictEqual(twice, [])
      })
    )

    test("runs no more handlers at once than asked for", 30, ({ queue }) =>
      Effect.gen(function* () {
        let running = 0
        let most = 0
        const consumer = yield* startConsumer(
          queue,
          () =>
            Effect.gen(function* () {
              most = Math.max(most, ++running)
              yield* Effect.sleep("100 millis")
              running--
            }),
          2
        )
        for (let index = 0; index < 8; index++) yield* queue.enqueue(deferredSend(`m${index}`), 0)
        for (let index = 0; index < 8; index++) yield* consumer.next
        assert.strictEqual(most, 2)
      })
    )

    test(
      "buries a message that cannot be read, unhandled, and goes on with the others",
      1,
      ({ inject, queue }) =>
        Effect.gen(function* () {
          const handled: Array<string> = []
          const consumer = yield* startConsumer(
            queue,
            ({ rowId }) => Effect.sync(() => void handled.push(rowId)),
            1
          )
          yield* inject(`{"version":2}`)
          yield* inject(`{"version":`)
          yield* queue.enqueue(deferredSend("good"), 1)
          assert.strictEqual((yield* consumer.next).rowId, "good")
          const letters = yield* untilDead(queue, 2)
          assert.deepStrictEqual(
            letters.map(({ message }) => message),
            [null, null]
          )
          // It may come twice where its process had no time to settle it.
          assert.deepStrictEqual([...new Set(handled)], ["good"])
        })
    )

    test(
      "refuses a message over 250,000 bytes before anything is sent, and takes one below",
      5,
      ({ queue }) =>
        Effect.gen(function* () {
          const room = MAX_DEFERRED_BYTES - bytesOf(deferredSend("fits", ""))
          const tooManyUnits = deferredSend("long", "x".repeat(room + 1))
          const tooManyBytes = deferredSend("wide", "é".repeat(room / 2 + 1))
          assert.strictEqual(bytesOf(deferredSend("fits", "x".repeat(room))), MAX_DEFERRED_BYTES)
          for (const message of [tooManyUnits, tooManyBytes]) {
            assert.deepStrictEqual(yield* Effect.flip(queue.enqueue(message, 0)), tooLargeToQueue())
          }
          const consumer = yield* startConsumer(queue, () => Effect.void, 1)
          yield* queue.enqueue(deferredSend("fits", "x".repeat(room)), 1)
          assert.strictEqual((yield* consumer.next).rowId, "fits")
        })
    )

    test("takes a row's message twice without harm", 5, ({ queue }) =>
      Effect.gen(function* () {
        const consumer = yield* startConsumer(queue, () => Effect.void, 1)
        yield* queue.enqueue(deferredSend("twin"), 0)
        yield* queue.enqueue(deferredSend("twin"), 0)
        yield* queue.enqueue(deferredSend("end"), 3)
        const seen: Array<string> = []
        while (!seen.includes("end")) seen.push((yield* consumer.next).rowId)
        assert.deepStrictEqual(seen, capabilities.dedupes ? ["twin", "end"] : ["twin", "twin", "end"])
      })
    )

    test("brings a message back whose process was killed (D3)", 2, ({ killHolder, queue }) =>
      Effect.gen(function* () {
        yield* queue.enqueue(deferredSend("orphan"), 0)
        yield* killHolder
        const consumer = yield* startConsumer(queue, () => Effect.void)
        assert.strictEqual((yield* consumer.next).rowId, "orphan")
      })
    )

    test("answers", 5, ({ queue }) =>
      Effect.gen(function* () {
        assert.isTrue(queue.configured)
        yield* queue.check
      })
    )
  })
}
