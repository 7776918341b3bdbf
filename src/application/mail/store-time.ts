import { Clock, Effect } from "effect"

import { uptime } from "../uptime.ts"

/**
 * A moment of the store's clock. How old a key is and when its retry is due are judged by that clock alone, which all processes
 * share: a machine that boots before its time is set may be a day off.
 */
export interface StoreTime {
  /** Milliseconds of the store's clock. */
  readonly at: number
  /** When the store said so, on the monotonic clock of this process. */
  readonly heardAt: number
}

/** What the store has just said. */
export const heard = (at: number): Effect.Effect<StoreTime> =>
  Effect.map(uptime, (heardAt) => ({ at, heardAt }))

/** What the store's clock shows now; the process's own clock where the store has said nothing. */
export const storeNow = (time: StoreTime | undefined): Effect.Effect<number> =>
  time === undefined
    ? Clock.currentTimeMillis
    : Effect.map(uptime, (now) => Math.floor(time.at + now - time.heardAt))
