import { Context, type Effect } from "effect"

import type { DeferredSend } from "../../domain/mail/deferred-send.ts"
import { StoreUnavailable } from "../store-unavailable.ts"

/** The error of a message that is too large for the queue: a retry gives the same. */
export const tooLargeToQueue = (): StoreUnavailable =>
  new StoreUnavailable({
    operation: "enqueue",
    reason: "The message is too large to be queued",
    isRetryable: false
  })

/** A message that was received three times without being handled, or that cannot be read. */
export interface DeadLetter {
  readonly id: string
  /** ISO 8601. */
  readonly diedAt: string | null
  readonly receives: number
  /** Why it died, where the queue knows. */
  readonly reason: string | null
  /** The message, where it can be read. */
  readonly message: DeferredSend | null
}

/** A dead letter as people may see it: without the content of the mail. */
export const withoutContent = ({ diedAt, id, message, reason, receives }: DeadLetter) => ({
  id,
  diedAt,
  receives,
  reason,
  idempotencyKey: message?.details.idempotencyKey ?? null,
  provider: message?.request.provider ?? null,
  to: message?.details.to ?? null,
  subject: message?.details.subject ?? null
})

/**
 * The delayed retry queue (MAIL-50 to MAIL-55). At-least-once delivery, in no order. A received message stays hidden while
 * its handler works (the adapter keeps extending it), is deleted when the handler succeeds, and reappears after the
 * visibility time when the handler fails or its process dies; after {@link MAX_RECEIVES} receives it is a dead letter. A
 * handler that is interrupted (shutdown) returns its message at once where the queue supports it.
 */
export class DeferQueue extends Context.Service<
  DeferQueue,
  {
    /** False where there is no queue: an ambiguous send then ends `failed`. */
    readonly configured: boolean
    /** Durable once it succeeds. Over about 250 KB it fails before anything is sent, with {@link tooLargeToQueue}. */
    readonly enqueue: (message: DeferredSend, delaySeconds: number) => Effect.Effect<void, StoreUnavailable>
    /**
     * For a handler that has not begun its work, since something else was away: makes the message that it holds due again after
     * the delay, and no receive counts. Durable once it succeeds; the handler succeeds then, and what it held is gone.
     */
    readonly putBack: (message: DeferredSend, delaySeconds: number) => Effect.Effect<void, StoreUnavailable>
    /** Runs for ever: receives, hands each message to the handler, several at a time. Fails only when the queue fails. */
    readonly consume: <E, R>(
      handler: (message: DeferredSend) => Effect.Effect<void, E, R>,
      options: { readonly concurrency: number }
    ) => Effect.Effect<never, StoreUnavailable, R>
    /** Whether some process consumes this queue now, to within a minute; undefined where the queue cannot say (SQS). */
    readonly isConsumed: Effect.Effect<boolean | undefined, StoreUnavailable>
    readonly deadLetters: (options: {
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<DeadLetter>, StoreUnavailable>
    /** Requeues a dead letter, due now and with its receive count reset; false when the id is unknown. */
    readonly redrive: (id: string) => Effect.Effect<boolean, StoreUnavailable>
    /** Removes a dead letter that cannot be read: no redrive helps it. False when the id is unknown or its letter can be read, which stays. */
    readonly removeUnreadable: (id: string) => Effect.Effect<boolean, StoreUnavailable>
    /** Fails where the queue does not answer: for readiness. */
    readonly check: Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/ports/DeferQueue") {}
