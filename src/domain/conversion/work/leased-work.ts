import { Clock, Duration, Effect, Result, Option } from "effect"

import { FileObjects } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { withDeadline } from "../../deadline.ts"
import { LEASE_HEARTBEATS } from "../job.ts"

/**
 * Sends a heartbeat every interval, and returns once the lease is lost: the database says so (the work was cancelled, or handed
 * on), or has not confirmed it for most of a lease.
 */
export const untilLost = Effect.fnUntraced(function* (
  beat: Effect.Effect<boolean, StoreUnavailable>,
  interval: Duration.Duration
) {
  const every = Duration.toMillis(interval)
  const trusted = every * (LEASE_HEARTBEATS - 1)
  let heard = yield* Clock.currentTimeMillis
  let rest = trusted
  while (true) {
    yield* Effect.sleep(Math.min(every, rest))
    const asked = yield* Clock.currentTimeMillis
    // After an overlong sleep one more heartbeat is sent, with a time-out within the lease.
    const patience = Math.min(every, Math.max(heard + trusted - asked, every / 2))
    const answer = yield* Effect.result(
      withDeadline(beat, { duration: patience, onTimeout: () => Effect.fail("no answer" as const) })
    )
    if (Result.isSuccess(answer)) heard = asked
    if (Result.isSuccess(answer) ? !answer.success : asked - heard >= trusted) return
    rest = Math.max(0, heard + trusted - (yield* Clock.currentTimeMillis))
  }
})

/** How long claimed work is reserved without a heartbeat. */
export const staleAfter = (interval: Duration.Duration): Duration.Duration =>
  Duration.times(interval, LEASE_HEARTBEATS)

/** Time limit of the completion write at shutdown. */
const LAST_WORD = Duration.seconds(8)

/** Runs work while its lease holds; returns none, and interrupts the work, once it is lost. */
export const whileHeld = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  beat: Effect.Effect<boolean, StoreUnavailable>,
  interval: Duration.Duration
): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.raceFirst(Effect.map(work, Option.some), Effect.as(untilLost(beat, interval), Option.none<A>()))

/** Makes the completion write at shutdown, within a time limit; a failure is logged. */
export const lastWord = <A, R>(word: Effect.Effect<A, StoreUnavailable, R>): Effect.Effect<void, never, R> =>
  withDeadline(Effect.asVoid(word), { duration: LAST_WORD, onTimeout: () => Effect.void }).pipe(
    Effect.ignore({ log: true })
  )

/** Removes a result that is no longer needed; what cannot be removed now goes with its file's objects. */
export const dropResult = (key: string): Effect.Effect<void, never, FileObjects> =>
  Effect.flatMap(FileObjects, (objects) => Effect.ignore(objects.remove([key])))
