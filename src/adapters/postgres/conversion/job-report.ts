import { Effect, Layer, Schema } from "effect"

import { savedUsd } from "../../../domain/batch/cost.ts"
import { BatchOutcome, BatchRowState } from "../../../domain/batch/row.ts"
import { JobStatus } from "../../../domain/conversion/job.ts"
import { CustomerId, FileId, JobId } from "../../../domain/ids.ts"
import {
  DocumentFacts,
  JobReport,
  type JobRow,
  MAX_DOCUMENT_ROWS,
  ReportedChunk
} from "../../../ports/conversion/job-report.ts"
import { SlowSql } from "../client.ts"
import { decodedPage, newestFirst, type StoredRow } from "../newest-first.ts"
import { slowReads } from "../statement.ts"
import { TextOrNull, timeColumn } from "../values.ts"
import { othersIn } from "./other-work.ts"
import { StoredOptions } from "./rows.ts"

const Row = Schema.Struct({
  id: JobId,
  fileId: FileId,
  fileName: TextOrNull,
  customerEmail: TextOrNull,
  customerId: Schema.NullOr(CustomerId),
  bulkId: TextOrNull,
  status: JobStatus,
  options: StoredOptions,
  totalPages: Schema.Int,
  totalChunks: Schema.Int,
  doneChunks: Schema.Int,
  totalCostUsd: Schema.Finite,
  error: TextOrNull,
  createdAt: Schema.String,
  finishedAt: TextOrNull,
  state: Schema.NullOr(BatchRowState),
  outcome: Schema.NullOr(BatchOutcome),
  closeReason: TextOrNull,
  batchJobArn: TextOrNull,
  endState: TextOrNull,
  records: Schema.NullOr(Schema.Int),
  accepted: Schema.NullOr(Schema.Int),
  fallback: Schema.NullOr(Schema.Int),
  inputBytes: Schema.NullOr(Schema.Finite),
  batchCostUsd: Schema.NullOr(Schema.Finite),
  attempts: Schema.NullOr(Schema.Int),
  submittedAt: TextOrNull,
  closedAt: TextOrNull
})

const COLUMNS = `j.id, j.file_id, f.name as file_name, c.email as customer_email, j.customer_id, j.bulk_id, j.status, j.options, j.total_pages, j.total_chunks, j.done_chunks,
coalesce(j.total_cost_usd, conversion_cost(j.id))::float8 as total_cost_usd, j.error, ${timeColumn("created_at", "j.created_at")},
${timeColumn("finished_at", "j.finished_at")}, b.state, b.outcome, b.close_reason, b.batch_job_arn, b.end_state, b.records,
b.accepted, b.fallback, b.input_bytes::float8 as input_bytes, b.cost_usd::float8 as batch_cost_usd, b.attempts,
${timeColumn("submitted_at", "b.submitted_at")}, ${timeColumn("closed_at", "b.closed_at")}`

const FROM = `large_conversion_jobs j left join conversion_batch_jobs b on b.job_id = j.id
left join files f on f.id = j.file_id left join customers c on c.id = j.customer_id`

const toRow = ({
  accepted,
  attempts,
  batchCostUsd,
  batchJobArn,
  closeReason,
  closedAt,
  endState,
  fallback,
  inputBytes,
  outcome,
  records,
  state,
  submittedAt,
  ...job
}: typeof Row.Type): JobRow => ({
  ...job,
  batch:
    state === null
      ? null
      : {
          state,
          outcome,
          reason: closeReason,
          arn: batchJobArn,
          endState,
          records: records ?? 0,
          accepted: accepted ?? 0,
          fallback: fallback ?? 0,
          inputBytes: inputBytes ?? 0,
          costUsd: batchCostUsd ?? 0,
          attempts: attempts ?? 0,
          submittedAt,
          closedAt
        }
})

const DOCUMENT = `select f.id, f.name, f.kind, f.size_bytes::float8 as size_bytes, f.pages, f.status, f.error, f.customer_id,
  c.email as customer_email, ${timeColumn("created_at", "f.created_at")}, ${timeColumn("deleted_at", "f.deleted_at")},
  f.result_key is not null as has_result, f.unreadable_pages,
  (select count(*)::int from file_shares s where s.file_id = f.id and s.expires_at > now()) as shares
from files f left join customers c on c.id = f.customer_id where f.id = $1::uuid`

const CHUNKS = `select first_page + 1 as first_page, last_page + 1 as last_page, status, attempts, error
from chunk_jobs where job_id = $1::uuid and (status <> 'completed' or attempts > 1)
order by chunk_index limit ${MAX_DOCUMENT_ROWS}`

/** A document with its jobs, and what is left of the newest one. */
const documentIn =
  (sql: SlowSql["Service"]): JobReport["Service"]["document"] =>
  (fileId) =>
    Effect.gen(function* () {
      const found = yield* slowReads.first("document", DocumentFacts, sql.unsafe(DOCUMENT, [fileId]))
      if (found === undefined) return undefined
      const rows = yield* slowReads.rows(
        "document",
        Row,
        sql.unsafe(
          `select ${COLUMNS} from ${FROM} where j.file_id = $1::uuid order by j.created_at desc, j.id desc limit ${MAX_DOCUMENT_ROWS}`,
          [fileId]
        )
      )
      const newest = rows[0]?.id
      const chunks =
        newest === undefined
          ? []
          : yield* slowReads.rows("document", ReportedChunk, sql.unsafe(CHUNKS, [newest]))
      return { ...found, jobs: rows.map(toRow), chunks }
    })

/** One source of costs, as the statement builds it. */
const Source = Schema.Struct({
  source: Schema.String,
  entries: Schema.Int,
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  costUsd: Schema.Finite
})

const Costs = Schema.Struct({
  from: Schema.String,
  sources: Schema.Array(Source),
  jobs: Schema.Int,
  accepted: Schema.Finite,
  served: Schema.Finite,
  fallback: Schema.Finite,
  costUsd: Schema.Finite,
  onDemandUsd: Schema.Finite
})

const FIRST = "date_trunc('day', now() at time zone 'UTC') - make_interval(days => $1::int - 1)"

/** Always one row, even for an empty ledger. */
const COSTS = `with rows as (
  select * from cost_ledger where created_at >= (${FIRST}) at time zone 'UTC'
)
select to_char(${FIRST}, 'YYYY-MM-DD') as "from",
  coalesce((
    select jsonb_agg(s order by s."costUsd" desc, s.source) from (
      select source, count(*)::int as entries, sum(input_tokens)::float8 as "inputTokens",
        sum(output_tokens)::float8 as "outputTokens", sum(cost_usd)::float8 as "costUsd"
      from rows group by source
    ) s
  ), '[]') as sources,
  b.*
from (
  select count(*)::int as jobs,
    coalesce(sum((metadata ->> 'accepted')::float8), 0)::float8 as accepted,
    coalesce((
      select sum(c.served_pages) from chunk_jobs c
      where c.job_id in (select r.job_id from rows r where (r.metadata ->> 'batch')::boolean)
    ), 0)::float8 as served,
    coalesce(sum((metadata ->> 'fallback')::float8), 0)::float8 as fallback,
    coalesce(sum(cost_usd), 0)::float8 as cost_usd,
    coalesce(sum((metadata ->> 'onDemandUsd')::float8), 0)::float8 as on_demand_usd
  from rows where (metadata ->> 'batch')::boolean
) b`

/** Jobs and costs in Postgres. */
export const layer: Layer.Layer<JobReport, never, SlowSql> = Layer.effect(
  JobReport,
  Effect.map(SlowSql, (sql) =>
    JobReport.of({
      jobs: ({ cursor, limit, status }) =>
        newestFirst((text, parameters) => slowReads.stored("jobs", sql.unsafe<StoredRow>(text, parameters)), {
          from: FROM,
          name: "j",
          columns: COLUMNS,
          conditions: (bind) => (status === undefined ? [] : [`j.status = ${bind(status)}`]),
          limit,
          cursor
        }).pipe(
          Effect.flatMap(decodedPage("jobs", Row)),
          Effect.map(({ nextCursor, rows }) => ({ rows: rows.map(toRow), nextCursor }))
        ),
      others: othersIn(sql),
      jobCounts: slowReads.rows(
        "jobCounts",
        Schema.Struct({ status: JobStatus, jobs: Schema.Int }),
        sql`select status, count(*)::int as jobs from large_conversion_jobs group by status`
      ),
      jobOf: (jobId) =>
        slowReads.first(
          "jobOf",
          Schema.Struct({
            fileId: FileId,
            customerId: CustomerId,
            status: JobStatus,
            options: StoredOptions
          }),
          sql`select j.file_id, f.customer_id, j.status, j.options from large_conversion_jobs j
            join files f on f.id = j.file_id where j.id = ${jobId}::uuid and f.deleted_at is null`
        ),
      document: documentIn(sql),
      costs: (days) =>
        Effect.map(
          slowReads.one("costs", Costs, sql.unsafe(COSTS, [days])),
          ({ from, sources, ...batch }) => ({
            days,
            from,
            totalUsd: sources.reduce((sum, { costUsd }) => sum + costUsd, 0),
            sources,
            batch: { ...batch, savedUsd: savedUsd(batch) }
          })
        )
    })
  )
)
