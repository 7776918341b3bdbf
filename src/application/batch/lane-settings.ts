import { Context, Duration } from "effect"

import type { ModelPrice } from "../../domain/cascade/cost.ts"
import { type JobOptions, usesCascade, HOLD_WINDOW } from "../../domain/conversion/job.ts"
import type { BatchLimits } from "./shards.ts"

/** Settings that decide on the batch lane when a job is created (BATCH-1). */
export interface LaneSettings {
  /** `BATCH_CONVERSION_ENABLED` is set, and so are a bucket and a role. */
  readonly on: boolean
  /** `BATCH_CONVERSION_MIN_PAGES`. */
  readonly minPages: number
  /** `BATCH_CONVERSION_MIN_RECORDS`: a job of fewer pages can never be batched. */
  readonly minRecords: number
}

/**
 * Whether a job goes through the batch lane (BATCH-2): hi-fi, through the cascade, and large or opted in by the bulk programme. A
 * free reflow counts like any other. One that has fewer pages than a batch job needs records is never batched, and does not wait.
 */
export const isEligible = (
  job: { readonly options: JobOptions; readonly totalPages: number },
  { minPages, minRecords, on }: LaneSettings
): boolean =>
  on &&
  usesCascade(job.options) &&
  job.totalPages >= minRecords &&
  (job.totalPages >= minPages || job.options._batchLane === true)

/** The status that a job and its chunks are created with. */
export const statusAtCreation = (
  job: { readonly options: JobOptions; readonly totalPages: number },
  lane: LaneSettings
): "waiting_batch" | "pending" => (isEligible(job, lane) ? "waiting_batch" : "pending")

/** The driver's settings. */
export interface DriverSettings {
  /** Identifies this process in the rows that it prepares. */
  readonly preparer: string
  readonly model: string
  readonly price: ModelPrice
  /** What models may cost a day; undefined: any amount. */
  readonly dailyBudgetUsd?: number | undefined
  readonly limits: BatchLimits
  /** `BATCH_CONVERSION_TIMEOUT_HOURS`, clamped. */
  readonly timeoutHours: number
  /** `BATCH_CONVERSION_POLL_SECONDS`. */
  readonly pollEvery: Duration.Duration
}

/** How long after a batch job's time-out the driver gives up on it. */
export const GRACE = Duration.hours(2)

/** A prepare that takes longer than this is stuck. */
export const STUCK_AFTER = Duration.hours(2)

/** Most collects of one batch job. */
export const MAX_COLLECTS = 5

/** Most rows that one tick polls. */
export const POLLS_A_TICK = 200

/** How long a slow poll or prepare still has to handle an overdue job itself, before the release tick takes it. */
export const RELEASE_SLACK = Duration.minutes(5)

/** How long after its creation a waiting job is released; its batch job is given up on then. */
export const giveUpIn = ({ timeoutHours }: Pick<DriverSettings, "timeoutHours">): Duration.Duration =>
  Duration.sum(Duration.hours(timeoutHours), GRACE)

/** `BATCH_CONVERSION_TIMEOUT_HOURS`, for those who tell owners how long their conversions wait at most. */
export const BatchTimeoutHours = Context.Reference<number>("postlane/application/BatchTimeoutHours", {
  defaultValue: () => 24
})

/** How long funds stay on hold while a job waits: time-out, grace and the on-demand window after them. */
export const waitingWindow = (settings: Pick<DriverSettings, "timeoutHours">): Duration.Duration =>
  Duration.sum(giveUpIn(settings), HOLD_WINDOW)
