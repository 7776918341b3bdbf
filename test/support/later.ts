import { Clock, Duration, Effect } from "effect"

/** Runs an effect as if that much time had passed: its clock is ahead of the real one. */
export const later =
  (ahead: Duration.Input) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.Clock, (real) =>
      Effect.provideService(
        effect,
        Clock.Clock,
        clockAhead(real, () => Duration.toMillis(ahead))
      )
    )

/** A clock that is ahead of another by what `offsetMs` says at the moment; its monotonic time is the other one's, or `monotonic`. */
export const clockAhead = (
  real: Clock.Clock,
  offsetMs: () => number,
  monotonic: () => bigint = () => real.monotonicTimeNanosUnsafe()
): Clock.Clock => {
  const millis = () => real.currentTimeMillisUnsafe() + offsetMs()
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => real.currentTimeNanosUnsafe(),
    currentTimeNanos: real.currentTimeNanos,
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) => real.sleep(duration)
  }
}
