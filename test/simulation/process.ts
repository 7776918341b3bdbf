import { Clock, Context, Deferred, Duration, Effect } from "effect"

import type { Chance } from "./kernel.ts"

/** A simulated operating-system process: it can be killed and frozen; what it asks of the outside goes through `call`. */
export interface SimProcess {
  readonly id: string
  dead: boolean
  frozenUntil: number
  /** Completes when the process dies: what its clients see. */
  readonly died: Deferred.Deferred<void>
}

export const makeProcess = (id: string): SimProcess => ({
  id,
  dead: false,
  frozenUntil: 0,
  died: Deferred.makeUnsafe<void>()
})

/** The answers that one call or one handling of a message has got: travels with its fibers. */
export const CallTrace = Context.Reference<{
  /** When the database last let it send its key, milliseconds. */
  askedAt: number
}>("postlane/test/CallTrace", { defaultValue: () => ({ askedAt: -Infinity }) })

/** Gives each run of an effect a trace of its own. */
export const traced = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => Effect.provideService(run, CallTrace, { askedAt: -Infinity }))

/** How unreliable a road is. Probabilities per call; times in milliseconds. */
export interface Road {
  /** The request is lost: nothing happens on the other side. */
  readonly requestLost: number
  /** It happens, and the answer is lost. */
  readonly responseLost: number
  readonly slow: number
  readonly slowMs: number
  /** How long a lost call takes to fail; Infinity: it never does, the caller's own deadline has to. */
  readonly lostAfterMs: number
}

/** Waits while the process is frozen; never returns where it is dead (SIGKILL runs no finalizers). */
export const alive = (process: SimProcess): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (process.dead) return yield* Effect.never
    const now = yield* Clock.currentTimeMillis
    if (process.frozenUntil > now) {
      yield* Effect.sleep(process.frozenUntil - now)
      return yield* alive(process)
    }
  })

/**
 * One call from a process to the outside: latency, loss before and after it takes effect, death and freezing at each point.
 * `apply` runs at once and as a whole, as a transaction does.
 */
export const call = <A, E, L>(
  process: SimProcess,
  chance: Chance,
  road: Road,
  apply: Effect.Effect<A, E>,
  lost: () => L
): Effect.Effect<A, E | L> =>
  Effect.gen(function* () {
    const hang = Number.isFinite(road.lostAfterMs)
      ? Effect.andThen(Effect.sleep(road.lostAfterMs), Effect.failSync(lost))
      : Effect.never
    yield* alive(process)
    yield* Effect.sleep(chance.bool(road.slow) ? chance.int(1, road.slowMs) : chance.int(1, 30))
    yield* alive(process)
    if (chance.bool(road.requestLost)) return yield* hang
    const result = yield* Effect.exit(apply)
    yield* Effect.sleep(chance.int(1, 20))
    yield* alive(process)
    if (chance.bool(road.responseLost)) return yield* hang
    return yield* result
  })

/** The clock that a process sees: while it is frozen none of its timers fires, and once it is dead none ever does. */
export const clockOf = (process: SimProcess, base: Clock.Clock): Clock.Clock => {
  const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
    Effect.andThen(
      base.sleep(duration),
      Effect.suspend(() => {
        if (process.dead) return Effect.never
        const left = process.frozenUntil - base.currentTimeMillisUnsafe()
        return left > 0 ? sleep(Duration.millis(left)) : Effect.void
      })
    )
  return {
    sleep,
    currentTimeMillisUnsafe: () => base.currentTimeMillisUnsafe(),
    currentTimeMillis: base.currentTimeMillis,
    currentTimeNanosUnsafe: () => base.currentTimeNanosUnsafe(),
    currentTimeNanos: base.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: base.monotonicTimeNanos
  }
}
