import { Context, type Effect } from "effect"

import type { BatchOutcome, BatchRowState } from "../../domain/batch/row.ts"
import type { ChunkStatus, JobStatus, JobOptions } from "../../domain/conversion/job.ts"
import type { CustomerId, FileId, JobId } from "../../domain/ids.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"
import type { FileKind, FileStatus } from "./conversion-store.ts"

/** Most jobs of one page, and days of one cost report. */
export const MAX_JOBS_PAGE = 200
export const MAX_COST_DAYS = 366

/** A job as admins see it. Times are ISO 8601 in UTC. */
export interface JobRow {
  readonly id: JobId
  readonly fileId: FileId
  /** Null where the file or its owner was erased. */
  readonly fileName: string | null
  readonly customerEmail: string | null
  readonly customerId: CustomerId | null
  readonly bulkId: string | null
  readonly status: JobStatus
  readonly options: JobOptions
  readonly totalPages: number
  readonly totalChunks: number
  readonly doneChunks: number
  /** USD; of an unfinished job, the cost of its models so far. */
  readonly totalCostUsd: number
  readonly error: string | null
  readonly createdAt: string
  readonly finishedAt: string | null
  /** Null where the batch lane has no row for it. */
  readonly batch: {
    readonly state: BatchRowState
    readonly outcome: BatchOutcome | null
    readonly reason: string | null
    readonly arn: string | null
    readonly endState: string | null
    readonly records: number
    readonly accepted: number
    readonly fallback: number
    readonly inputBytes: number
    readonly costUsd: number
    readonly attempts: number
    readonly submittedAt: string | null
    readonly closedAt: string | null
  } | null
}

/** Most jobs, and most chunks, of one document's report. */
export const MAX_DOCUMENT_ROWS = 50

/** A document as admins see it, without its words. Times are ISO 8601 in UTC. */
export interface DocumentReport {
  readonly id: FileId
  readonly name: string
  readonly kind: FileKind
  readonly sizeBytes: number
  readonly pages: number
  readonly status: FileStatus
  readonly error: string | null
  readonly customerId: CustomerId
  /** Null where the owner was erased. */
  readonly customerEmail: string | null
  readonly createdAt: string
  readonly deletedAt: string | null
  readonly hasResult: boolean
  /** Of the result: pages from 1 that could not be read. */
  readonly unreadablePages: ReadonlyArray<number>
  /** With how many addresses it is shared. */
  readonly shares: number
  /** Its conversions, newest first. */
  readonly jobs: ReadonlyArray<JobRow>
  /** Of the newest conversion: chunks that are not completed, and those that took several attempts, by their pages. */
  readonly chunks: ReadonlyArray<{
    /** From 1, the last one included. */
    readonly firstPage: number
    readonly lastPage: number
    readonly status: ChunkStatus
    readonly attempts: number
    readonly error: string | null
  }>
}

/** Costs of the models over some days, by source, and the savings of the batch lane. USD. */
export interface CostReport {
  readonly days: number
  /** `YYYY-MM-DD`, UTC. */
  readonly from: string
  readonly totalUsd: number
  readonly sources: ReadonlyArray<{
    readonly source: string
    readonly entries: number
    readonly inputTokens: number
    readonly outputTokens: number
    readonly costUsd: number
  }>
  readonly batch: {
    readonly jobs: number
    readonly accepted: number
    readonly fallback: number
    readonly costUsd: number
    /** The on-demand price of the accepted answers. */
    readonly onDemandUsd: number
    /** Negative where unused answers cost more than was saved. */
    readonly savedUsd: number
  }
}

/** Reads jobs and costs, for admins and the command line. */
export class JobReport extends Context.Service<
  JobReport,
  {
    /** Newest first; pages follow (`created_at`, `id`). */
    readonly jobs: (filter: {
      readonly status?: JobStatus | undefined
      /** 1 to {@link MAX_JOBS_PAGE}. */
      readonly limit: number
      readonly cursor?: string | undefined
    }) => Effect.Effect<
      { readonly rows: ReadonlyArray<JobRow>; readonly nextCursor: string | null },
      StoreUnavailable | InvalidCursor
    >
    /** How many jobs have each status; one that no job has may be missing. */
    readonly jobCounts: Effect.Effect<
      ReadonlyArray<{ readonly status: JobStatus; readonly jobs: number }>,
      StoreUnavailable
    >
    /** The job of this id, as far as admins act on it; `undefined`: there is none, or its file was deleted. */
    readonly jobOf: (jobId: JobId) => Effect.Effect<
      | {
          readonly fileId: FileId
          readonly customerId: CustomerId
          readonly status: JobStatus
          readonly options: JobOptions
        }
      | undefined,
      StoreUnavailable
    >
    /** A document, deleted or not, as long as its row is kept; `undefined`: there is none. */
    readonly document: (fileId: FileId) => Effect.Effect<DocumentReport | undefined, StoreUnavailable>
    /** Today and the `days` − 1 days before it, UTC; 1 to {@link MAX_COST_DAYS}. */
    readonly costs: (days: number) => Effect.Effect<CostReport, StoreUnavailable>
  }
>()("postlane/ports/JobReport") {}
