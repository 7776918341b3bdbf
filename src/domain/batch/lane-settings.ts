import { Duration } from "effect"

import type { ModelPrice } from "../conversion/cascade/cost.ts"
import { type JobOptions, usesCascade, HOLD_WINDOW } from "../conversion/job.ts"
import type { BatchLimits } from "./shards.ts"

/** What decides about the batch lane when a job is created (document 3, "Flags"). */
export interface LaneSettings {
  /** `BATCH_CONVERSION_ENABLED`, and a bucket and a role. */
  readonly on: boolean
  /** `BATCH_CONVERSION_MIN_PAGES`. */
  readonly minPages: number
}

/**
 * Whether a job goes through the batch lane (document 3, point 4): hi-fi, through the cascade, and large or opted in by the
 * bulk programme. A free reflow counts like any other.
 */
export const isEligible = (
  job: { readonly options: JobOptions; readonly totalPages: number },
  { minPages, on }: LaneSettings
): boolean =>
  on && usesCascade(job.options) && (job.totalPages >= minPages || job.options._batchLane === true)

/** The status that a job and its chunks are created with. */
export const statusAtCreation = (
  job: { readonly options: JobOptions; readonly totalPages: number },
  lane: LaneSettings
): "waiting_batch" | "pending" => (isEligible(job, lane) ? "waiting_batch" : "pending")

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
