import { type Clock, Duration, Effect } from "effect"

/** Node's longest timer, milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

const NANOS_PER_MILLI = 1_000_000n

/** A clock that runs with real time and can be put forward. */
export interface ShiftedClock extends Clock.Clock {
  /** Puts it forward by this many milliseconds and ends the waits whose time has passed. */
  readonly advance: (ms: number) => void
}

/** Shows the time of day until it is put forward. Both of its times move, so that no wait is longer or shorter than what it shows. */
export const makeShiftedClock = (): ShiftedClock => {
  let shiftMs = 0
  const waiting = new Set<() => void>()
  const monotonic = () => process.hrtime.bigint() + BigInt(shiftMs) * NANOS_PER_MILLI
  const millis = () => Date.now() + shiftMs
  const nanos = () => BigInt(millis()) * NANOS_PER_MILLI

  const sleepMs = (ms: number): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      const due = monotonic() + BigInt(Math.ceil(ms)) * NANOS_PER_MILLI
      let timer: NodeJS.Timeout | undefined
      const forget = () => {
        clearTimeout(timer)
        waiting.delete(look)
      }
      const look = () => {
        clearTimeout(timer)
        const left = Number((due - monotonic()) / NANOS_PER_MILLI)
        if (left > 0) {
          timer = setTimeout(look, Math.min(left, MAX_TIMER_MS))
          return
        }
        forget()
        resume(Effect.void)
      }
      waiting.add(look)
      look()
      return Effect.sync(forget)
    })

  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) => {
      const ms = Duration.toMillis(duration)
      if (ms <= 0) return Effect.yieldNow
      return Number.isFinite(ms) ? sleepMs(ms) : Effect.never
    },
    advance: (ms) => {
      shiftMs += Math.ceil(ms)
      for (const look of waiting) look()
    }
  }
}
