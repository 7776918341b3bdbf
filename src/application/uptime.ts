import { Clock, Effect } from "effect"

/**
 * Milliseconds on a monotonic clock: it advances while the process is frozen, and changes of the machine's clock do not move it.
 * Waits, leases and pauses are measured on it; the time of day is for what people and other machines read.
 */
export const uptime: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6
)
