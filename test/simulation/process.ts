import { Clock, Context, Deferred, Duration, Effect, Fiber } from "effect"

import { type Chance, type SimClock, sleepOn } from "./kernel.ts"

/** A simulated operating-system process: it can be killed and frozen; what it asks of the outside goes through `call`. */
export interface SimProcess {
  readonly id: string
  dead: boolean
  frozenUntil: number
  diedAt: number
  /** Each time that it stood still. */
  readonly freezes: Array<{ readonly from: number; readonly until: number }>
  /** Completes when the process dies: what its clients see. */
  readonly died: Deferred.Deferred<void>
  /** How far its time of day is ahead of everybody's, milliseconds; what it measures by the monotonic clock stays right. */
  skewMs: number
  /** The time that it sees: while it is frozen none of its timers fires, and once it is dead none ever does. */
  readonly clock: SimClock
  /** The time of the world outside it. */
  readonly base: SimClock
}

export const makeProcess = (id: string, base: SimClock): SimProcess => {
  const after: SimClock["after"] = (millis, wake) => {
    const fire = () => {
      if (process.dead) return
      const left = process.frozenUntil - base.currentTimeMillisUnsafe()
      if (left > 0) base.after(left, fire)
      else wake()
    }
    base.after(millis, fire)
  }
  const ofDay = () => base.currentTimeMillisUnsafe() + process.skewMs
  const process: SimProcess = {
    id,
    dead: false,
    frozenUntil: 0,
    diedAt: Infinity,
    freezes: [],
    skewMs: 0,
    died: Deferred.makeUnsafe<void>(),
    base,
    clock: {
      ...base,
      currentTimeMillisUnsafe: ofDay,
      currentTimeMillis: Effect.sync(ofDay),
      after,
      sleep: sleepOn(after)
    }
  }
  return process
}

/** One of the processes that live. */
export const pickAlive = <P extends SimProcess>(chance: Chance, processes: ReadonlyArray<P>): P =>
  chance.pick(processes.filter(({ dead }) => !dead))

/** The answers that one call or one handling of a message has got: travels with its fibers. */
export const CallTrace = Context.Reference<{
  /** When the database last let it send its key, milliseconds. */
  askedAt: number
  /** Whether the database ever did. */
  claimed: boolean
  /** The mail that it is about. */
  readonly subject: string | undefined
}>("postlane/test/CallTrace", {
  defaultValue: () => ({ askedAt: -Infinity, claimed: false, subject: undefined })
})

/** Gives each run of an effect a trace of its own. */
export const traced = <A, E, R>(run: Effect.Effect<A, E, R>, subject?: string): Effect.Effect<A, E, R> =>
  Effect.suspend(() => Effect.provideService(run, CallTrace, { askedAt: -Infinity, claimed: false, subject }))

/** Notes in the trace when the database answered a call: what it knew by then, its caller goes by. */
export const noted = <A, E, L>(
  clock: SimClock,
  apply: Effect.Effect<A, E>,
  road: (apply: Effect.Effect<A, E>) => Effect.Effect<A, L>
): Effect.Effect<A, L> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const trace = Context.get(context, CallTrace)
    trace.askedAt = -Infinity
    let at = -Infinity
    const applied = Effect.map(apply, (answer) => {
      at = clock.currentTimeMillisUnsafe()
      return answer
    })
    return Effect.map(road(applied), (answer) => {
      trace.askedAt = at
      trace.claimed = true
      return answer
    })
  })

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
  /** Nothing is lost, but the request is on its way for so long, whether or not its caller lives and waits. */
  readonly lateMs?: number | undefined
  /** Called with each request or answer that is lost. */
  readonly onLost?: () => void
}

/** How long the process stays frozen; infinite where it is dead (SIGKILL runs no finalizers). */
const frozenFor = ({ base, dead, frozenUntil }: SimProcess): number =>
  dead ? Infinity : frozenUntil - base.currentTimeMillisUnsafe()

/** Waits while the process is frozen; never returns where it is dead. */
export const alive = (process: SimProcess): Effect.Effect<void> =>
  Effect.suspend(() => {
    const left = frozenFor(process)
    return left > 0 ? process.clock.sleep(Duration.millis(left)) : Effect.void
  })

/** Goes on as `next` says, after so long by the clock of the process. */
const wait = <A, E>(
  { clock }: SimProcess,
  millis: number,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Number.isFinite(millis)
    ? Effect.callback<A, E>((resume) => clock.after(millis, () => resume(next())))
    : Effect.never

/**
 * Does work again and again, `pause` milliseconds after it has ended. Where nothing is due it is not begun: its answer would
 * change nothing, and most of a run would be such answers.
 */
export const repeatedly = <A, E, R>(
  process: SimProcess,
  pause: () => number,
  work: Effect.Effect<A, E, R>,
  isDue: () => boolean = () => true
): Effect.Effect<never, never, R> => {
  const untilDue = Effect.callback<void>((resume) => {
    const look = () => {
      if (isDue()) resume(Effect.void)
      else if (!over) process.clock.after(pause(), look)
    }
    let over = false
    process.clock.after(pause(), look)
    return Effect.sync(() => void (over = true))
  })
  return Effect.forever(Effect.andThen(untilDue, Effect.exit(work)))
}

/** Where something is due, and each tenth time anyway: not all that may be due is seen from outside. */
export const orNowAndThen = (isDue: () => boolean): (() => boolean) => {
  let looks = 0
  return () => isDue() || ++looks % 10 === 0
}

/** What befalls a process at a moment; undefined where nothing does, which costs no step of a fiber. */
type Strike = () => Effect.Effect<void> | undefined

const struckFirst = <A, E>(
  strike: Strike | undefined,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const struck = strike?.()
  return struck === undefined ? next() : Effect.flatMap(struck, next)
}

/** A request that is late: it arrives whatever became of its caller, which is answered where it still waits. */
const late = <A, E>(process: SimProcess, lateMs: number, apply: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const arrives = Effect.callback<void>((resume) => process.base.after(lateMs, () => resume(Effect.void)))
  return Effect.flatMap(Effect.forkDetach(Effect.andThen(arrives, apply)), (request) =>
    Effect.andThen(alive(process), Effect.andThen(Fiber.await(request), alive(process))).pipe(
      Effect.andThen(Fiber.join(request))
    )
  )
}

/**
 * One call from a process to the outside: latency, loss before and after it takes effect, death and freezing at each point.
 * `apply` runs at once and as a whole, as a transaction does, on the time of the world outside; `strike` just before it and,
 * where it succeeds, just after.
 */
export const call = <A, E, L>(
  process: SimProcess,
  chance: Chance,
  road: Road,
  work: Effect.Effect<A, E>,
  lost: () => L,
  strike?: Strike
): Effect.Effect<A, E | L> => {
  const apply = Effect.provideService(work, Clock.Clock, process.base)
  if (road.lateMs !== undefined) return Effect.andThen(alive(process), late(process, road.lateMs, apply))
  const hang = () => {
    road.onLost?.()
    return wait(process, road.lostAfterMs, () => Effect.fail(lost()))
  }
  const answered = (answer: Effect.Effect<A, E>): Effect.Effect<A, E | L> =>
    wait<A, E | L>(process, chance.int(1, 20), () => (chance.bool(road.responseLost) ? hang() : answer))
  const applied = (): Effect.Effect<A, E | L> =>
    Effect.matchCauseEffect(apply, {
      onFailure: (cause) => answered(Effect.failCause(cause)),
      onSuccess: (answer) => struckFirst(strike, () => answered(Effect.succeed(answer)))
    })
  const arrived = () => (chance.bool(road.requestLost) ? hang() : struckFirst(strike, applied))
  const requestTakes = () => (chance.bool(road.slow) ? chance.int(1, road.slowMs) : chance.int(1, 30))
  return Effect.callback<A, E | L>((resume) => {
    const { clock, dead } = process
    if (dead) return
    const send = () => clock.after(requestTakes(), () => resume(arrived()))
    const left = frozenFor(process)
    if (left > 0) clock.after(left, send)
    else send()
  })
}
