import { type JobOptions, usesCascade } from "../conversion/options.ts"

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
