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

/** A clock that is ahead of another by what `offsetMs` says at the moment. */
export const clockAhead = (real: Clock.Clock, offsetMs: () => number): Clock.Clock => {
  const millis = () => real.currentTimeMillisUnsafe() + offsetMs()
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => real.currentTimeNanosUnsafe(),
    currentTimeNanos: real.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration)
  }
}
