import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"

import * as NoQueue from "../../../src/adapters/memory/mail/defer-queue.ts"
import {
  ANSWER_MARGIN_MS,
  functionSeconds,
  RETRIES_AT_ONCE
} from "../../../src/application/mail/function-sizes.ts"
import { RetryHandler } from "../../../src/application/mail/retry.ts"
import { longestRetryMs, MailerConfig } from "../../../src/application/mail/sending.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { decodeQueueEvent, handleQueue } from "../../../src/runtime/lambda/queue-event.ts"
import { deferredSend } from "../../contracts/mail/defer-queue.ts"
import { mailerConfig } from "../../support/mailer-config.ts"
import { queueEvent } from "../../support/vendors/lambda-events.ts"

const CONFIG: MailerConfig["Service"] = mailerConfig
const WHOLE_MS = functionSeconds(CONFIG) * 1_000 - ANSWER_MARGIN_MS

/** A batch of so many retries, each of which takes so long. */
const handleBatch = Effect.fnUntraced(function* (count: number, takesMs: number, withinMs: number) {
  const begun: Array<string> = []
  const ended: Array<string> = []
  const putBack: Array<string> = []
  const none = yield* Effect.provide(DeferQueue, NoQueue.layerNone)
  const services = Layer.mergeAll(
    Layer.succeed(MailerConfig, CONFIG),
    Layer.succeed(RetryHandler, {
      handle: ({ rowId }) =>
        Effect.gen(function* () {
          begun.push(rowId)
          yield* Effect.sleep(takesMs)
          ended.push(rowId)
        })
    }),
    Layer.succeed(DeferQueue, {
      ...none,
      putBack: ({ rowId }) => Effect.sync(() => void putBack.push(rowId))
    })
  )
  const bodies = Array.from({ length: count }, (_, index) => JSON.stringify(deferredSend(`m${index}`)))
  const event = Option.getOrThrow(decodeQueueEvent(queueEvent(bodies)))
  const fiber = yield* Effect.forkChild(Effect.provide(handleQueue(event, withinMs), services))
  yield* TestClock.adjust(withinMs)
  const { batchItemFailures } = yield* Fiber.join(fiber)
  return { begun, ended, putBack, failed: batchItemFailures.length }
})

describe("a function's batch of retries", () => {
  it.effect("D2: ends within its time however slow each is", () =>
    Effect.gen(function* () {
      const batch = yield* handleBatch(RETRIES_AT_ONCE, longestRetryMs(CONFIG), WHOLE_MS)
      assert.lengthOf(batch.ended, RETRIES_AT_ONCE)
      assert.deepInclude(batch, { putBack: [], failed: 0 })
    })
  )

  it.effect("D2: puts back what could not end in the time that is left, and nothing that it has begun", () =>
    Effect.gen(function* () {
      const batch = yield* handleBatch(10, 29_000, WHOLE_MS)
      assert.lengthOf(batch.ended, RETRIES_AT_ONCE)
      assert.deepStrictEqual(batch.begun, batch.ended)
      assert.deepInclude(batch, { putBack: ["m8", "m9"], failed: 0 })
      // A host that gives less than a retry may take has one begun at a time.
      const short = yield* handleBatch(3, 5_000, 20_000)
      assert.deepInclude(short, { ended: ["m0"], putBack: ["m1", "m2"], failed: 0 })
    })
  )
})
