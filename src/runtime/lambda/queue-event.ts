import { Effect, Option, Schema } from "effect"

import { decodeDeferredSend } from "../../domain/mail/deferred-send.ts"
import { RetryHandler } from "../../domain/mail/retry.ts"

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

export const decodeQueueEvent = Schema.decodeUnknownOption(QueueEvent)

/** What it takes as the answer: these messages come back, the others are deleted (`ReportBatchItemFailures`). */
export interface QueueResult {
  readonly batchItemFailures: ReadonlyArray<{ readonly itemIdentifier: string }>
}

/** Retries in progress at once. */
const CONCURRENCY = 8

/**
 * Handles deferred sends (MAIL-51 to MAIL-56). A message that cannot be read, whose handling fails or that does not end in
 * time is left to the queue: it is received again, and after its third receive it is a dead letter.
 */
export const handleQueue = Effect.fn("lambda.queue")(function* (event: QueueEvent, withinMs: number) {
  const { handle } = yield* RetryHandler
  const failed = new Set(event.Records.map(({ messageId }) => messageId))
  const work = Effect.forEach(
    event.Records,
    ({ body, messageId }) =>
      Option.match(decodeDeferredSend(body), {
        onNone: () =>
          Effect.logWarning(`queued message ${messageId} cannot be read: it is left to become a dead letter`),
        onSome: (message) =>
          handle(message).pipe(
            Effect.andThen(Effect.sync(() => failed.delete(messageId))),
            Effect.catchCause((cause) =>
              Effect.logWarning("a queued message was not handled: it is received again", cause)
            )
          )
      }),
    { concurrency: CONCURRENCY, discard: true }
  )
  yield* Effect.timeoutOption(work, withinMs)
  return {
    batchItemFailures: Array.from(failed, (itemIdentifier) => ({ itemIdentifier }))
  } satisfies QueueResult
})
