import { Cause, Clock, Duration, Effect } from "effect"

import { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { describeCrash } from "./run-program.ts"

/** One line a minute about one trouble: what happens a thousand times has the same cause. */
const LINE_EVERY = 60_000_000_000n

/** A store that is away: one trouble of all that ask it. */
const STORES = "stores"

interface Trouble {
  /** When the last line was written. */
  at: bigint
  crashes: number
  /** Since the last line. */
  unlogged: number
  /** Everybody who had it, and who still has. */
  readonly all: Set<string>
  readonly still: Set<string>
}

const isStoreAway = (cause: Cause.Cause<unknown>): boolean => {
  const failure = Cause.findErrorOption(cause)
  return failure._tag === "Some" && failure.value instanceof StoreUnavailable && failure.value.isRetryable
}

/** A crash: the worker, the cause, and when the worker starts again. */
interface Crash {
  readonly name: string
  readonly cause: Cause.Cause<unknown>
  readonly delay: Duration.Duration
}

const lineOf = (key: string, { cause, delay, name }: Crash) => {
  const { stack, summary } = describeCrash(cause)
  return key === STORES
    ? Effect.logError(`a store does not answer, and what needs it is tried again until it does: ${summary}`)
    : Effect.logError(`${name} crashed: ${summary}. It runs again in ${Duration.format(delay)}`).pipe(
        Effect.annotateLogs({ stack })
      )
}

/**
 * The log lines of supervised fibers that crash: at once for the first crash, then one a minute with the number of repeats, and one
 * when it is over. A store that is away is one trouble of all who need it, or a minute without a database would be hundreds of lines.
 */
export const makeCrashLog = () => {
  const troubles = new Map<string, Trouble>()

  const crashed = Effect.fnUntraced(function* (crash: Crash) {
    const { cause, name } = crash
    const now = yield* Clock.monotonicTimeNanos
    const key = isStoreAway(cause) ? STORES : name
    const known = troubles.get(key)
    const trouble: Trouble = known ?? { at: now, crashes: 0, unlogged: 0, all: new Set(), still: new Set() }
    troubles.set(key, trouble)
    trouble.crashes += 1
    trouble.all.add(name)
    trouble.still.add(name)
    if (known !== undefined && now - known.at < LINE_EVERY) {
      trouble.unlogged += 1
      return
    }
    const repeats =
      known === undefined ? {} : { sinceLastLine: known.unlogged, parts: [...trouble.still].join(", ") }
    trouble.at = now
    trouble.unlogged = 0
    yield* Effect.annotateLogs(lineOf(key, crash), { supervisor: name, ...repeats })
  })

  const over = (name: string) =>
    [...troubles].filter(([, { still }]) => still.delete(name) && still.size === 0)

  /** It runs without a crash. */
  const gotOn = Effect.fnUntraced(function* (name: string) {
    for (const [key, { all, crashes }] of over(name)) {
      troubles.delete(key)
      yield* Effect.logInfo(
        key === STORES ? "what needs the store that was away runs again" : `${name} runs again`
      ).pipe(Effect.annotateLogs({ crashes, parts: [...all].join(", ") }))
    }
  })

  /** It is needed no more. */
  const ended = (name: string) =>
    Effect.sync(() => {
      for (const [key] of over(name)) troubles.delete(key)
    })

  return { crashed, gotOn, ended }
}
