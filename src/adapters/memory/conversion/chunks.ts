import { Duration } from "effect"

import type { CostEntry } from "../../../domain/cascade/cost.ts"
import { FAILURES } from "../../../domain/conversion/failures.ts"
import { moveJob } from "../../../domain/conversion/job.ts"
import type { JobId, LeaseId } from "../../../domain/ids.ts"
import type { ClaimedChunk } from "../../../ports/conversion/conversion-store.ts"
import type { ChunkPages } from "../../../ports/conversion/result-facts.ts"
import { refreshHold } from "../accounts/funds.ts"
import type { ChunkRow, JobRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { bookCosts, chunksOf, failJob, showProgress } from "./jobs.ts"
import { inTurn, wasServed } from "./turns.ts"

type Held = Pick<ClaimedChunk, "id" | "lease">

/** A chunk without a worker. */
const UNCLAIMED = { status: "pending", lease: null, worker: null, heartbeatAt: null, pagesDone: 0 } as const

/** The chunk, while this lease holds it. */
const heldChunk = (db: Documents, { id, lease }: Held): ChunkRow | undefined => {
  const chunk = db.chunks.get(id)
  return chunk?.status === "processing" && chunk.lease === lease ? chunk : undefined
}

const jobOf = (db: Documents, { jobId }: Pick<ChunkRow, "jobId">): JobRow => {
  const job = db.jobs.get(jobId)
  if (job === undefined) throw new Error(`a chunk without its job ${jobId}`)
  return job
}

const claimed = (db: Documents, chunk: ChunkRow, lease: LeaseId): ClaimedChunk | undefined => {
  const job = jobOf(db, chunk)
  const file = db.files.get(job.fileId)
  return (
    file && {
      id: chunk.id,
      lease,
      jobId: job.id,
      chunkIndex: chunk.chunkIndex,
      firstPage: chunk.firstPage,
      lastPage: chunk.lastPage,
      attempts: chunk.attempts,
      fileId: file.id,
      objectKey: file.objectKey,
      options: job.options,
      totalPages: job.totalPages
    }
  )
}

const ownerOf = (db: Documents, chunk: Pick<ChunkRow, "jobId">): string => {
  const job = jobOf(db, chunk)
  return job.customerId ?? db.files.get(job.fileId)?.customerId ?? ""
}

/** True while a job's chunks are being converted. */
const isOpen = ({ status }: JobRow): boolean => status === "pending" || status === "processing"

/** Chunks that a worker could begin, by owner. */
const dueByOwner = (db: Documents, primed: boolean): ReadonlyMap<string, ReadonlyArray<ChunkRow>> => {
  const now = db.moment()
  const isOurs = (job: JobRow) => isOpen(job) && (primed || job.options._batchPrimed !== true)
  return Map.groupBy(
    db.chunks.where(
      (chunk) => chunk.status === "pending" && chunk.notBefore <= now && isOurs(jobOf(db, chunk))
    ),
    (chunk) => ownerOf(db, chunk)
  )
}

/** `claim_chunk`: the chunk that this lease already holds, else the next chunk of the oldest job of the owner that is next in turn. */
export const claimChunk = (
  db: Documents,
  worker: string,
  lease: LeaseId,
  perOwner = Infinity,
  primed = true
): ClaimedChunk | undefined => {
  const mine = db.chunks.find((chunk) => chunk.status === "processing" && chunk.lease === lease)
  if (mine !== undefined) return claimed(db, mine, lease)
  const running = Map.groupBy(
    db.chunks.where(({ status }) => status === "processing"),
    (chunk) => ownerOf(db, chunk)
  )
  const due = dueByOwner(db, primed)
  const owner = inTurn(db, "chunk", due.keys()).find((one) => (running.get(one)?.length ?? 0) < perOwner)
  if (owner === undefined) return undefined
  wasServed(db, "chunk", owner)
  const now = db.moment()
  const [next] = [...(due.get(owner) ?? [])].sort(
    by(
      ({ queuedAt }) => queuedAt,
      ({ jobId }) => jobId,
      ({ chunkIndex }) => chunkIndex
    )
  )
  if (next === undefined) return undefined
  const chunk = db.chunks.update(next.id, {
    status: "processing",
    worker,
    lease,
    heartbeatAt: now,
    attempts: next.attempts + 1,
    pagesDone: 0,
    error: null
  })
  const started = moveJob(jobOf(db, chunk).status, "start")
  if (started !== undefined) db.jobs.update(chunk.jobId, { status: started })
  showProgress(db, chunk.jobId)
  return claimed(db, chunk, lease)
}

/** `heartbeat_chunk`; progress never goes back. */
export const heartbeatChunk = (
  db: Documents,
  held: Held,
  pagesDone: number,
  window: Duration.Duration
): boolean => {
  const chunk = heldChunk(db, held)
  if (chunk === undefined) return false
  db.chunks.update(chunk.id, {
    heartbeatAt: db.moment(),
    pagesDone: Math.max(chunk.pagesDone, pagesDone)
  })
  if (pagesDone > chunk.pagesDone) showProgress(db, chunk.jobId)
  refreshHold(db, chunk.jobId, window)
  return true
}

/** `complete_chunk`: the job's last chunk lets its assembly begin. */
export const completeChunk = (
  db: Documents,
  held: Held,
  resultKey: string,
  costs: ReadonlyArray<CostEntry>,
  { served = 0 }: ChunkPages = {}
): "stale" | "completed" | "assembling" => {
  bookCosts(db, costs)
  const known = db.chunks.get(held.id)
  if (known === undefined) return "stale"
  const job = jobOf(db, known)
  if (known.status === "completed" && known.lease === held.lease)
    return job.status === "assembling" ? "assembling" : "completed"
  const assembling = moveJob(job.status, "assemble")
  const chunk = heldChunk(db, held)
  if (chunk === undefined || assembling === undefined) return "stale"
  db.chunks.update(chunk.id, {
    status: "completed",
    resultKey,
    servedPages: served,
    pagesDone: chunk.lastPage - chunk.firstPage + 1
  })
  const whole = chunksOf(db, job.id).every(({ status }) => status === "completed")
  db.jobs.update(job.id, { doneChunks: job.doneChunks + 1, status: whole ? assembling : job.status })
  showProgress(db, job.id)
  return whole ? "assembling" : "completed"
}

/** `fail_chunk`: another attempt later, or the end of the job. */
export const failChunk = (
  db: Documents,
  held: Held,
  failure: {
    readonly error: string
    readonly costs: ReadonlyArray<CostEntry>
    readonly retryIn: Duration.Duration
    readonly maxAttempts: number
  }
): "stale" | "pending" | "failed" => {
  const { costs, error, maxAttempts, retryIn } = failure
  bookCosts(db, costs)
  const chunk = heldChunk(db, held)
  if (chunk === undefined) return "stale"
  db.chunks.update(chunk.id, { ...UNCLAIMED, error, notBefore: db.moment() + micros(retryIn) })
  if (chunk.attempts >= maxAttempts) {
    failJob(db, chunk.jobId, error)
    return "failed"
  }
  showProgress(db, chunk.jobId)
  return "pending"
}

/** `hand_back_chunk`: counts no attempt. */
export const handBackChunk = (
  db: Documents,
  held: Held,
  costs: ReadonlyArray<CostEntry>,
  retryIn: Duration.Duration = Duration.zero
): boolean => {
  bookCosts(db, costs)
  const chunk = heldChunk(db, held)
  if (chunk === undefined) return false
  const notBefore = db.moment() + micros(retryIn)
  db.chunks.update(chunk.id, { ...UNCLAIMED, attempts: chunk.attempts - 1, notBefore })
  showProgress(db, chunk.jobId)
  return true
}

/** `recover_orphan_chunks`: takes one chunk from a worker that went silent. */
export const recoverOrphan = (db: Documents, stale: Duration.Duration, maxAttempts: number): number => {
  const limit = db.moment() - micros(stale)
  const heard = ({ heartbeatAt }: ChunkRow) => heartbeatAt ?? limit
  const [chunk] = db.chunks.where((one) => one.status === "processing" && heard(one) < limit).sort(by(heard))
  if (chunk === undefined) return 0
  db.chunks.update(chunk.id, { ...UNCLAIMED, notBefore: db.moment() })
  if (chunk.attempts >= maxAttempts) failJob(db, chunk.jobId, FAILURES.worker_died)
  else showProgress(db, chunk.jobId)
  return 1
}

/** The results of a job's chunks, in the order of their pages. */
export const chunkResults = (db: Documents, jobId: JobId) =>
  chunksOf(db, jobId).flatMap(({ firstPage, lastPage, resultKey, status }) =>
    status === "completed" && resultKey !== null ? [{ firstPage, lastPage, key: resultKey }] : []
  )
