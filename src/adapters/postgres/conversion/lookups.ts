import { Effect, Schema } from "effect"

import { JobStatus } from "../../../domain/conversion/job.ts"
import { FileId, JobId } from "../../../domain/ids.ts"
import type { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { ReadSql } from "../client.ts"
import { TextOrNull, timeColumn } from "../values.ts"
import { ask } from "./rows.ts"

const JobLookup = Schema.Struct({
  id: JobId,
  fileId: FileId,
  bulkId: TextOrNull,
  status: JobStatus,
  error: TextOrNull,
  endedAt: TextOrNull
})

/** A conversion without a job row (yet) is known by its file and its hold. */
const JOB = `select $1::uuid as id, f.id as file_id, coalesce(j.bulk_id, i.bulk_id) as bulk_id,
    coalesce(j.status, o.outcome, case when f.status = 'processing' then 'processing' else 'pending' end) as status,
    coalesce(j.error, case when f.job_id = $1::uuid and f.status = 'failed' then f.error end) as error,
    ${timeColumn("ended_at", "coalesce(j.finished_at, case when o.outcome is not null and f.job_id = $1::uuid then coalesce(f.made_at, f.updated_at) end)")}
  from (
    select j.file_id from large_conversion_jobs j where j.id = $1::uuid
    union select f.id from files f where f.job_id = $1::uuid
    union select i.file_id from bulk_items i where i.job_id = $1::uuid
  ) as x
  join files f on f.id = x.file_id
  left join large_conversion_jobs j on j.id = $1::uuid
  left join bulk_items i on i.job_id = $1::uuid
  cross join lateral (select bulk_outcome(f.id, $1::uuid) as outcome) as o
  where f.customer_id = $2::uuid and f.deleted_at is null`

const BulkLookup = Schema.Struct({
  id: Schema.String,
  reference: TextOrNull,
  createdAt: Schema.String,
  waiting: Schema.Int,
  processing: Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  cancelled: Schema.Int
})

const counted = (state: string) => `count(*) filter (where x.state = '${state}')::integer as ${state}`

const BULK = `select b.id, b.reference, ${timeColumn("created_at", "b.created_at")},
    ${["waiting", "processing", "completed", "failed", "cancelled"].map(counted).join(", ")}
  from bulk_orders b
  join bulk_items i on i.bulk_id = b.id
  join files f on f.id = i.file_id
  left join large_conversion_jobs j on j.id = i.job_id
  cross join lateral (
    select coalesce(
      bulk_outcome(i.file_id, i.job_id),
      case when j.status in ('processing', 'assembling') or (j.id is null and f.status = 'processing' and f.lease is not null)
        then 'processing' else 'waiting' end
    ) as state
  ) as x
  where b.id = $1::uuid and b.customer_id = $2::uuid
  group by b.id`

/** Conversions and bulk orders, looked up by id. */
export const lookupsOn = (read: ReadSql["Service"]): Pick<ConversionStore["Service"], "job" | "bulk"> => ({
  job: (jobId, customerId) => ask.first("job", JobLookup, read.unsafe(JOB, [jobId, customerId])),
  bulk: (bulkId, customerId) =>
    Effect.map(
      ask.first("bulk", BulkLookup, read.unsafe(BULK, [bulkId, customerId])),
      (row) =>
        row && {
          id: row.id,
          reference: row.reference,
          createdAt: row.createdAt,
          counts: {
            waiting: row.waiting,
            processing: row.processing,
            completed: row.completed,
            failed: row.failed,
            cancelled: row.cancelled
          }
        }
    )
})
