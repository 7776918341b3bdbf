import type { Message } from "@aws-sdk/client-sqs"
import { Cause, Effect, Exit, Fiber, FiberSet, Latch, Layer, Option, Schedule } from "effect"

import {
  decodeDeferredSend,
  encodeDeferredSend,
  type DeferredSend,
  MAX_RECEIVES
} from "../../domain/mail/deferred-send.ts"
import { DeferQueue, tooLargeToQueue } from "../../ports/mail/defer-queue.ts"
import { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { makeDeadLetters, readPolicy } from "./dead-letters.ts"
import { makeQueueClient, type QueueClient, type QueueClientOptions } from "./queue-client.ts"

/** Longest delay of a message (vendor limit). The settings' delays must not be longer with this queue. */
export const MAX_DELAY_SECONDS = 900

/** Longest wait of a long poll (vendor limit). */
const MAX_WAIT_SECONDS = 20

interface SqsDeferQueueOptions extends QueueClientOptions {
  readonly queueUrl: string
  /** Whole seconds that a received message stays hidden unless its consumer extends it: 1 to 43,200. */
  readonly visibilitySeconds: number
}

/**
 * Writes as JSON escapes what a queue may refuse: U+FFFE and U+FFFF (the vendor), and the surrogates of characters
 * beyond the first plane (compatible services that keep to the older list of characters).
 */
const escapeForSqs = (json: string) =>
  json.replace(/[\uD800-\uDFFF\uFFFE\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)

/** A handler that interrupts itself has failed; only a shutdown releases its message. */
const failWhereItInterruptsItself = <E, R>(handler: Effect.Effect<void, E, R>) =>
  Effect.catchCause(handler, (cause) =>
    Cause.hasInterrupts(cause) ? Effect.die(cause) : Effect.failCause(cause)
  )

const warnAboutPolicy = (client: QueueClient, queueUrl: string) =>
  readPolicy(client, queueUrl).pipe(
    Effect.flatMap((policy) => {
      if (Option.isNone(policy)) {
        return Effect.logWarning(
          `the retry queue has no redrive policy: a message that crashes its consumer comes back for ever`
        )
      }
      const { maxReceiveCount } = policy.value
      return maxReceiveCount === MAX_RECEIVES
        ? Effect.void
        : Effect.logWarning(
            `the retry queue's messages die after ${maxReceiveCount} receives: its redrive policy should say ${MAX_RECEIVES}`
          )
    }),
    Effect.catch((cause) => Effect.logWarning("the retry queue's redrive policy could not be read", cause))
  )

/** A queue, and how long what is received from it stays hidden. */
interface Source {
  readonly client: QueueClient
  readonly queueUrl: string
  readonly visibilitySeconds: number
}

type Handler<E, R> = (message: DeferredSend) => Effect.Effect<void, E, R>

const extend = ({ client, queueUrl, visibilitySeconds }: Source, receiptHandle: string) =>
  client.hide(queueUrl, receiptHandle, visibilitySeconds).pipe(
    Effect.catch((cause) =>
      Effect.logWarning(
        "a queued message's visibility was not extended: it may be received a second time, and its key prevents a second send",
        cause
      )
    ),
    Effect.schedule(Schedule.spaced((visibilitySeconds * 1000) / 3))
  )

const settle = (
  source: Source,
  receiptHandle: string,
  message: DeferredSend,
  exit: Exit.Exit<void, unknown>
) => {
  const { client, queueUrl } = source
  const remove = client
    .remove(queueUrl, receiptHandle)
    .pipe(
      Effect.catch((cause) =>
        Effect.logWarning(
          "a finished message was not deleted: it comes back, and its key prevents a second send",
          cause
        )
      )
    )
  if (Exit.isSuccess(exit)) return remove
  if (Exit.hasInterrupts(exit)) {
    // Showing it again would count as one of its receives: a new message takes its place.
    return enqueue(source)(message, 0).pipe(
      Effect.andThen(remove),
      Effect.catch((cause) =>
        Effect.logWarning(
          "an unfinished message was not put back: it comes back after its visibility time",
          cause
        )
      )
    )
  }
  return Effect.logWarning(
    "a queued message was not handled: it is received again, and after its third receive it is a dead letter (postlane dead-letters)",
    exit.cause
  )
}

const work = <E, R>(source: Source, { Body, MessageId, ReceiptHandle }: Message, handler: Handler<E, R>) =>
  Effect.uninterruptibleMask(
    Effect.fnUntraced(function* (restore) {
      const message = Option.flatMap(Option.fromNullishOr(Body), decodeDeferredSend)
      if (Option.isNone(message) || ReceiptHandle === undefined) {
        return yield* Effect.logWarning(
          `queued message ${MessageId} cannot be read: it is left to become a dead letter`
        )
      }
      const extension = yield* Effect.forkChild(extend(source, ReceiptHandle))
      const exit = yield* Effect.exit(restore(failWhereItInterruptsItself(handler(message.value))))
      yield* Fiber.interrupt(extension)
      yield* settle(source, ReceiptHandle, message.value, exit)
    })
  )

/** Receives as many messages as `handler` has room for, and handles them concurrently. */
const consume = <E, R>(
  source: Source,
  handler: Handler<E, R>,
  concurrency: number
): Effect.Effect<never, StoreUnavailable, R> =>
  Effect.gen(function* () {
    const { client, queueUrl, visibilitySeconds } = source
    yield* warnAboutPolicy(client, queueUrl)
    const working = yield* FiberSet.make<void>()
    let active = 0
    let freed = Latch.makeUnsafe(false)
    const start = (message: Message) => {
      active += 1
      const release = Effect.sync(() => {
        active -= 1
        freed.openUnsafe()
      })
      // Started at once: an interruption that came before would leave it hidden.
      return FiberSet.run(working, Effect.ensuring(work(source, message, handler), release), {
        startImmediately: true
      })
    }
    return yield* Effect.gen(function* () {
      while (active >= concurrency) {
        freed = Latch.makeUnsafe(false)
        yield* freed.await
      }
      const max = concurrency - active
      const receive = client.receive(queueUrl, { max, waitSeconds: MAX_WAIT_SECONDS, visibilitySeconds })
      yield* Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(receive), (messages) => Effect.forEach(messages, start, { discard: true }))
      )
    }).pipe(
      Effect.forever,
      // A queue that no longer answers is no reason to interrupt what is in progress.
      Effect.tapError(() => FiberSet.awaitEmpty(working))
    )
  }).pipe(Effect.scoped)

const enqueue = ({ client, queueUrl }: Source) =>
  Effect.fn("SqsDeferQueue.enqueue")(function* (message: DeferredSend, delaySeconds: number) {
    const body = Option.map(encodeDeferredSend(message), escapeForSqs)
    if (Option.isNone(body)) return yield* tooLargeToQueue()
    const delay = Math.max(0, Math.ceil(delaySeconds))
    if (delay > MAX_DELAY_SECONDS) {
      return yield* new StoreUnavailable({
        operation: "enqueue",
        isRetryable: false,
        reason: `SQS delays a message by at most ${MAX_DELAY_SECONDS} s, not by ${delay} s`
      })
    }
    yield* client.send(queueUrl, body.value, delay)
  })

const make = Effect.fnUntraced(function* (options: SqsDeferQueueOptions) {
  const { queueUrl, visibilitySeconds } = options
  const client = yield* makeQueueClient(options)
  const source: Source = { client, queueUrl, visibilitySeconds }
  return DeferQueue.of({
    configured: true,
    enqueue: enqueue(source),
    // What is received again counts as received: a new message, then the held one goes.
    putBack: enqueue(source),
    consume: (handler, { concurrency }) => consume(source, handler, concurrency),
    isConsumed: Effect.succeed(undefined),
    ...makeDeadLetters(client, queueUrl),
    check: Effect.asVoid(client.redrivePolicy(queueUrl))
  })
})

/**
 * The retry queue on Amazon SQS (a standard queue with a redrive policy of 3 receives). At least once: a repeated `SendMessage`
 * or a redelivery can bring a message twice, which its `rowId` shows. What is handed back is a new message, so that it costs none of
 * the three receives. A long poll that is cut (shutdown) may have received a message; it comes back after the visibility time.
 */
export const layer = (options: SqsDeferQueueOptions): Layer.Layer<DeferQueue> =>
  Layer.effect(DeferQueue, make(options))
