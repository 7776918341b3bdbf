import { createServer, type AddressInfo } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Logger, Schedule, Scope } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll } from "vitest"

import { layer, MAX_DELAY_SECONDS } from "../../../src/adapters/sqs/defer-queue.ts"
import { DeferQueue, tooLargeToQueue } from "../../../src/ports/mail/defer-queue.ts"
import { deferredSend, suite } from "../../contracts/mail/defer-queue.ts"
import { killAfterFirstLine } from "../../support/processes/killed-process.ts"
import { startTcpProxy } from "../../support/processes/tcp-proxy.ts"
import { type SqsEmulator, sqsCredentials, sqsRegion, startSqs } from "../../support/vendors/sqs.ts"

const scope = Scope.makeUnsafe()
let sqs: SqsEmulator
let serial = 0

beforeAll(async () => {
  sqs = await Effect.runPromise(Scope.provide(startSqs, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const open = (queueUrl: string, visibilitySeconds = 30, endpoint = sqs.endpoint) =>
  Layer.build(
    Layer.fresh(
      layer({ queueUrl, visibilitySeconds, endpoint, region: sqsRegion, credentials: sqsCredentials })
    )
  ).pipe(Effect.map(Context.get(DeferQueue)))

suite(
  "SQS",
  ({ visibilitySeconds }) =>
    Effect.gen(function* () {
      const { url } = yield* sqs.createQueue(`contract-${++serial}`, 3)
      return {
        queue: yield* open(url, visibilitySeconds),
        second: yield* open(url, visibilitySeconds),
        inject: (body: string) => sqs.send(url, body),
        killHolder: killAfterFirstLine("test/adapters/sqs/message-holder.ts", {
          QUEUE_URL: url,
          ENDPOINT: sqs.endpoint,
          VISIBILITY_SECONDS: String(visibilitySeconds)
        })
      }
    }),
  { dedupes: false, virtualTime: false, knowsConsumers: false }
)

/** Everything that is logged while the effect runs, as text. */
const withLogs = <A, E, R>(run: (logs: Array<string>) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const logs: Array<string> = []
    const logger = Logger.make(({ message }) => void logs.push(String(message)))
    return run(logs).pipe(Effect.provide(Logger.layer([logger])))
  })

describe.concurrent("DeferQueue (SQS), in trouble", () => {
  for (const [title, maxReceiveCount, warning] of [
    ["has no redrive policy", undefined, "no redrive policy"],
    ["gives up after another number of receives", 5, "die after 5 receives"],
    ["is as it should be", 3, undefined]
  ] as const) {
    it.live(`says at its start whether the queue ${title}`, () =>
      withLogs((logs) =>
        Effect.gen(function* () {
          const { url } = yield* sqs.createQueue(`policy-${++serial}`, maxReceiveCount)
          const queue = yield* open(url)
          const handled = yield* Deferred.make<void>()
          yield* queue
            .consume(() => Deferred.succeed(handled, undefined), { concurrency: 1 })
            .pipe(Effect.forkScoped)
          yield* queue.enqueue(deferredSend("one"), 0)
          yield* Deferred.await(handled)
          if (warning === undefined) assert.deepStrictEqual(logs, [])
          else assert.include(logs.join("\n"), warning)
          if (maxReceiveCount === undefined) {
            assert.deepStrictEqual(yield* queue.deadLetters({ limit: 1 }), [])
            assert.isFalse(yield* queue.redrive("any"))
          }
        })
      )
    )
  }

  it.live("never logs what a message says that it cannot read", () =>
    withLogs((logs) =>
      Effect.gen(function* () {
        const { deadLetterUrl = "", url } = yield* sqs.createQueue(`poison-${++serial}`, 3)
        const queue = yield* open(url, 1)
        yield* queue.consume(() => Effect.void, { concurrency: 1 }).pipe(Effect.forkScoped)
        yield* sqs.send(url, `{"secret": "reader@example.test"}`)
        yield* sqs
          .count(deadLetterUrl)
          .pipe(Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (count) => count === 1 }))
        assert.include(logs.join("\n"), "cannot be read")
        assert.notInclude(logs.join("\n"), "reader@example.test")
      })
    )
  )

  it.live("sends nothing of a message that is too large or would be delayed too long", () =>
    Effect.gen(function* () {
      const { url } = yield* sqs.createQueue(`limits-${++serial}`, 3)
      const queue = yield* open(url)
      const large = yield* Effect.flip(queue.enqueue(deferredSend("x", "x".repeat(250_000)), 0))
      const late = yield* Effect.flip(queue.enqueue(deferredSend("x"), MAX_DELAY_SECONDS + 1))
      assert.deepStrictEqual(large, tooLargeToQueue())
      assert.strictEqual(
        late.reason,
        `SQS delays a message by at most ${MAX_DELAY_SECONDS} s, not by ${MAX_DELAY_SECONDS + 1} s`
      )
      assert.strictEqual(yield* sqs.count(url), 0)
      yield* queue.enqueue(deferredSend("x"), MAX_DELAY_SECONDS)
      assert.strictEqual(yield* sqs.count(url), 1)
    })
  )

  it.effect("waits five seconds for an answer to what it enqueues, not more", () =>
    Effect.gen(function* () {
      const { url } = yield* sqs.createQueue(`silent-${++serial}`, 3)
      const asked = yield* Deferred.make<void>()
      const silent = createServer((socket) => {
        socket.on("error", () => socket.destroy())
        socket.once("data", () => Deferred.doneUnsafe(asked, Effect.void))
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => silent.close())
      )
      const queue = yield* open(url, 30, `http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
      const enqueueing = yield* Effect.forkChild(Effect.flip(queue.enqueue(deferredSend("x"), 0)))
      yield* Effect.andThen(Effect.yieldNow, Deferred.await(asked))
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(enqueueing.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(enqueueing)).reason, "SQS: SendMessage took too long")
    })
  )

  it.live("finishes what is under way before it fails, when the queue goes away", () =>
    Effect.gen(function* () {
      const proxy = yield* startTcpProxy(Number(new URL(sqs.endpoint).port))
      const { url } = yield* sqs.createQueue(`away-${++serial}`, 3)
      const queue = yield* open(url, 30, `http://127.0.0.1:${proxy.port}`)
      const started = yield* Deferred.make<void>()
      const finish = yield* Deferred.make<void>()
      const finished = yield* Deferred.make<Exit.Exit<void>>()
      const consumer = yield* queue
        .consume(
          () =>
            Deferred.succeed(started, undefined).pipe(
              Effect.andThen(Deferred.await(finish)),
              Effect.onExit((exit) => Deferred.succeed(finished, exit))
            ),
          { concurrency: 2 }
        )
        .pipe(Effect.forkScoped)
      yield* queue.enqueue(deferredSend("slow"), 0)
      yield* Deferred.await(started)
      yield* proxy.setRefusing(true)
      // By then the receive has failed for good, too.
      yield* Effect.repeat(Effect.flip(queue.check), { times: 5 })
      assert.isUndefined(consumer.pollUnsafe())
      yield* Deferred.succeed(finish, undefined)
      assert.deepStrictEqual(yield* Deferred.await(finished), Exit.void)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(consumer)))
    }).pipe(Effect.provide(Logger.layer([])))
  )
})
