import { Effect } from "effect"

import type { DeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import type { Chance, SimClock } from "../kernel.ts"
import type { Road, SimProcess } from "../process.ts"

const HOUR_MS = 60 * 60_000

/** A time without the store. */
interface Outage {
  readonly from: number
  readonly until: number
  /** A refused connection fails at once; a silent one never answers. */
  readonly isSilent: boolean
  /** Reads go on, and nothing can be written. */
  readonly isFullDisk: boolean
}

/** What befalls the store and the clocks for minutes at a time. It has a chance of its own: leaving it out moves nothing else. */
export interface Weather {
  readonly outages: ReadonlyArray<Outage>
  /** The time of day of the database, which an operator or a fail-over may step. */
  readonly databaseClock: SimClock
  /** How far the database's clock is off by now, milliseconds. */
  readonly databaseSkewMs: () => number
  /** The road to the store as it is for this process at this moment; `writes`: whether the operation needs to write. */
  readonly roadToStore: (process: SimProcess, usual: Road, writes: boolean) => Road
  /** From now on every call of this process to the store hangs, for a while: the connection is half open. */
  readonly halfOpen: (process: SimProcess) => void
  /** Brings the outages about, and the steps of the database's clock. */
  readonly run: Effect.Effect<void>
}

export interface WeatherOptions {
  readonly chance: Chance
  readonly clock: SimClock
  readonly happens: (
    fault: "store is away" | "store is late" | "disk is full" | "connections are half open" | "clocks step"
  ) => boolean
  readonly isCalm: () => boolean
  readonly saw: (what: string) => void
  readonly note: (words: () => string) => void
  readonly roughMs: number
  /** The retry queue where it is in the same database; it is away when that is. */
  readonly queue: DeferBroker | undefined
}

const planOutages = (
  { chance, roughMs }: WeatherOptions,
  happens: (isFullDisk: boolean) => boolean
): ReadonlyArray<Outage> =>
  Array.from({ length: chance.int(0, 3) }, () => {
    const from = chance.int(60_000, Math.max(60_001, roughMs - 60_000))
    const until = from + chance.int(20_000, 480_000)
    return { from, until, isSilent: chance.bool(0.4), isFullDisk: chance.bool(0.25) }
  }).filter(({ isFullDisk }) => happens(isFullDisk))

/** The weather of a run: planned at its begin, so that clients can call around an outage. */
export const makeWeather = (options: WeatherOptions): Weather => {
  const { chance, clock, happens, isCalm, note, saw } = options
  const now = () => clock.currentTimeMillisUnsafe()
  const outages = planOutages(options, (isFullDisk) => happens(isFullDisk ? "disk is full" : "store is away"))
  const halfOpenUntil = new Map<string, number>()
  const step = {
    at: chance.int(0, options.roughMs),
    byMs: chance.pick([-HOUR_MS, -120_000, 120_000, HOUR_MS]),
    happens: chance.bool(0.15) && happens("clocks step")
  }
  let skewMs = 0
  const ofDay = () => now() + skewMs

  const outageNow = () =>
    isCalm() ? undefined : outages.find(({ from, until }) => from <= now() && now() < until)
  const run = Effect.gen(function* () {
    if (step.happens)
      yield* Effect.forkDetach(
        Effect.gen(function* () {
          yield* Effect.sleep(step.at)
          skewMs = step.byMs
          saw("database's clock steps")
          note(() => `the database's clock steps by ${step.byMs / 1000} s`)
        })
      )
    for (const { from, isFullDisk, isSilent, until } of outages)
      yield* Effect.forkDetach(
        Effect.gen(function* () {
          yield* Effect.sleep(from)
          saw(isFullDisk ? "disk is full" : "store is away")
          note(() => `the store ${isFullDisk ? "can write nothing" : isSilent ? "is silent" : "is away"}`)
          if (!isFullDisk) yield* options.queue?.setAnswering(false) ?? Effect.void
          yield* Effect.sleep(until - from)
          note(() => "the store is back")
          if (outageNow() === undefined) yield* options.queue?.setAnswering(true) ?? Effect.void
        })
      )
  })

  return {
    outages,
    databaseClock: { ...clock, currentTimeMillisUnsafe: ofDay, currentTimeMillis: Effect.sync(ofDay) },
    databaseSkewMs: () => skewMs,
    run,
    halfOpen: (process) => {
      if (!happens("connections are half open")) return
      saw("connection is half open")
      halfOpenUntil.set(process.id, now() + chance.int(30_000, 300_000))
    },
    roadToStore: (process, usual, writes) => {
      if (isCalm()) return usual
      const outage = outageNow()
      if (outage !== undefined && (!outage.isFullDisk || writes))
        return { ...usual, requestLost: 1, slow: 0, lostAfterMs: outage.isSilent ? Infinity : 5 }
      if (now() < (halfOpenUntil.get(process.id) ?? 0))
        return { ...usual, requestLost: 0.5, responseLost: 1, lostAfterMs: Infinity }
      if (chance.bool(0.03) && happens("store is late")) {
        saw("store is late")
        return { ...usual, lateMs: chance.int(2_600, 40_000) }
      }
      return usual
    }
  }
}
