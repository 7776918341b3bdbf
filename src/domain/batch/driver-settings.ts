import { Duration } from "effect"

import type { ModelPrice } from "../conversion/cost.ts"
import { HOLD_WINDOW } from "../conversion/job.ts"
import type { BatchLimits } from "./shards.ts"

/** How the driver works (document 3, "Flags"). */
export interface DriverSettings {
  /** This process, as the rows that it prepares know it. */
  readonly preparer: string
  readonly model: string
  readonly price: ModelPrice
  readonly limits: BatchLimits
  /** `BATCH_CONVERSION_TIMEOUT_HOURS`, clamped. */
  readonly timeoutHours: number
  /** `BATCH_CONVERSION_POLL_SECONDS`. */
  readonly pollEvery: Duration.Duration
}

/** After a batch job's time-out, before the driver gives up on it. */
export const GRACE = Duration.hours(2)

/** A prepare that takes longer is stuck. */
export const STUCK_AFTER = Duration.hours(2)

/** Collects of one batch job, at most. */
export const MAX_COLLECTS = 5

/** Rows of one tick. */
export const POLLS_A_TICK = 200

/** What a poll or a preparer that are slow have to see to a job by themselves, before it is taken from them. */
export const RELEASE_SLACK = Duration.minutes(5)

/** From its creation until a job has waited for long enough; a batch job is given up on then. */
export const giveUpIn = ({ timeoutHours }: Pick<DriverSettings, "timeoutHours">): Duration.Duration =>
  Duration.sum(Duration.hours(timeoutHours), GRACE)

/** How long funds stay set aside while a job waits: time-out, grace and the on-demand window after them. */
export const waitingWindow = (settings: Pick<DriverSettings, "timeoutHours">): Duration.Duration =>
  Duration.sum(giveUpIn(settings), HOLD_WINDOW)
