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
  const trusted = Duration.toMillis(interval) * (LEASE_HEARTBEATS - 1)
  let heard = yield* Clock.currentTimeMillis
  while (true) {
    yield* Effect.sleep(interval)
    const asked = yield* Clock.currentTimeMillis
    const answer = yield* Effect.result(
      withDeadline(beat, { duration: interval, onTimeout: () => Effect.fail("no answer" as const) })
    )
    if (Result.isSuccess(answer)) heard = asked
    if (Result.isSuccess(answer) ? !answer.success : asked - heard >= trusted) return
  }
})

/** How long work that was claimed is left alone without a heartbeat. */
export const staleAfter = (interval: Duration.Duration): Duration.Duration =>
  Duration.times(interval, LEASE_HEARTBEATS)
