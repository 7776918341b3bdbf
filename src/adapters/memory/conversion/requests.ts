import type { Duration } from "effect"

import { FAILURES } from "../../../domain/conversion/failures.ts"
import { type JobOptions, moveJob } from "../../../domain/conversion/job.ts"
import { type CustomerId, type FileId, type JobId, ChunkId } from "../../../domain/ids.ts"
import type { Requested } from "../../../ports/conversion/conversion-store.ts"
import { placeHold, releaseHold } from "../accounts/funds.ts"
import { closeBatchRow } from "../batch/owner-acts.ts"
import type { FileRow, JobRow, QueueRow } from "../documents/rows.ts"
import type { Documents } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import {
  cancelFlyersOf,
  chunksOf,
  conversionCost,
  isLive,
  reopenReflow,
  shownFile,
  updateFile
} from "./jobs.ts"
import { inTurn, wasServed } from "./turns.ts"

/** A file of this owner's that is not deleted. */
export const ownFile = (db: Documents, fileId: FileId, customerId: CustomerId): FileRow | undefined => {
  const file = db.files.get(fileId)
  return file?.customerId === customerId && file.deletedAt === null ? file : undefined
}

/** Whether a file is being converted, in whatever way. */
export const isBeingConverted = (db: Documents, { id, status }: FileRow): boolean =>
  status === "processing" ||
  status === "chunked_processing" ||
  db.flyers.find((flyer) => flyer.fileId === id && isLive(flyer)) !== undefined

interface ConversionRequest {
  readonly jobId: JobId
  readonly fileId: FileId
  readonly customerId: CustomerId
  readonly options: JobOptions
  readonly window: Duration.Duration
  readonly bulkId?: string | undefined
}

/** `request_conversion`: sets the funds aside, and queues a PDF; what has no chunks waits for the inline path. */
export const request = (db: Documents, asked: ConversionRequest): Requested => {
  const { bulkId, customerId, fileId, jobId, options, window } = asked
  const file = ownFile(db, fileId, customerId)
  if (file === undefined) return "not_found"
  // Another conversion may have followed the one that was asked for.
  if (file.jobId === jobId || db.holds.get(jobId) !== undefined) return "queued"
  if (isBeingConverted(db, file)) return "active"
  const free = options._compedFlyerJobId !== undefined
  if (!free && !placeHold(db, { customerId, jobId, pages: file.pages }, window)) return "insufficient"
  const isPdf = file.kind === "pdf"
  updateFile(db, file, {
    status: isPdf ? "chunked_processing" : "processing",
    phase: "Queued",
    jobId,
    options,
    done: 0,
    total: file.pages,
    error: null,
    lease: null,
    heartbeatAt: null,
    attempts: 0
  })
  if (isPdf)
    db.queue.insert({ jobId, fileId, customerId, options, bulkId: bulkId ?? null, createdAt: db.moment() })
  return "queued"
}

/** The oldest request of the owner that is next in turn. */
export const nextQueued = (db: Documents) => {
  const all = db.queue.where().sort(by(({ createdAt }) => createdAt))
  const [owner] = inTurn(
    db,
    "request",
    all.map(({ customerId }) => customerId)
  )
  const next = all.find(({ customerId }) => customerId === owner)
  const file = db.files.get(next?.fileId)
  return next === undefined || file === undefined
    ? undefined
    : { jobId: next.jobId, fileId: next.fileId, pages: file.pages, options: next.options }
}

/** Makes the job of a queued request. */
const insertJob = (
  db: Documents,
  queued: QueueRow,
  parts: Pick<JobRow, "status" | "options" | "totalPages" | "totalChunks">
): JobRow =>
  db.jobs.insert({
    id: queued.jobId,
    fileId: queued.fileId,
    customerId: queued.customerId,
    bulkId: queued.bulkId,
    doneChunks: 0,
    totalCostUsd: null,
    error: null,
    lease: null,
    heartbeatAt: null,
    attempts: 0,
    createdAt: db.moment(),
    finishedAt: null,
    ...parts
  })

/** `create_conversion_job`: a queued request becomes a job with its chunks; false where it is no longer queued. */
export const createJob = (
  db: Documents,
  jobId: JobId,
  made: {
    readonly status: "pending" | "waiting_batch"
    readonly options: JobOptions
    readonly chunkPages: number
  }
): boolean => {
  const { chunkPages, options, status } = made
  const queued = db.queue.remove(jobId)
  const file = db.files.get(queued?.fileId)
  if (queued === undefined || file === undefined) return false
  wasServed(db, "request", queued.customerId)
  const totalChunks = Math.ceil(file.pages / chunkPages)
  const job = insertJob(db, queued, { status, options, totalPages: file.pages, totalChunks })
  for (let index = 0; index < totalChunks; index++)
    db.chunks.insert({
      id: ChunkId.make(db.newId()),
      jobId,
      chunkIndex: index,
      firstPage: index * chunkPages,
      lastPage: Math.min((index + 1) * chunkPages, file.pages) - 1,
      status,
      worker: null,
      lease: null,
      heartbeatAt: null,
      attempts: 0,
      notBefore: db.moment(),
      pagesDone: 0,
      servedPages: 0,
      resultKey: null,
      error: null,
      queuedAt: job.createdAt
    })
  const shown = shownFile(db, job)
  const phase = status === "waiting_batch" ? "Waiting for batch" : `Queued: 0/${totalChunks} chunks`
  if (shown !== undefined) updateFile(db, shown, { phase })
  return true
}

/** The job to be cancelled; a request that is still queued becomes one. */
const jobToCancel = (db: Documents, jobId: JobId): JobRow | undefined => {
  const queued = db.queue.remove(jobId)
  if (queued === undefined) return db.jobs.get(jobId)
  const totalPages = db.files.get(queued.fileId)?.pages ?? 0
  return insertJob(db, queued, { status: "pending", options: queued.options, totalPages, totalChunks: 0 })
}

/** `cancel_conversion_job`: the job and its unfinished chunks, whatever the batch lane does with it. */
export const cancelJob = (
  db: Documents,
  jobId: JobId,
  deletesFile = false
): "cancelled" | "finishing" | "not_active" => {
  const job = jobToCancel(db, jobId)
  if (job?.status === "cancelled") return "cancelled"
  if (job?.status === "assembling") return "finishing"
  const status = job && moveJob(job.status, "cancel")
  if (job === undefined || status === undefined) return "not_active"
  if (job.status === "waiting_batch" || db.batches.get(jobId) !== undefined)
    closeBatchRow(db, jobId, deletesFile ? "Cancelled: the source file was deleted" : "Cancelled by user")
  db.jobs.update(jobId, { status, finishedAt: db.moment(), totalCostUsd: conversionCost(db, job) })
  for (const chunk of chunksOf(db, jobId))
    if (chunk.status !== "completed") db.chunks.update(chunk.id, { status: "cancelled" })
  const shown = shownFile(db, job)
  if (shown !== undefined && !deletesFile)
    updateFile(db, shown, { status: "uploaded", phase: null, done: 0, total: 0, error: null })
  reopenReflow(db, job)
  releaseHold(db, jobId, "cancelled")
  return "cancelled"
}

/** `delete_file`: cancels what is under way; its objects are removed by housekeeping. */
export const deleteFile = (
  db: Documents,
  fileId: FileId,
  customerId: CustomerId
): "deleted" | "not_found" | "finishing" => {
  const file = ownFile(db, fileId, customerId)
  if (file === undefined) return "not_found"
  if (file.jobId !== null && cancelJob(db, file.jobId, true) === "finishing") return "finishing"
  updateFile(db, file, { deletedAt: db.moment(), name: "", leftOut: null, reference: null })
  cancelFlyersOf(db, fileId, FAILURES.file_deleted)
  releaseHold(db, file.jobId, "cancelled")
  return "deleted"
}
