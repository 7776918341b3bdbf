import { Context, Effect, type Scope } from "effect"

import type { DeferQueue } from "../../ports/mail/defer-queue.ts"
import { uptime } from "../uptime.ts"

/** How long a consumer that was seen counts as there, milliseconds. */
const TRUSTED_MS = 60_000

/** What this process knows of the consumers of its retry queue: one for all its mailers, so that it warns once. */
export const RetryWatch = Context.Reference<{
  /** When it last looked, by the monotonic clock, milliseconds. */
  lookedAt: number
  /** It has warned. */
  warned: boolean
}>("postlane/application/RetryWatch", {
  defaultValue: () => ({ lookedAt: Number.NEGATIVE_INFINITY, warned: false })
})

/** What the look needs of a send's parts. */
interface Watched {
  readonly queue: DeferQueue["Service"]
  readonly retryWatch: (typeof RetryWatch)["Service"]
  readonly scope: Scope.Scope
}

/**
 * Logs a warning, once a process, when a mail was deferred to a queue without a consumer: it is never tried again. Asks the queue after a
 * deferral only, in the background.
 */
export const watchRetries = ({ queue, retryWatch, scope }: Watched): Effect.Effect<void> =>
  Effect.flatMap(uptime, (now) => {
    if (retryWatch.warned || now - retryWatch.lookedAt < TRUSTED_MS) return Effect.void
    retryWatch.lookedAt = now
    return queue.isConsumed.pipe(
      Effect.flatMap((isConsumed) => {
        if (isConsumed !== false || retryWatch.warned) return Effect.void
        retryWatch.warned = true
        return Effect.logWarning(
          "a deferred mail waits, and no process makes retries: run `npx postlane serve` on this database, or pass `retry: true` to sendEmail in a process that stays"
        )
      }),
      Effect.catch((error) => {
        retryWatch.lookedAt = Number.NEGATIVE_INFINITY
        return Effect.logDebug("whether the retry queue has a consumer is not known", error)
      }),
      Effect.forkIn(scope),
      Effect.asVoid
    )
  })
