import { Clock, Effect, Metric } from "effect"

import { CLOCK_LIMIT_MS } from "../../domain/delivery/alarm-rules.ts"
import { AlarmBoard } from "../../ports/delivery/alarm-board.ts"
import { uptime } from "../uptime.ts"

/** How often a process compares its clock with the database's. */
export const CLOCK_INTERVAL = "1 minute"

const difference = Metric.gauge("postlane_clock_difference_seconds", {
  description: "This process's clock minus the database's, as of its last look."
})

const inWords = (ms: number): string => {
  const seconds = Math.round(Math.abs(ms) / 1000)
  return `${seconds} s ${ms > 0 ? "ahead of" : "behind"}`
}

/**
 * Compares this process's clock with the database's. One that is off by more than a minute says so in the log, and is noted for the alarm.
 * What the way there and back took is no difference.
 */
export const watchClock = Effect.fnUntraced(function* (process: string) {
  const board = yield* AlarmBoard
  const own = yield* Clock.currentTimeMillis
  const before = yield* uptime
  const theirs = yield* board.clock
  const tookMs = (yield* uptime) - before
  const ms = own + tookMs / 2 - theirs
  yield* Metric.update(difference, ms / 1000)
  if (Math.abs(ms) - tookMs / 2 <= CLOCK_LIMIT_MS) return
  yield* Effect.logError(
    `CLOCK_OFF this process's clock is ${inWords(ms)} the database's: links and mails with an expiry go by it, webhooks and signed requests may be refused`
  ).pipe(Effect.annotateLogs({ process, differenceMs: Math.round(ms) }))
  yield* board.noteClock({ process, differenceMs: ms })
})
