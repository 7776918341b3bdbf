import { Option, Schema, SchemaTransformation } from "effect"

import type { CostEntry } from "../../../domain/cascade/cost.ts"
import { FAILURES } from "../../../domain/conversion/failures.ts"
import { FileKind, FileStatus, type StoredFile } from "../../../domain/conversion/file.ts"
import { JobStatus, JobOptions } from "../../../domain/conversion/job.ts"
import { Making } from "../../../domain/conversion/making.ts"
import { CustomerId, FileId, JobId, ChunkId, FlyerId, type LeaseId } from "../../../domain/ids.ts"
import { LeftOut } from "../../../reader/model/left-out.ts"
import { statements } from "../statement.ts"
import { TextOrNull, timeColumn, toJsonText } from "../values.ts"

/** Every function is idempotent by its ids. */
export const ask = statements({ within: "10 seconds", repeatable: true })

const decodeOptions = Schema.decodeUnknownOption(JobOptions)

/** A job's options as stored in its row. An option of the wrong type counts as not given. */
export const StoredOptions = Schema.Record(Schema.String, Schema.Unknown).pipe(
  Schema.decodeTo(
    Schema.toType(JobOptions),
    SchemaTransformation.transform<JobOptions, Readonly<Record<string, unknown>>>({
      decode: (stored) => {
        const readable = Object.entries(stored).filter(([name, value]) =>
          Option.isSome(decodeOptions({ [name]: value }))
        )
        return Option.getOrElse(decodeOptions(Object.fromEntries(readable)), () => ({}))
      },
      encode: (options) => options
    })
  )
)

/** A row of `files` with its job's status. */
export const FileRow = Schema.Struct({
  id: FileId,
  customerId: CustomerId,
  name: Schema.String,
  kind: FileKind,
  sizeBytes: Schema.Number,
  pages: Schema.Int,
  status: FileStatus,
  phase: TextOrNull,
  jobId: Schema.NullOr(JobId),
  jobStatus: Schema.NullOr(JobStatus),
  jobEndedAt: TextOrNull,
  chunksDone: Schema.Int,
  done: Schema.Int,
  total: Schema.Int,
  error: TextOrNull,
  createdAt: Schema.String,
  objectKey: Schema.String,
  resultKey: TextOrNull,
  unreadablePages: Schema.Array(Schema.Int),
  hasText: Schema.NullOr(Schema.Boolean),
  noModelPages: Schema.Array(Schema.Int),
  made: Schema.NullOr(Making),
  madeAt: TextOrNull,
  leftOut: Schema.NullOr(LeftOut),
  reference: TextOrNull
})

/** Its columns, where `f` is the file and `j` its job. */
export const FILE_COLUMNS = `f.id, f.customer_id, f.name, f.kind, f.size_bytes::float8 as size_bytes, f.pages, f.status, f.phase, f.job_id,
j.status as job_status, ${timeColumn("job_ended_at", "j.finished_at")}, coalesce(j.done_chunks, 0) as chunks_done, f.done, f.total, f.error, ${timeColumn("created_at", "f.created_at")}, f.object_key, f.result_key,
f.unreadable_pages, f.has_text, f.no_model_pages, f.made, ${timeColumn("made_at", "f.made_at")}, f.left_out, f.reference`

/** Where they come from. */
export const FILE_FROM = "files f left join large_conversion_jobs j on j.id = f.job_id"

export const toFile = ({ done, made, madeAt, total, ...row }: typeof FileRow.Type): StoredFile => ({
  ...row,
  made: made === null || madeAt === null ? null : { ...made, at: madeAt },
  batchWaiting: row.jobStatus === "waiting_batch",
  progress: { done, total }
})

/** What a claim returned, with the lease that proves it. */
export const heldBy =
  (lease: LeaseId) =>
  <A extends object>(row: A | undefined) =>
    row && { ...row, lease }

export const QueuedRow = Schema.Struct({
  jobId: JobId,
  fileId: FileId,
  pages: Schema.Int,
  options: StoredOptions
})

export const ChunkRow = Schema.Struct({
  id: ChunkId,
  jobId: JobId,
  chunkIndex: Schema.Int,
  firstPage: Schema.Int,
  lastPage: Schema.Int,
  attempts: Schema.Int,
  fileId: FileId,
  objectKey: Schema.String,
  options: StoredOptions,
  totalPages: Schema.Int
})

export const AssemblyRow = Schema.Struct({
  jobId: JobId,
  fileId: FileId,
  fileName: Schema.String,
  objectKey: Schema.String,
  attempts: Schema.Int,
  options: StoredOptions,
  totalPages: Schema.Int,
  chunkKeys: Schema.Array(TextOrNull)
})

export const InlineRow = Schema.Struct({
  fileId: FileId,
  jobId: JobId,
  name: Schema.String,
  kind: FileKind,
  objectKey: Schema.String,
  attempts: Schema.Int,
  options: StoredOptions
})

export const FlyerRow = Schema.Struct({
  id: FlyerId,
  fileId: FileId,
  name: Schema.String,
  objectKey: Schema.String,
  pages: Schema.Int,
  attempts: Schema.Int
})

/** A row of `flyer_jobs` as its owner sees it. */
export const FlyerJobRow = Schema.Struct({
  id: FlyerId,
  fileId: FileId,
  status: Schema.Literals(["pending", "processing", "completed", "failed"]),
  error: TextOrNull,
  compConversionId: Schema.NullOr(JobId),
  createdAt: Schema.String,
  resultKey: TextOrNull,
  unreadablePages: Schema.Array(Schema.Int)
})

/** Its columns, where `x` is the flyer job. The error of an earlier attempt is hidden while another attempt is made. */
export const FLYER_COLUMNS = `x.id, x.file_id, x.status, case when x.status = 'failed' then x.error end as error,
x.comp_conversion_id, ${timeColumn("created_at", "x.created_at")}, x.result_key,
x.unreadable_pages`

/** What functions that end work free of charge are handed as `p_reasons`. */
export const REASONS = JSON.stringify(FAILURES)

/** The parameter of `book_costs`. */
export const costsText = (costs: ReadonlyArray<CostEntry>): string =>
  toJsonText(
    costs.map((cost) => ({
      id: cost.id,
      job_id: cost.jobId,
      chunk_id: cost.chunkId,
      source: cost.source,
      backend: cost.backend,
      model: cost.model,
      input_tokens: cost.usage.inputTokens,
      output_tokens: cost.usage.outputTokens,
      cost_usd: cost.costUsd,
      metadata: cost.metadata
    }))
  )
