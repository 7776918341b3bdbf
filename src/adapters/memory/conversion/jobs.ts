import type { CostEntry } from "../../../domain/cascade/cost.ts"
import { isTerminal } from "../../../domain/conversion/job.ts"
import type { FileId, JobId, FlyerId, LeaseId } from "../../../domain/ids.ts"
import { releaseHold } from "../accounts/funds.ts"
import type { FileRow, FlyerRow, JobRow } from "../documents/rows.ts"
import type { Documents } from "../documents/state.ts"
import { by } from "../documents/table.ts"

/** Sums without the noise of binary fractions, as PostgreSQL's `numeric` does. */
export const sumUsd = (amounts: Iterable<number>): number => {
  let sum = 0
  for (const amount of amounts) sum += amount
  return Number(sum.toFixed(12))
}

/** The most that one attempt counts against its owner, and what one without a result counts on top, microseconds. */
const LONGEST_TURN = 10 * 60 * 1_000_000
const WITHOUT_RESULT = 30 * 1_000_000

/** Changes a flyer job, which moves it. */
export const moveFlyer = (db: Documents, id: FlyerId, changes: Partial<FlyerRow>): FlyerRow =>
  db.flyers.update(id, { updatedAt: db.moment(), ...changes })

/** Changes a file. The end of an inline attempt counts what it took against its owner (`inline_turn_ended`). */
export const updateFile = (db: Documents, before: FileRow, changes: Partial<FileRow>): FileRow => {
  const after = db.files.update(before.id, { updatedAt: db.moment(), ...changes })
  const ended =
    after.status !== "processing" || after.lease !== before.lease || after.deletedAt !== before.deletedAt
  if (before.status === "processing" && before.claimedAt !== null && before.lease !== null && ended) {
    const now = db.moment()
    const taken =
      Math.min(now - before.claimedAt, LONGEST_TURN) + (after.status === "completed" ? 0 : WITHOUT_RESULT)
    const turn = db.turns.get(before.customerId)
    if (turn === undefined) db.turns.insert({ customerId: before.customerId, busyUntil: now + taken })
    else db.turns.update(turn.customerId, { busyUntil: Math.max(turn.busyUntil, now) + taken })
  }
  return after
}

/** The file that shows this job as its conversion under way. */
export const shownFile = (db: Documents, job: Pick<JobRow, "id" | "fileId">): FileRow | undefined => {
  const file = db.files.get(job.fileId)
  return file?.jobId === job.id && file.status === "chunked_processing" ? file : undefined
}

/** The chunks of a job, in the order of the pages. */
export const chunksOf = (db: Documents, jobId: JobId) =>
  db.chunks.where((chunk) => chunk.jobId === jobId).sort(by(({ chunkIndex }) => chunkIndex))

/** `conversion_cost`: what a job's models cost, the batch lane's once. */
export const conversionCost = (db: Documents, job: JobRow): number =>
  sumUsd([
    ...db.ledger
      .where(({ jobId, metadata }) => jobId === job.id && metadata["batch"] !== true)
      .map(({ costUsd }) => costUsd),
    job.options._batchCostUsd ?? 0
  ])

const tokensOf = ({ usage }: CostEntry): number => usage.inputTokens + usage.outputTokens

/** `book_costs`: each entry once, and as it grows; the totals of jobs that have ended follow. */
export const bookCosts = (db: Documents, entries: ReadonlyArray<CostEntry>): void => {
  for (const entry of entries) {
    const known = db.ledger.get(entry.id)
    if (known === undefined) db.ledger.insert({ ...entry, createdAt: db.moment() })
    else if (tokensOf(known) < tokensOf(entry)) {
      const { costUsd, metadata, usage } = entry
      db.ledger.update(entry.id, { costUsd, metadata, usage })
    }
  }
  for (const { jobId } of entries) {
    const job = db.jobs.get(jobId)
    if (job !== undefined && isTerminal(job.status))
      db.jobs.update(job.id, { totalCostUsd: conversionCost(db, job) })
  }
}

/** `conversion_progress`: shows a job's progress in its file. */
export const showProgress = (db: Documents, jobId: JobId): void => {
  const job = db.jobs.get(jobId)
  const file = job && shownFile(db, job)
  if (job === undefined || file === undefined) return
  const chunks = chunksOf(db, jobId)
  const completed = chunks.filter(({ status }) => status === "completed")
  const running = chunks.filter(({ status }) => status === "processing")
  const total = Math.max(job.totalChunks, chunks.length)
  let done = 0
  for (const { firstPage, lastPage } of completed) done += lastPage - firstPage + 1
  for (const { pagesDone } of running) done += pagesDone
  const begun = running.length > 0 || completed.length > 0
  updateFile(db, file, { done, phase: phaseOf(job.status, begun, `${completed.length}/${total} chunks`) })
}

const phaseOf = (status: JobRow["status"], begun: boolean, chunks: string): string => {
  switch (status) {
    case "assembling":
      return "Assembling"
    case "paused_budget":
      return "Paused: the daily model budget is spent"
    case "waiting_batch":
      return "Waiting for batch"
    case "pending":
    case "processing":
    case "completed":
    case "failed":
    case "cancelled":
      return `${begun ? "Converting" : "Queued"}: ${chunks}`
  }
}

/** A free reflow that failed or was cancelled may be chosen again. */
export const reopenReflow = (db: Documents, { id, options }: JobRow): void => {
  const flyer = db.flyers.get(options._compedFlyerJobId)
  if (flyer?.compConversionId === id) moveFlyer(db, flyer.id, { compConversionId: null })
}

/** `fail_conversion_job`: ends a live job without a result; nothing is charged. With a lease: only while it is that one's. */
export const failJob = (db: Documents, jobId: JobId, error: string, lease?: LeaseId): boolean => {
  const job = db.jobs.get(jobId)
  if (job === undefined || isTerminal(job.status) || (lease !== undefined && job.lease !== lease))
    return false
  db.jobs.update(jobId, {
    status: "failed",
    error,
    finishedAt: db.moment(),
    lease: null,
    totalCostUsd: conversionCost(db, job)
  })
  for (const { id, status } of chunksOf(db, jobId))
    if (status !== "completed") db.chunks.update(id, { status: "failed", lease: null })
  const file = shownFile(db, job)
  if (file !== undefined) updateFile(db, file, { status: "failed", error, phase: null })
  reopenReflow(db, job)
  releaseHold(db, jobId, "failed")
  return true
}

/** Whether a flyer job is under way. */
export const isLive = ({ status }: Pick<FlyerRow, "status">): boolean =>
  status === "pending" || status === "processing"

/** Ends a live flyer job on its owner's behalf; a running one loses its claim. */
export const stopFlyer = (db: Documents, id: FlyerId, error: string): void => {
  moveFlyer(db, id, { status: "failed", error, lease: null })
  releaseHold(db, id, "cancelled")
}

/** `cancel_flyer_jobs_for_file`. */
export const cancelFlyersOf = (db: Documents, fileId: FileId, error: string): void => {
  for (const flyer of db.flyers.where((one) => one.fileId === fileId && isLive(one)))
    stopFlyer(db, flyer.id, error)
}
