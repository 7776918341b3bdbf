import { Context, type Effect, Schema } from "effect"

import type { BatchOutcome, BatchRowState } from "../../domain/batch/row.ts"
import { FileKind, FileStatus } from "../../domain/conversion/file.ts"
import { ChunkStatus, type JobStatus, type JobOptions } from "../../domain/conversion/job.ts"
import { CustomerId, FileId, type JobId } from "../../domain/ids.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

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

/** Work that has no job: a Word document or a picture that is converted in one go, or a result that keeps the layout. */
export const OtherWork = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["docx", "png", "jpeg", "layout"]),
  fileId: FileId,
  /** Null where the file or its owner was erased. */
  fileName: Schema.NullOr(Schema.String),
  customerEmail: Schema.NullOr(Schema.String),
  status: Schema.Literals(["pending", "processing", "completed", "failed"]),
  pages: Schema.Int,
  attempts: Schema.Int,
  error: Schema.NullOr(Schema.String),
  /** When it last moved (ISO 8601). */
  movedAt: Schema.String
})
export type OtherWork = typeof OtherWork.Type

/** Most jobs, and most chunks, of one document's report. */
export const MAX_DOCUMENT_ROWS = 50

/** A chunk of a document's newest conversion that is not completed, or took several attempts. */
export const ReportedChunk = Schema.Struct({
  /** Pages from 1, the last one included. */
  firstPage: Schema.Int,
  lastPage: Schema.Int,
  status: ChunkStatus,
  attempts: Schema.Int,
  error: Schema.NullOr(Schema.String)
})

/** What a document says of itself to admins, without its words. Times are ISO 8601 in UTC. */
export const DocumentFacts = Schema.Struct({
  id: FileId,
  name: Schema.String,
  kind: FileKind,
  sizeBytes: Schema.Finite,
  pages: Schema.Int,
  status: FileStatus,
  error: Schema.NullOr(Schema.String),
  customerId: CustomerId,
  /** Null where the owner was erased. */
  customerEmail: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  deletedAt: Schema.NullOr(Schema.String),
  hasResult: Schema.Boolean,
  /** Of the result: pages from 1 that could not be read. */
  unreadablePages: Schema.Array(Schema.Int),
  /** With how many addresses it is shared. */
  shares: Schema.Int
})

/** The same with its conversions. */
export interface DocumentReport extends Schema.Schema.Type<typeof DocumentFacts> {
  /** Newest first. */
  readonly jobs: ReadonlyArray<JobRow>
  /** Of the newest conversion, by their pages. */
  readonly chunks: ReadonlyArray<typeof ReportedChunk.Type>
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
    /** Pages of results that were answered from the batch. */
    readonly served: number
    readonly fallback: number
    readonly costUsd: number
    /** The on-demand price of the accepted answers. */
    readonly onDemandUsd: number
    /** By what was served; negative where unused answers cost more than was saved, and while results are not used yet. */
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
    /** Documents without jobs, of each file the newest conversion, and flyers; what moved last comes first. */
    readonly others: (filter: {
      readonly status?: OtherWork["status"] | undefined
      /** 1 to {@link MAX_JOBS_PAGE}. */
      readonly limit: number
      readonly cursor?: string | undefined
    }) => Effect.Effect<
      { readonly rows: ReadonlyArray<OtherWork>; readonly nextCursor: string | null },
      StoreUnavailable | InvalidCursor
    >
    /** How many jobs have each status; one that no job has may be missing. */
    readonly jobCounts: Effect.Effect<
      ReadonlyArray<{ readonly status: JobStatus; readonly jobs: number }>,
      StoreUnavailable
    >
    /** The job of this id, as far as admins act on it; `undefined` when it does not exist or its file was deleted. */
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
    /** A document, deleted or not, as long as its row is kept; else `undefined`. */
    readonly document: (fileId: FileId) => Effect.Effect<DocumentReport | undefined, StoreUnavailable>
    /** Today and the `days` − 1 days before it, UTC; 1 to {@link MAX_COST_DAYS}. */
    readonly costs: (days: number) => Effect.Effect<CostReport, StoreUnavailable>
  }
>()("postlane/ports/JobReport") {}
