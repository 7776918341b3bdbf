import type { Duration } from "effect"

import { type JobOptions, moveJob } from "../../../domain/conversion/job.ts"
import type { JobId } from "../../../domain/ids.ts"
import { refreshHold } from "../accounts/funds.ts"
import { chunksOf, showProgress } from "../conversion/jobs.ts"
import type { BatchRow, JobRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { closeBatchRow } from "./owner-acts.ts"

/** Jobs that wait in the lane, the oldest first. */
export const waitingJobs = (db: Documents): ReadonlyArray<JobRow> =>
  db.jobs.where(({ status }) => status === "waiting_batch").sort(by(({ createdAt }) => createdAt))

/** `resume_batch_conversion_job`: a parked job is converted on demand; true for the one call that did it. */
export const resumeJob = (
  db: Documents,
  jobId: JobId,
  patch: JobOptions,
  window: Duration.Duration
): boolean => {
  const job = db.jobs.get(jobId)
  const status = job && moveJob(job.status, "resume")
  if (job === undefined || status === undefined) return false
  db.jobs.update(jobId, { status, options: { ...job.options, ...patch } })
  for (const chunk of chunksOf(db, jobId))
    if (chunk.status === "waiting_batch")
      db.chunks.update(chunk.id, { status: "pending", notBefore: db.moment() })
  showProgress(db, jobId)
  refreshHold(db, jobId, window)
  return true
}

/** `make_conversion_job_interactive`: Process now. A job with a closed row is resumed by the driver. */
export const makeInteractive = (
  db: Documents,
  jobId: JobId,
  window: Duration.Duration
): "resumed" | "closed" | "not_waiting" => {
  if (db.jobs.get(jobId)?.status !== "waiting_batch") return "not_waiting"
  if (closeBatchRow(db, jobId, "user chose interactive") === "closed") return "closed"
  resumeJob(db, jobId, {}, window)
  return "resumed"
}

interface Limits {
  readonly giveUpIn: Duration.Duration
  readonly stuckAfter: Duration.Duration
  readonly slack: Duration.Duration
  readonly window: Duration.Duration
}

const LATE = "it was not done in time"

/** `overdue_batch_reason`: why a parked job need not wait any longer. */
const overdueReason = (
  db: Documents,
  job: JobRow,
  row: BatchRow | undefined,
  { giveUpIn, slack, stuckAfter }: Limits
): string | undefined => {
  const now = db.moment()
  if (row === undefined || row.state === "preparing") {
    if (job.createdAt <= now - micros(giveUpIn)) return LATE
    const isStuck =
      row !== undefined &&
      Math.max(row.prepareStartedAt, row.fullAt ?? -Infinity) <= now - micros(stuckAfter) - micros(slack)
    return isStuck ? "preparing it got stuck" : undefined
  }
  const isLate = row.deadlineAt !== null && row.deadlineAt <= now - micros(slack)
  return row.state === "submitted" && isLate ? LATE : undefined
}

/** `release_overdue_batch_job`: resumes one job that has waited too long, whatever the batch service says. */
export const releaseOverdue = (db: Documents, limits: Limits): JobId | undefined => {
  for (const job of waitingJobs(db)) {
    const reason = overdueReason(db, job, db.batches.get(job.id), limits)
    if (reason === undefined || closeBatchRow(db, job.id, reason) === "closed") continue
    resumeJob(db, job.id, {}, limits.window)
    return job.id
  }
  return undefined
}
