import { Clock, Duration, Effect, Result, Option } from "effect"

import type { ConversionStoreError } from "../../../ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../ports/object-store.ts"
import { withDeadline } from "../../deadline.ts"
import { LEASE_HEARTBEATS } from "../job.ts"

/**
 * Tells every interval that work is alive, and ends when it is not this process's any more: the database says so (it was
 * cancelled, or handed on), or has not said that it is for most of a lease.
 */
export const untilLost = Effect.fnUntraced(function* (
  beat: Effect.Effect<boolean, ConversionStoreError>,
  interval: Duration.Duration
) {
  const every = Duration.toMillis(interval)
  const trusted = every * (LEASE_HEARTBEATS - 1)
  let heard = yield* Clock.currentTimeMillis
  let rest = trusted
  while (true) {
    yield* Effect.sleep(Math.min(every, rest))
    const asked = yield* Clock.currentTimeMillis
    // Whoever overslept asks once more, and is done within the lease even where that hangs.
    const patience = Math.min(every, Math.max(heard + trusted - asked, every / 2))
    const answer = yield* Effect.result(
      withDeadline(beat, { duration: patience, onTimeout: () => Effect.fail("no answer" as const) })
    )
    if (Result.isSuccess(answer)) heard = asked
    if (Result.isSuccess(answer) ? !answer.success : asked - heard >= trusted) return
    rest = Math.max(0, heard + trusted - (yield* Clock.currentTimeMillis))
  }
})

/** How long work that was claimed is left alone without a heartbeat. */
export const staleAfter = (interval: Duration.Duration): Duration.Duration =>
  Duration.times(interval, LEASE_HEARTBEATS)

/** How long telling an end may take when the program stops. */
const LAST_WORD = Duration.seconds(8)

/** Does work while its lease holds; none, and the work is ended, once it does not. */
export const whileHeld = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  beat: Effect.Effect<boolean, ConversionStoreError>,
  interval: Duration.Duration
): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.raceFirst(Effect.map(work, Option.some), Effect.as(untilLost(beat, interval), Option.none<A>()))

/** Says a last word when the program stops, if it can be said soon. */
export const lastWord = <A, R>(
  word: Effect.Effect<A, ConversionStoreError, R>
): Effect.Effect<void, never, R> =>
  withDeadline(Effect.asVoid(word), { duration: LAST_WORD, onTimeout: () => Effect.void }).pipe(
    Effect.ignore({ log: true })
  )

/** Removes a result that nobody waits for; what cannot be removed now goes with its file's objects. */
export const dropResult = (key: string): Effect.Effect<void, never, FileObjects> =>
  Effect.flatMap(FileObjects, (objects) => Effect.ignore(objects.remove([key])))
