import { Duration } from "effect"

import { isWholeChunk } from "../../../application/cascade/whole-chunk.ts"
import { isTerminal, moveJob, usesCascade } from "../../../domain/conversion/job.ts"
import { refreshHold, releaseHold } from "../accounts/funds.ts"
import type { HoldRow, JobRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { showProgress, sumUsd, updateFile } from "./jobs.ts"
import { deleteFile } from "./requests.ts"

const DAY = micros(Duration.days(1))

/** `model_cost_today`. */
export const modelCostToday = (db: Documents): number => {
  const now = db.moment()
  const today = db.ledger.where(({ createdAt }) => createdAt >= now - (now % DAY))
  return sumUsd(today.map(({ costUsd }) => costUsd))
}

/** `apply_model_budget`: pauses jobs that may use a model once the day's budget (UTC) is spent, and resumes them. */
export const applyBudget = (db: Documents, budgetUsd: number | undefined): number => {
  const isSpent = budgetUsd !== undefined && budgetUsd <= modelCostToday(db)
  const moveOf = ({ options, status }: JobRow) => {
    if (!isSpent || options._batchPrimed === true) return moveJob(status, "unpause")
    return usesCascade(options) || isWholeChunk(options) ? moveJob(status, "pause") : undefined
  }
  let changed = 0
  for (const job of db.jobs.where().sort(by(({ createdAt }) => createdAt))) {
    const status = moveOf(job)
    if (status === undefined) continue
    db.jobs.update(job.id, { status })
    showProgress(db, job.id)
    changed++
  }
  return changed
}

/** Files that show converting long after their job has ended, or without one, are as it ended. */
const sweepFiles = (db: Documents, stale: Duration.Duration): number => {
  const limit = db.moment() - micros(stale)
  let changed = 0
  for (const file of db.files.where((one) => one.status === "chunked_processing" && one.deletedAt === null)) {
    const job = db.jobs.get(file.jobId)
    const ended = job === undefined || isTerminal(job.status)
    if (!ended || file.updatedAt >= limit || db.queue.get(file.jobId) !== undefined) continue
    updateFile(db, file, {
      status: job === undefined || job.status === "cancelled" ? "uploaded" : "failed",
      error: job?.error ?? null,
      phase: null
    })
    changed++
  }
  return changed
}

/** Whether what a hold is set aside for waits or is under way: a request, a job, a document, a flyer or a mail. */
const isUnderWay = (db: Documents, { jobId }: HoldRow): boolean => {
  const status = db.jobs.get(jobId)?.status
  if (status !== undefined) return !isTerminal(status)
  const flyer = db.flyers.get(jobId)?.status
  return (
    db.queue.get(jobId) !== undefined ||
    db.files.find(
      (file) => file.jobId === jobId && file.status === "processing" && file.deletedAt === null
    ) !== undefined ||
    flyer === "pending" ||
    flyer === "processing" ||
    db.mails.get(jobId)?.step === "converting"
  )
}

/** The holds of jobs that failed or were cancelled are released; what waits or is under way keeps its own. */
const sweepHolds = (db: Documents, window: Duration.Duration): number => {
  const soon = db.moment() + micros(window) / 2
  let changed = 0
  for (const hold of db.holds
    .where(({ state }) => state === "held")
    .sort(by(({ customerId }) => customerId))) {
    const status = db.jobs.get(hold.jobId)?.status
    if (status === "failed" || status === "cancelled") {
      if (releaseHold(db, hold.jobId, status)) changed++
    } else if (hold.expiresAt < soon && isUnderWay(db, hold)) refreshHold(db, hold.jobId, window)
  }
  return changed
}

/** `sweep_conversions`: mends what a crash between two transactions could have left. */
export const sweep = (db: Documents, window: Duration.Duration, stale: Duration.Duration): number =>
  sweepFiles(db, stale) + sweepHolds(db, window)

/** `delete_file_of_closed_account`: one file a call, of those that are not being assembled. */
export const deleteFileOfClosedAccount = (db: Documents): number => {
  const isDeleted = db.files
    .where(
      ({ customerId, deletedAt }) =>
        deletedAt === null && typeof db.customers.get(customerId)?.deletedAt === "number"
    )
    .some(({ customerId, id }) => deleteFile(db, id, customerId) === "deleted")
  return isDeleted ? 1 : 0
}
