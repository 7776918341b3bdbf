import { Clock, Context, Deferred, Duration, Effect } from "effect"

import { type Chance, type SimClock, sleepOn } from "./kernel.ts"

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

/** A wait of a process: while it is frozen none of its timers fires, and once it is dead none ever does. */
const afterOf =
  (process: SimProcess, base: SimClock): SimClock["after"] =>
  (millis, wake) => {
    const fire = () => {
      if (process.dead) return
      const left = process.frozenUntil - base.currentTimeMillisUnsafe()
      if (left > 0) cancel = base.after(left, fire)
      else wake()
    }
    let cancel = base.after(millis, fire)
    return () => cancel()
  }

/** The clock that a process sees. */
export const clockOf = (process: SimProcess, base: SimClock): SimClock => {
  const after = afterOf(process, base)
  return { ...base, after, sleep: sleepOn(after) }
}

/** Every fiber of a simulation runs on the kernel's clock, or on that of its process. */
const clockIn = (context: Context.Context<never>) => Context.get(context, Clock.Clock) as SimClock

/** Waits while the process is frozen; never returns where it is dead (SIGKILL runs no finalizers). */
export const alive = (process: SimProcess): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    if (process.dead) return Effect.never
    const clock = clockIn(context)
    const left = process.frozenUntil - clock.currentTimeMillisUnsafe()
    if (left <= 0) return Effect.void
    return sleepOn(afterOf(process, clock))(Duration.millis(left))
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
  Effect.contextWith((context: Context.Context<never>) => {
    const after = afterOf(process, clockIn(context))
    /** Goes on as `next` says, after so long. */
    const wait = <B, F>(millis: number, next: () => Effect.Effect<B, F>) =>
      Effect.callback<B, F>((resume) => Effect.sync(after(millis, () => resume(next()))))
    const hang = () =>
      Number.isFinite(road.lostAfterMs) ? wait(road.lostAfterMs, () => Effect.fail(lost())) : Effect.never
    const applied = Effect.flatMap(Effect.exit(apply), (answer) =>
      wait(chance.int(1, 20), (): Effect.Effect<A, E | L> =>
        chance.bool(road.responseLost) ? hang() : answer
      )
    )
    const request = () =>
      wait(
        chance.bool(road.slow) ? chance.int(1, road.slowMs) : chance.int(1, 30),
        (): Effect.Effect<A, E | L> => (chance.bool(road.requestLost) ? hang() : applied)
      )
    return Effect.flatMap(alive(process), request)
  })
