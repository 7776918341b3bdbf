import { Effect, Option, Schema } from "effect"

import { RETRIES_AT_ONCE } from "../../application/mail/function-sizes.ts"
import { RetryHandler } from "../../application/mail/retry.ts"
import { longestRetryMs, MailerConfig } from "../../application/mail/sending.ts"
import { uptime } from "../../application/uptime.ts"
import { decodeDeferredSend, type DeferredSend } from "../../domain/mail/deferred-send.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"

/** What the event source mapping of an SQS queue hands over, ten messages at most unless it is set otherwise. */
const QueueEvent = Schema.Struct({
  Records: Schema.NonEmptyArray(
    Schema.Struct({
      messageId: Schema.String,
      eventSource: Schema.Literal("aws:sqs"),
      body: Schema.String
    })
  )
})
type QueueEvent = typeof QueueEvent.Type

/** How long putting back may take where no time is left, milliseconds: less than the margin that an answer has. */
const PUT_BACK_MS = 1_000

export const decodeQueueEvent = Schema.decodeUnknownOption(QueueEvent)

/** What it takes as the answer: these messages come back, the others are deleted (`ReportBatchItemFailures`). */
export interface QueueResult {
  readonly batchItemFailures: ReadonlyArray<{ readonly itemIdentifier: string }>
}

/**
 * Handles deferred sends (MAIL-51 to MAIL-56). A message that cannot be read, fails or does not end in time is left to the queue:
 * it is received again, and becomes a dead letter after its third receive. When the remaining time is too short for a message, it
 * is put back, and keeps its receives.
 */
export const handleQueue = Effect.fn("lambda.queue")(function* (event: QueueEvent, withinMs: number) {
  const { handle } = yield* RetryHandler
  const { putBack } = yield* DeferQueue
  const longest = longestRetryMs(yield* MailerConfig)
  const end = (yield* uptime) + withinMs
  let isFirst = true
  const failed = new Set(event.Records.map(({ messageId }) => messageId))
  /** The first one is begun in any case: a function that has less time than a retry can take would never begin any. */
  const begin = (message: DeferredSend) =>
    Effect.flatMap(uptime, (now) => {
      const hasTime = end - now >= (isFirst ? 1 : longest)
      isFirst = false
      return hasTime ? handle(message) : putBack(message, 0)
    })
  const work = Effect.forEach(
    event.Records,
    ({ body, messageId }) =>
      Option.match(decodeDeferredSend(body), {
        onNone: () =>
          Effect.logWarning(`queued message ${messageId} cannot be read: it is left to become a dead letter`),
        onSome: (message) =>
          begin(message).pipe(
            Effect.andThen(Effect.sync(() => failed.delete(messageId))),
            Effect.catchCause((cause) =>
              Effect.logWarning("a queued message was not handled: it is received again", cause)
            )
          )
      }),
    { concurrency: RETRIES_AT_ONCE, discard: true }
  )
  // What is left over may still put something back: at the time's end that is a matter of milliseconds.
  yield* Effect.timeoutOption(work, Math.max(withinMs, PUT_BACK_MS))
  return {
    batchItemFailures: Array.from(failed, (itemIdentifier) => ({ itemIdentifier }))
  } satisfies QueueResult
})
