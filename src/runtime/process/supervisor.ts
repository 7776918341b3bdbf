import {
  Cause,
  Clock,
  Context,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Metric,
  Random,
  type Scope
} from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { uptime } from "../../application/uptime.ts"
import type { WaitForBell } from "../../application/work-bell.ts"
import { makeCrashLog } from "./crash-log.ts"
import { describeCrash } from "./run-program.ts"

/** What a supervised fiber is doing: not yet run, at work, waiting to run again after a crash, or ended with its scope. */
type SupervisedState = "starting" | "running" | "restarting" | "stopped"

/** Where nothing wakes them, fibers wait for their whole time. */
const SLEEP: Effect.Effect<WaitForBell> = Effect.succeed(Effect.sleep)

/** One supervised fiber, as `/ready` shows it. */
export interface Supervised {
  readonly name: string
  readonly state: SupervisedState
  /** Crashes since it was started. */
  readonly restarts: number
  /** When its newest run (a ticking one: its newest tick) began, in milliseconds since 1970; null before the first. */
  readonly lastRunAt: number | null
  /** Its newest crash in one line; null where there was none. It stays after a recovery. */
  readonly lastError: string | null
}

/** A crash right after a start is tried again after this; every further one after twice the time … */
const BACKOFF_FIRST = Duration.millis(200)

/** … up to this. */
const BACKOFF_MAX = Duration.seconds(5)

/** Jitter: the share of the delay that may be taken off at random, so that fibers that crashed together restart apart. */
const JITTER = 0.2

/** A run that lasted this long was healthy: its crash resets the backoff. */
const HEALTHY_AFTER = Duration.minutes(1)

/** A run that lasted this long after a crash gets on: a store that does not answer is noticed before. */
const GETS_ON_AFTER = Duration.seconds(10)

/** How long a fiber may take to stop: to finish what it claimed, or to release it. */
const STOP_WITHIN = Duration.seconds(10)

interface Entry {
  readonly name: string
  state: SupervisedState
  restarts: number
  lastRunAt: number | null
  lastError: string | null
}

const newEntry = (name: string): Entry => ({
  name,
  state: "starting",
  restarts: 0,
  lastRunAt: null,
  lastError: null
})

/** The supervised fibers of this process. */
export class Supervisors extends Context.Service<
  Supervisors,
  {
    /** All of them, by name; stopped ones included. */
    readonly snapshot: Effect.Effect<ReadonlyArray<Supervised>>
    /** Enters a fiber that starts. Two running under one name are a bug, and a defect. */
    readonly enter: (name: string) => Effect.Effect<Entry>
    /** What they say in the log: one for all, so that a trouble that all have is said once. */
    readonly crashLog: ReturnType<typeof makeCrashLog>
  }
>()("postlane/runtime/Supervisors") {
  static readonly layer: Layer.Layer<Supervisors> = Layer.sync(Supervisors, () => {
    const entries = new Map<string, Entry>()
    return Supervisors.of({
      crashLog: makeCrashLog(),
      snapshot: Effect.sync(() =>
        [...entries.values()].map((entry) => ({ ...entry })).sort((a, b) => (a.name < b.name ? -1 : 1))
      ),
      enter: (name) =>
        Effect.tap(
          Effect.sync(() => {
            const there = entries.get(name)
            if (there !== undefined && there.state !== "stopped") {
              throw new Error(`Two supervised fibers are called ${name}`)
            }
            const entry = newEntry(name)
            entries.set(name, entry)
            return entry
          }),
          Metric.value(restartsTotal(name))
        )
    })
  })
}

const restartsTotal = (name: string) =>
  Metric.counter("postlane_supervisor_restarts_total", {
    description: "Crashes of supervised fibers, each followed by a restart.",
    incremental: true,
    attributes: { name }
  })

/** The delay before restart number `crashes` (from 1) since it was last healthy. */
const backoff = (crashes: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (chance) => {
    const full = Duration.min(Duration.times(BACKOFF_FIRST, 2 ** Math.min(crashes - 1, 10)), BACKOFF_MAX)
    return Duration.times(full, 1 - JITTER * chance)
  })

/** The time since a moment of the monotonic clock. */
const since = (start: number) => Effect.map(uptime, (now) => Duration.millis(now - start))

const beginRun = (entry: Entry) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    entry.state = "running"
    entry.lastRunAt = now
  })

/** Runs `run` forever: whenever it has failed, died or returned, it is restarted. Only interruption from outside ends it. */
const restartForEver = <E, R>(
  entry: Entry,
  crashLog: Supervisors["Service"]["crashLog"],
  run: Effect.Effect<unknown, E, R>
): Effect.Effect<never, never, R> =>
  Effect.gen(function* () {
    let crashes = 0
    const getsOn = Effect.andThen(Effect.sleep(GETS_ON_AFTER), crashLog.gotOn(entry.name))
    while (true) {
      const started = yield* uptime
      const watch = crashes === 0 ? undefined : yield* Effect.forkChild(getsOn)
      const exit = yield* Effect.exit(run)
      if (watch !== undefined) yield* Fiber.interrupt(watch)
      if (Duration.isGreaterThanOrEqualTo(yield* since(started), HEALTHY_AFTER)) crashes = 0
      const delay = yield* backoff(++crashes)
      const cause = Exit.isFailure(exit) ? exit.cause : Cause.die(new Error("It returned"))
      entry.state = "restarting"
      entry.restarts++
      entry.lastError = describeCrash(cause).summary
      yield* Metric.update(restartsTotal(entry.name), 1)
      yield* crashLog.crashed({ name: entry.name, cause, delay })
      yield* Effect.sleep(delay)
    }
  })

const stop = (entry: Entry, fiber: Fiber.Fiber<never>) =>
  withDeadline(Fiber.interrupt(fiber), {
    duration: STOP_WITHIN,
    onTimeout: () =>
      Effect.logWarning(
        `${entry.name} did not stop within ${Duration.format(STOP_WITHIN)}: the process ends without it, and leases take its work over`
      )
  }).pipe(Effect.andThen(Effect.sync(() => void (entry.state = "stopped"))))

const superviseEntry = <E, R>(name: string, makeRun: (entry: Entry) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const { crashLog, enter } = yield* Supervisors
    const entry = yield* enter(name)
    const run = Effect.annotateLogs(restartForEver(entry, crashLog, Effect.scoped(makeRun(entry))), {
      supervisor: name
    })
    yield* Effect.acquireRelease(Effect.forkDetach(run), (fiber) =>
      Effect.andThen(stop(entry, fiber), crashLog.ended(name))
    )
  })

/**
 * Starts `run` in a separate fiber, for as long as the scope is open, and starts it again when it crashes: after 200 ms, then
 * twice as long each time up to 5 s, with 20 % jitter; reset after a healthy minute. A crash is a failure, a defect or a return.
 * Each run has its own scope. Closing the scope interrupts it and waits for it, 10 s at most.
 */
export const supervise = <E, R>(
  name: string,
  run: Effect.Effect<unknown, E, R>
): Effect.Effect<void, never, Supervisors | Scope.Scope | Exclude<R, Scope.Scope>> =>
  superviseEntry(name, (entry) => Effect.andThen(beginRun(entry), run))

/**
 * As {@link supervise}, for work that is done again and again: one tick at once, then one every `interval`, measured from
 * the beginning of the one before. A tick never overlaps itself: where one takes longer, the next begins when it has ended,
 * and those it missed are left out. A tick that crashes is tried again after the backoff.
 */
export const superviseTicks = <E, R>(
  name: string,
  interval: Duration.Input,
  tick: Effect.Effect<unknown, E, R>,
  listen = SLEEP
): Effect.Effect<void, never, Supervisors | Scope.Scope | Exclude<R, Scope.Scope>> =>
  superviseTicksWithin(name, interval, tick, (ticks) => ticks, listen)

/**
 * As {@link superviseTicks}, where `within` decides when the row of ticks runs: it gets all of them as one effect that does
 * not end by itself, may interrupt it, and may run it again later, beginning with a tick at once.
 */
export const superviseTicksWithin = <E, R>(
  name: string,
  interval: Duration.Input,
  tick: Effect.Effect<unknown, E, R>,
  within: (
    ticks: Effect.Effect<never, E, Exclude<R, Scope.Scope>>
  ) => Effect.Effect<unknown, E, Exclude<R, Scope.Scope>>,
  listen = SLEEP
): Effect.Effect<void, never, Supervisors | Scope.Scope | Exclude<R, Scope.Scope>> => {
  const every = Duration.fromInputUnsafe(interval)
  return superviseEntry(name, (entry) => {
    const ticks = Effect.flatMap(listen, (wait) =>
      Effect.gen(function* () {
        const started = yield* uptime
        yield* beginRun(entry)
        yield* Effect.scoped(tick)
        yield* wait(Duration.max(Duration.zero, Duration.subtract(every, yield* since(started))))
      }).pipe(Effect.forever)
    )
    // A fiber that waits for its turn is healthy, too.
    return Effect.andThen(
      Effect.sync(() => void (entry.state = "running")),
      within(ticks)
    )
  })
}

/** {@link supervise} as a layer: the fiber lives as long as the layer, and ends before the layers that it uses. */
export const background = <E, R>(
  name: string,
  run: Effect.Effect<unknown, E, R>
): Layer.Layer<never, never, Supervisors | Exclude<R, Scope.Scope>> =>
  Layer.effectDiscard(supervise(name, run))

/**
 * Workers, numbered from 1: each does one piece of work after another. Without work it waits for `idle`, or until `listen` wakes it.
 */
export const workers = <E, R>(
  name: string,
  options: {
    readonly count: number
    readonly idle: Duration.Input
    readonly listen?: Effect.Effect<WaitForBell>
  },
  next: (slot: number) => Effect.Effect<boolean, E, R>
): Layer.Layer<never, never, Supervisors | Exclude<R, Scope.Scope>> =>
  Layer.mergeAll(
    Layer.empty,
    ...Array.from({ length: options.count }, (_, slot) =>
      background(
        `${name}-${slot + 1}`,
        Effect.flatMap(options.listen ?? SLEEP, (wait) =>
          Effect.forever(
            Effect.flatMap(next(slot + 1), (worked) => (worked ? Effect.void : wait(options.idle)))
          )
        )
      )
    )
  )

/** {@link superviseTicks} as a layer. */
export const ticking = <E, R>(
  name: string,
  interval: Duration.Input,
  tick: Effect.Effect<unknown, E, R>,
  listen = SLEEP
): Layer.Layer<never, never, Supervisors | Exclude<R, Scope.Scope>> =>
  Layer.effectDiscard(superviseTicks(name, interval, tick, listen))
