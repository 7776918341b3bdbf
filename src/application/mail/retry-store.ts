import { Effect, Schedule } from "effect"

import { noAnswer, type StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import type { SendParts } from "./sending.ts"

/** How often a store that does not take what a retry has to leave with it is asked again. */
const ASK_AGAIN = "5 seconds"

/** One call of the store, in the time that it has. */
export const bounded = <A>(
  { config }: SendParts,
  operation: string,
  call: Effect.Effect<A, StoreUnavailable>
): Effect.Effect<A, StoreUnavailable> =>
  withDeadline(call, {
    duration: config.dbTimeoutMs,
    onTimeout: () => Effect.fail(noAnswer(operation, `${config.dbTimeoutMs} ms`))
  })

/** Repeats a call for as long as its store is away: what it says after that is the answer. */
export const untilAnswered = <A>(
  what: string,
  call: Effect.Effect<A, StoreUnavailable>
): Effect.Effect<A, StoreUnavailable> =>
  Effect.suspend(() => {
    let isSaid = false
    return call.pipe(
      Effect.tapError((error) => {
        if (isSaid || !error.isRetryable) return Effect.void
        isSaid = true
        return Effect.logWarning(`a retry cannot ${what} yet: tried until the store answers`, error)
      }),
      Effect.retry({ schedule: Schedule.spaced(ASK_AGAIN), while: ({ isRetryable }) => isRetryable })
    )
  })

/** How often an acceptance is written again: for 10 minutes. */
const ACCEPTANCE = Schedule.spaced(ASK_AGAIN).pipe(Schedule.upTo({ times: 120 }))

/**
 * Writes the row and returns the lease. An acceptance is never repeated for the sake of its row: a message that came back after a
 * process died would be sent again, so that it waits for no longer than an outage mostly lasts. Any other outcome waits here until the
 * store takes it: a message that came back without it would cost an attempt that the schedule does not have.
 */
export const recordRetry = (
  parts: SendParts,
  row: Parameters<SendParts["store"]["record"]>[0]
): Effect.Effect<void, StoreUnavailable> => {
  if (!parts.store.configured) return Effect.void
  const write = bounded(parts, "record", Effect.asVoid(parts.store.record(row)))
  return row.outcome === "sent"
    ? write.pipe(
        Effect.retry({ schedule: ACCEPTANCE, while: ({ isRetryable }) => isRetryable }),
        Effect.catch((error) =>
          Effect.logError(
            "a retry was accepted, but its row could not be written: the log shows it as deferred until an event settles it",
            error
          )
        )
      )
    : untilAnswered("write its row", write)
}
