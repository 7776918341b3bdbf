import type { Duration } from "effect"

import { FAILURES } from "../../../domain/conversion/failures.ts"
import { moveJob } from "../../../domain/conversion/job.ts"
import type { Making } from "../../../domain/conversion/making.ts"
import type { Legibility } from "../../../domain/conversion/page-line.ts"
import { jobPrefix } from "../../../domain/conversion/stored-files.ts"
import type { LeaseId } from "../../../domain/ids.ts"
import type { ClaimedAssembly } from "../../../ports/conversion/conversion-store.ts"
import { refreshHold, settleHold } from "../accounts/funds.ts"
import type { JobRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { chunksOf, conversionCost, failJob, shownFile, updateFile } from "./jobs.ts"

type Held = Pick<ClaimedAssembly, "jobId" | "lease">

/** `claim_assembly`: the oldest job with all chunks done, or with a silent assembler. */
export const claimAssembly = (
  db: Documents,
  lease: LeaseId,
  stale: Duration.Duration
): ClaimedAssembly | undefined => {
  const now = db.moment()
  const isFree = (job: JobRow) =>
    job.lease === null || job.lease === lease || (job.heartbeatAt ?? now) < now - micros(stale)
  const [next] = db.jobs
    .where((job) => job.status === "assembling" && isFree(job))
    .sort(
      by(
        (job) => (job.lease === lease ? 0 : 1),
        ({ createdAt }) => createdAt
      )
    )
  const file = db.files.get(next?.fileId)
  if (next === undefined || file === undefined) return undefined
  const job = db.jobs.update(next.id, {
    lease,
    heartbeatAt: now,
    attempts: next.attempts + (next.lease === lease ? 0 : 1)
  })
  return {
    jobId: job.id,
    lease,
    fileId: file.id,
    fileName: file.name,
    objectKey: file.objectKey,
    attempts: job.attempts,
    options: job.options,
    totalPages: job.totalPages,
    chunkKeys: chunksOf(db, job.id).map(({ resultKey }) => resultKey ?? `${jobPrefix(job.id)}chunks/none`)
  }
}

/** The job, while this lease holds its assembly. */
const heldJob = (db: Documents, { jobId, lease }: Held): JobRow | undefined => {
  const job = db.jobs.get(jobId)
  return job?.status === "assembling" && job.lease === lease ? job : undefined
}

/** `heartbeat` of an assembly. */
export const heartbeatAssembly = (db: Documents, held: Held, window: Duration.Duration): boolean => {
  const job = heldJob(db, held)
  if (job === undefined) return false
  db.jobs.update(job.id, { heartbeatAt: db.moment() })
  refreshHold(db, job.id, window)
  return true
}

/** `hand_back_assembly`: counts no attempt. */
export const handBackAssembly = (db: Documents, held: Held): boolean => {
  const job = heldJob(db, held)
  if (job === undefined) return false
  db.jobs.update(job.id, { lease: null, attempts: job.attempts - 1 })
  return true
}

/** `complete_assembly`: the result is stored; the hold becomes the charge for the pages that could be read. */
export const finishJob = (
  db: Documents,
  { jobId, lease }: Held,
  resultKey: string,
  legibility: Legibility | undefined,
  noModelPages: ReadonlyArray<number> = [],
  made: Making | null = null
): "completed" | "stale" | "insufficient" | "unreadable" => {
  const job = db.jobs.get(jobId)
  if (job === undefined || job.lease !== lease) return "stale"
  if (job.status === "completed") return "completed"
  const status = moveJob(job.status, "complete")
  if (status === undefined) return "stale"
  const unreadablePages = legibility?.unreadablePages ?? []
  const lost = unreadablePages.length
  if (lost > 0 && lost >= job.totalPages) {
    failJob(db, jobId, FAILURES.unreadable)
    return "unreadable"
  }
  if (settleHold(db, jobId, lost > 0 ? job.totalPages - lost : undefined) === "insufficient") {
    failJob(db, jobId, FAILURES.insufficient)
    return "insufficient"
  }
  db.jobs.update(jobId, { status, finishedAt: db.moment(), totalCostUsd: conversionCost(db, job) })
  const file = shownFile(db, job)
  if (file !== undefined)
    updateFile(db, file, {
      status: "completed",
      resultKey,
      done: file.total,
      phase: null,
      error: null,
      unreadablePages,
      noModelPages,
      hasText: legibility?.hasText ?? null,
      made,
      madeAt: db.moment()
    })
  return "completed"
}
