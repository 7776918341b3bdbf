import { Effect, Layer, Schema } from "effect"

import { BatchOutcome, BatchRowState } from "../../../domain/batch/row.ts"
import { JobStatus } from "../../../domain/conversion/job.ts"
import { JobReport, type JobRow } from "../../../ports/conversion/job-report.ts"
import { ReadSql } from "../client.ts"
import { newestFirst } from "../newest-first.ts"
import { timeColumn } from "../values.ts"
import { StoredOptions } from "./rows.ts"
import { firstOf, rowsOf } from "./statement.ts"

const TextOrNull = Schema.NullOr(Schema.String)

const Row = Schema.Struct({
  id: Schema.String,
  file_id: Schema.String,
  customer_id: TextOrNull,
  bulk_id: TextOrNull,
  status: JobStatus,
  options: StoredOptions,
  total_pages: Schema.Int,
  total_chunks: Schema.Int,
  done_chunks: Schema.Int,
  cost_usd: Schema.Finite,
  error: TextOrNull,
  created_at: Schema.String,
  finished_at: TextOrNull,
  state: Schema.NullOr(BatchRowState),
  outcome: Schema.NullOr(BatchOutcome),
  close_reason: TextOrNull,
  batch_job_arn: TextOrNull,
  end_state: TextOrNull,
  records: Schema.NullOr(Schema.Int),
  accepted: Schema.NullOr(Schema.Int),
  fallback: Schema.NullOr(Schema.Int),
  input_bytes: Schema.NullOr(Schema.Finite),
  batch_cost_usd: Schema.NullOr(Schema.Finite),
  attempts: Schema.NullOr(Schema.Int),
  submitted_at: TextOrNull,
  closed_at: TextOrNull
})

const COLUMNS = `j.id, j.file_id, j.customer_id, j.bulk_id, j.status, j.options, j.total_pages, j.total_chunks, j.done_chunks,
coalesce(j.total_cost_usd, conversion_cost(j.id))::float8 as cost_usd, j.error, ${timeColumn("created_at", "j.created_at")},
${timeColumn("finished_at", "j.finished_at")}, b.state, b.outcome, b.close_reason, b.batch_job_arn, b.end_state, b.records,
b.accepted, b.fallback, b.input_bytes::float8 as input_bytes, b.cost_usd::float8 as batch_cost_usd, b.attempts,
${timeColumn("submitted_at", "b.submitted_at")}, ${timeColumn("closed_at", "b.closed_at")}`

const toRow = (row: typeof Row.Type): JobRow => ({
  id: row.id,
  fileId: row.file_id,
  customerId: row.customer_id,
  bulkId: row.bulk_id,
  status: row.status,
  options: row.options,
  totalPages: row.total_pages,
  totalChunks: row.total_chunks,
  doneChunks: row.done_chunks,
  totalCostUsd: row.cost_usd,
  error: row.error,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
  batch:
    row.state === null
      ? null
      : {
          state: row.state,
          outcome: row.outcome,
          reason: row.close_reason,
          arn: row.batch_job_arn,
          endState: row.end_state,
          records: row.records ?? 0,
          accepted: row.accepted ?? 0,
          fallback: row.fallback ?? 0,
          inputBytes: row.input_bytes ?? 0,
          costUsd: row.batch_cost_usd ?? 0,
          attempts: row.attempts ?? 0,
          submittedAt: row.submitted_at,
          closedAt: row.closed_at
        }
})

const Source = Schema.Struct({
  source: Schema.String,
  entries: Schema.Int,
  input_tokens: Schema.Finite,
  output_tokens: Schema.Finite,
  cost_usd: Schema.Finite
})

const Costs = Schema.Struct({
  from: Schema.String,
  sources: Schema.Array(Source),
  jobs: Schema.Int,
  accepted: Schema.Finite,
  fallback: Schema.Finite,
  batch_usd: Schema.Finite,
  on_demand_usd: Schema.Finite
})

const FIRST = "date_trunc('day', now() at time zone 'UTC') - make_interval(days => $1::int - 1)"

/** Always one row, even for an empty ledger. */
const COSTS = `with rows as (
  select * from cost_ledger where created_at >= (${FIRST}) at time zone 'UTC'
)
select to_char(${FIRST}, 'YYYY-MM-DD') as "from",
  coalesce((
    select jsonb_agg(s order by s.cost_usd desc, s.source) from (
      select source, count(*)::int as entries, sum(input_tokens)::float8 as input_tokens,
        sum(output_tokens)::float8 as output_tokens, sum(cost_usd)::float8 as cost_usd
      from rows group by source
    ) s
  ), '[]') as sources,
  b.*
from (
  select count(*)::int as jobs,
    coalesce(sum((metadata ->> 'accepted')::float8), 0)::float8 as accepted,
    coalesce(sum((metadata ->> 'fallback')::float8), 0)::float8 as fallback,
    coalesce(sum(cost_usd), 0)::float8 as batch_usd,
    coalesce(sum((metadata ->> 'onDemandUsd')::float8), 0)::float8 as on_demand_usd
  from rows where (metadata ->> 'batch')::boolean
) b`

/** Jobs and costs in Postgres. */
export const layer: Layer.Layer<JobReport, never, ReadSql> = Layer.effect(
  JobReport,
  Effect.map(ReadSql, (sql) =>
    JobReport.of({
      jobs: ({ cursor, limit, status }) =>
        newestFirst((text, parameters) => rowsOf(Row, sql.unsafe(text, parameters)), {
          from: "large_conversion_jobs j left join conversion_batch_jobs b on b.job_id = j.id",
          name: "j",
          columns: COLUMNS,
          conditions: (bind) => (status === undefined ? [] : [`j.status = ${bind(status)}`]),
          limit,
          cursor
        }).pipe(Effect.map(({ nextCursor, rows }) => ({ rows: rows.map(toRow), nextCursor }))),
      costs: Effect.fnUntraced(function* (days) {
        const row = yield* firstOf(Costs, sql.unsafe(COSTS, [days]))
        if (row === undefined) return yield* Effect.die(new Error("the cost report gave no row"))
        return {
          days,
          from: row.from,
          totalUsd: row.sources.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
          sources: row.sources.map(({ cost_usd, entries, input_tokens, output_tokens, source }) => ({
            source,
            entries,
            inputTokens: input_tokens,
            outputTokens: output_tokens,
            costUsd: cost_usd
          })),
          batch: {
            jobs: row.jobs,
            accepted: row.accepted,
            fallback: row.fallback,
            costUsd: row.batch_usd,
            onDemandUsd: row.on_demand_usd,
            savedUsd: row.on_demand_usd - row.batch_usd
          }
        }
      })
    })
  )
)
