import { Option, Schema, SchemaTransformation } from "effect"

import { JobStatus, JobOptions } from "../../../domain/conversion/job.ts"
import type { StoredFile, StoredFlyer } from "../../../ports/conversion/conversion-store.ts"
import { timeColumn } from "../values.ts"

const TextOrNull = Schema.NullOr(Schema.String)

const Kind = Schema.Literals(["pdf", "docx", "png", "jpeg"])

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
  id: Schema.String,
  customer_id: Schema.String,
  name: Schema.String,
  kind: Kind,
  size_bytes: Schema.Number,
  pages: Schema.Int,
  status: Schema.Literals(["uploaded", "processing", "chunked_processing", "completed", "failed"]),
  phase: TextOrNull,
  job_id: TextOrNull,
  job_status: Schema.NullOr(JobStatus),
  done: Schema.Int,
  total: Schema.Int,
  error: TextOrNull,
  created_at: Schema.String,
  object_key: Schema.String,
  result_key: TextOrNull,
  unreadable_pages: Schema.Array(Schema.Int),
  has_text: Schema.NullOr(Schema.Boolean)
})

/** Its columns, where `f` is the file and `j` its job. */
export const FILE_COLUMNS = `f.id, f.customer_id, f.name, f.kind, f.size_bytes::float8 as size_bytes, f.pages, f.status, f.phase, f.job_id,
j.status as job_status, f.done, f.total, f.error, ${timeColumn("created_at", "f.created_at")}, f.object_key, f.result_key,
f.unreadable_pages, f.has_text`

/** Where they come from. */
export const FILE_FROM = "files f left join large_conversion_jobs j on j.id = f.job_id"

export const toFile = (row: typeof FileRow.Type): StoredFile => ({
  id: row.id,
  customerId: row.customer_id,
  name: row.name,
  kind: row.kind,
  sizeBytes: row.size_bytes,
  pages: row.pages,
  status: row.status,
  phase: row.phase,
  batchWaiting: row.job_status === "waiting_batch",
  jobId: row.job_id,
  jobStatus: row.job_status,
  progress: { done: row.done, total: row.total },
  error: row.error,
  createdAt: row.created_at,
  objectKey: row.object_key,
  resultKey: row.result_key,
  unreadablePages: row.unreadable_pages,
  hasText: row.has_text
})

export const QueuedRow = Schema.Struct({
  job_id: Schema.String,
  file_id: Schema.String,
  pages: Schema.Int,
  options: StoredOptions
})

export const ChunkRow = Schema.Struct({
  id: Schema.String,
  job_id: Schema.String,
  chunk_index: Schema.Int,
  first_page: Schema.Int,
  last_page: Schema.Int,
  attempts: Schema.Int,
  file_id: Schema.String,
  object_key: Schema.String,
  options: StoredOptions,
  total_pages: Schema.Int
})

export const AssemblyRow = Schema.Struct({
  id: Schema.String,
  file_id: Schema.String,
  file_name: Schema.String,
  attempts: Schema.Int,
  options: StoredOptions,
  total_pages: Schema.Int,
  chunk_keys: Schema.Array(TextOrNull)
})

export const InlineRow = Schema.Struct({
  id: Schema.String,
  job_id: Schema.String,
  name: Schema.String,
  kind: Kind,
  object_key: Schema.String,
  attempts: Schema.Int,
  options: StoredOptions
})

export const FlyerRow = Schema.Struct({
  id: Schema.String,
  file_id: Schema.String,
  name: Schema.String,
  object_key: Schema.String,
  pages: Schema.Int,
  attempts: Schema.Int
})

/** A row of `flyer_jobs` as its owner sees it. */
export const FlyerJobRow = Schema.Struct({
  id: Schema.String,
  file_id: Schema.String,
  status: Schema.Literals(["pending", "processing", "completed", "failed"]),
  error: TextOrNull,
  comp_conversion_id: TextOrNull,
  created_at: Schema.String,
  result_key: TextOrNull,
  unreadable_pages: Schema.Array(Schema.Int)
})

/** Its columns, where `x` is the flyer job. The error of an earlier attempt is hidden while another attempt is made. */
export const FLYER_COLUMNS = `x.id, x.file_id, x.status, case when x.status = 'failed' then x.error end as error,
x.comp_conversion_id, ${timeColumn("created_at", "x.created_at")}, x.result_key,
x.unreadable_pages`

export const toFlyer = (row: typeof FlyerJobRow.Type): StoredFlyer => ({
  id: row.id,
  fileId: row.file_id,
  status: row.status,
  error: row.error,
  compConversionId: row.comp_conversion_id,
  createdAt: row.created_at,
  resultKey: row.result_key,
  unreadablePages: row.unreadable_pages
})
