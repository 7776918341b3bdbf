import { Duration, Effect, Layer } from "effect"

import { savedUsd } from "../../../domain/batch/cost.ts"
import type { FileId } from "../../../domain/ids.ts"
import {
  type CostReport,
  type DocumentReport,
  JobReport,
  type JobRow as ReportedJob,
  MAX_DOCUMENT_ROWS,
  type OtherWork
} from "../../../ports/conversion/job-report.ts"
import { newestFirst } from "../documents/page.ts"
import type { BatchRow, FileRow, JobRow, LedgerRow, Moment } from "../documents/rows.ts"
import { type Documents, isoOf, isoOrNull, MemoryDocuments, micros, transaction } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { conversionCost, sumUsd } from "./jobs.ts"

const batchOf = (row: BatchRow): ReportedJob["batch"] => ({
  state: row.state,
  outcome: row.outcome,
  reason: row.closeReason,
  arn: row.arn,
  endState: row.endState,
  records: row.records,
  accepted: row.accepted,
  fallback: row.fallback,
  inputBytes: row.inputBytes,
  costUsd: row.costUsd,
  attempts: row.attempts,
  submittedAt: isoOrNull(row.submittedAt),
  closedAt: isoOrNull(row.closedAt)
})

const reported = (db: Documents, job: JobRow): ReportedJob => {
  const batch = db.batches.get(job.id)
  return {
    id: job.id,
    fileId: job.fileId,
    fileName: db.files.get(job.fileId)?.name ?? null,
    customerEmail: db.customers.get(job.customerId)?.email ?? null,
    customerId: job.customerId,
    bulkId: job.bulkId,
    status: job.status,
    options: job.options,
    totalPages: job.totalPages,
    totalChunks: job.totalChunks,
    doneChunks: job.doneChunks,
    totalCostUsd: job.totalCostUsd ?? conversionCost(db, job),
    error: job.error,
    createdAt: isoOf(job.createdAt),
    finishedAt: isoOrNull(job.finishedAt),
    batch: batch === undefined ? null : batchOf(batch)
  }
}

/** The status of a conversion in one go; without a lease it is pending. */
const inlineStatus = ({ lease, status }: FileRow): OtherWork["status"] | undefined => {
  if (status === "processing") return lease === null ? "pending" : "processing"
  return status === "completed" || status === "failed" ? status : undefined
}

/** Work that has no job; what has moved last is the newest. */
const othersOf = (
  db: Documents
): ReadonlyArray<Omit<OtherWork, "movedAt"> & { readonly createdAt: Moment }> => [
  ...db.files.where().flatMap((file) => {
    const status = inlineStatus(file)
    const { attempts, customerId, deletedAt, error, id, jobId, kind, name, pages, updatedAt } = file
    if (kind === "pdf" || jobId === null || deletedAt !== null || status === undefined) return []
    const customerEmail = db.customers.get(customerId)?.email ?? null
    const facts = { fileId: id, fileName: name, customerEmail, status, pages, attempts }
    return [{ id: jobId, kind, ...facts, error: status === "failed" ? error : null, createdAt: updatedAt }]
  }),
  ...db.flyers.where().map(({ attempts, customerId, error, fileId, id, status, updatedAt }) => ({
    id,
    kind: "layout" as const,
    fileId,
    fileName: db.files.get(fileId)?.name ?? null,
    customerEmail: db.customers.get(customerId)?.email ?? null,
    status,
    pages: db.files.get(fileId)?.pages ?? 0,
    attempts,
    error: status === "failed" ? error : null,
    createdAt: updatedAt
  }))
]

const documentOf = (db: Documents, fileId: FileId): DocumentReport | undefined => {
  const file = db.files.get(fileId)
  if (file === undefined) return undefined
  const { customerId, error, id, kind, name, pages, sizeBytes, status, unreadablePages } = file
  const now = isoOf(db.moment())
  const jobs = db.jobs
    .where((job) => job.fileId === fileId)
    .toSorted(by((job) => -job.createdAt))
    .slice(0, MAX_DOCUMENT_ROWS)
  const chunks = db.chunks
    .where((one) => one.jobId === jobs[0]?.id && (one.status !== "completed" || one.attempts > 1))
    .toSorted(by(({ chunkIndex }) => chunkIndex))
    .slice(0, MAX_DOCUMENT_ROWS)
  return {
    id,
    name,
    kind,
    sizeBytes,
    pages,
    status,
    error,
    customerId,
    unreadablePages,
    customerEmail: db.customers.get(customerId)?.email ?? null,
    createdAt: isoOf(file.createdAt),
    deletedAt: isoOrNull(file.deletedAt),
    hasResult: file.resultKey !== null,
    shares: db.shares.where((share) => share.fileId === fileId && share.expiresAt > now).length,
    jobs: jobs.map((job) => reported(db, job)),
    chunks: chunks.map((one) => ({
      firstPage: one.firstPage + 1,
      lastPage: one.lastPage + 1,
      status: one.status,
      attempts: one.attempts,
      error: one.error
    }))
  }
}

const sum = (rows: ReadonlyArray<LedgerRow>, of: (row: LedgerRow) => unknown): number =>
  sumUsd(rows.map((row) => Number(of(row) ?? 0)))

const sourceOf = ([source, rows]: readonly [string, ReadonlyArray<LedgerRow>]) => ({
  source,
  entries: rows.length,
  inputTokens: sum(rows, ({ usage }) => usage.inputTokens),
  outputTokens: sum(rows, ({ usage }) => usage.outputTokens),
  costUsd: sum(rows, ({ costUsd }) => costUsd)
})

const DAY = micros(Duration.days(1))

const costs = (db: Documents, days: number): CostReport => {
  const now = db.moment()
  const from = now - (now % DAY) - (days - 1) * DAY
  const rows = db.ledger.where(({ createdAt }) => createdAt >= from)
  const bySource = [...Map.groupBy(rows, ({ source }) => source)].map(sourceOf)
  const sources = bySource.sort(
    by(
      ({ costUsd }) => -costUsd,
      ({ source }) => source
    )
  )
  const batch = rows.filter(({ metadata }) => metadata["batch"] === true)
  const billed = new Set(batch.map(({ jobId }) => jobId))
  const counts = {
    accepted: sum(batch, ({ metadata }) => metadata["accepted"]),
    served: db.chunks
      .where(({ jobId }) => billed.has(jobId))
      .reduce((pages, { servedPages }) => pages + servedPages, 0),
    onDemandUsd: sum(batch, ({ metadata }) => metadata["onDemandUsd"]),
    costUsd: sum(batch, (row) => row.costUsd)
  }
  return {
    days,
    from: isoOf(from).slice(0, 10),
    totalUsd: sum(rows, (row) => row.costUsd),
    sources,
    batch: {
      ...counts,
      jobs: batch.length,
      fallback: sum(batch, ({ metadata }) => metadata["fallback"]),
      savedUsd: savedUsd(counts)
    }
  }
}

/** Jobs and costs in memory. */
export const layer: Layer.Layer<JobReport, never, MemoryDocuments> = Layer.effect(
  JobReport,
  Effect.map(MemoryDocuments, (documents) => {
    const run = <A>(body: (db: Documents) => A) => transaction(documents, body)
    return JobReport.of({
      jobs: ({ status, ...page }) =>
        run((db) => db.jobs.where((job) => status === undefined || job.status === status)).pipe(
          Effect.flatMap((rows) => newestFirst(rows, page)),
          Effect.map(({ nextCursor, rows }) => ({
            rows: rows.map((job) => reported(documents, job)),
            nextCursor
          }))
        ),
      others: ({ status, ...page }) =>
        run((db) => othersOf(db).filter((one) => status === undefined || one.status === status)).pipe(
          Effect.flatMap((rows) => newestFirst(rows, page)),
          Effect.map(({ nextCursor, rows }) => ({
            rows: rows.map(({ createdAt, ...row }) => ({ ...row, movedAt: isoOf(createdAt) })),
            nextCursor
          }))
        ),
      jobCounts: transaction(documents, (db) =>
        [...Map.groupBy(db.jobs.where(), ({ status }) => status)].map(([status, rows]) => ({
          status,
          jobs: rows.length
        }))
      ),
      jobOf: (jobId) =>
        transaction(documents, (db) => {
          const job = db.jobs.get(jobId)
          const file = db.files.get(job?.fileId)
          if (job === undefined || file === undefined || file.deletedAt !== null) return undefined
          const { options, status } = job
          return { fileId: file.id, customerId: file.customerId, status, options }
        }),
      document: (fileId) => run((db) => documentOf(db, fileId)),
      costs: (days) => run((db) => costs(db, days))
    })
  })
)
