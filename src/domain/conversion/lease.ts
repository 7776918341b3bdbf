import { Clock, Duration, Effect, Result } from "effect"

import type { ConversionStoreError } from "../../ports/conversion-store.ts"
import { withDeadline } from "../deadline.ts"
import { LEASE_HEARTBEATS } from "./job.ts"

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
