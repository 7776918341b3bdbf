import { Effect, Layer, Schema } from "effect"

import { BatchOutcome } from "../../../domain/batch/row.ts"
import { type BatchEnd, BatchStore } from "../../../ports/batch/batch-store.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { answerOf, costsText, done, firstOf, rowsOf, seconds } from "../conversion/statement.ts"
import { toJsonText } from "../values.ts"

const ClaimedRow = Schema.Struct({
  id: Schema.String,
  job_id: Schema.String,
  found_open: Schema.Boolean,
  stuck: Schema.Boolean,
  close_reason: Schema.NullOr(Schema.String),
  waiting: Schema.Boolean,
  input_prefix: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  abandoned: Schema.Boolean,
  object_key: Schema.String,
  total_pages: Schema.Int
})

const PolledRow = Schema.Struct({
  id: Schema.String,
  job_id: Schema.String,
  batch_job_arn: Schema.String,
  model: Schema.String,
  input_usd: Schema.NullOr(Schema.Finite),
  output_usd: Schema.NullOr(Schema.Finite),
  records: Schema.Int,
  shards: Schema.Int,
  close_reason: Schema.NullOr(Schema.String),
  overdue: Schema.Boolean,
  abandoned: Schema.Boolean
})

const ChunkRow = Schema.Struct({ chunk_index: Schema.Int, first_page: Schema.Int, last_page: Schema.Int })
const StrandedRow = Schema.Struct({ job_id: Schema.String, outcome: BatchOutcome, cost_usd: Schema.Finite })

/** The entry as `book_costs` takes it, or null. */
const costText = ({ cost }: BatchEnd): string | null =>
  cost === undefined ? null : costsText([cost]).slice(1, -1)

/** Batch rows on PostgreSQL. */
export const layer: Layer.Layer<BatchStore, never, ReadSql | WriteSql> = Layer.effect(
  BatchStore,
  Effect.gen(function* () {
    const read = yield* ReadSql
    const write = yield* WriteSql

    const close = (id: string, lease: string | null, end: BatchEnd) =>
      answerOf(
        Schema.Boolean,
        write`select end_conversion_batch_row(
          ${id}::uuid, ${lease}::uuid, ${end.outcome}, ${end.reason}, ${end.endState},
          ${end.accepted}::integer, ${end.fallback}::integer, ${costText(end)}::jsonb
        ) as answer`
      )

    return BatchStore.of({
      claim: ({ giveUpIn, lease, model, preparer, stuckAfter, take, term, window }) =>
        Effect.map(
          firstOf(
            ClaimedRow,
            write`select c.*, j.status = 'waiting_batch' as waiting
              from claim_conversion_batch(
                ${lease}::uuid, ${preparer}::uuid, ${term}::bigint, ${model},
                ${seconds(stuckAfter)}::float8 * interval '1 second', ${seconds(window)}::float8 * interval '1 second',
                ${take}, ${seconds(giveUpIn)}::float8 * interval '1 second'
              ) c
              join large_conversion_jobs j on j.id = c.job_id`
          ),
          (row) =>
            row && {
              id: row.id,
              lease,
              jobId: row.job_id,
              foundOpen: row.found_open,
              stuck: row.stuck,
              closeReason: row.close_reason,
              waiting: row.waiting,
              inputPrefix: row.input_prefix,
              model: row.model,
              abandoned: row.abandoned,
              objectKey: row.object_key,
              totalPages: row.total_pages
            }
        ),
      chunks: (jobId) =>
        Effect.map(
          rowsOf(
            ChunkRow,
            read`select chunk_index, first_page, last_page from chunk_jobs where job_id = ${jobId}::uuid
              order by chunk_index`
          ),
          (rows) =>
            rows.map(({ chunk_index, first_page, last_page }) => ({
              chunkIndex: chunk_index,
              firstPage: first_page,
              lastPage: last_page
            }))
        ),
      uploaded: ({ id, lease }, { bytes, model, prefix, price, records, shards }) =>
        answerOf(
          Schema.Boolean,
          write`select batch_records_uploaded(
            ${id}::uuid, ${lease}::uuid, ${prefix}, ${records}::integer, ${shards}::integer, ${bytes}::bigint,
            ${model}, ${price.inputUsdPerMtok}::float8::numeric, ${price.outputUsdPerMtok}::float8::numeric
          ) as answer`
        ),
      submitted: ({ id, lease }, { arn, giveUpIn, name, pollIn }) =>
        answerOf(
          Schema.Boolean,
          write`select submit_conversion_batch_row(
            ${id}::uuid, ${lease}::uuid, ${arn}, ${name}, ${seconds(pollIn)}::float8 * interval '1 second',
            ${seconds(giveUpIn)}::float8 * interval '1 second'
          ) as answer`
        ),
      isOrphan: (id, arn) =>
        answerOf(
          Schema.Boolean,
          write`select exists (
            select from conversion_batch_jobs
            where id = ${id}::uuid and state = 'closed' and batch_job_arn is distinct from ${arn}
          ) as answer`
        ),
      drop: ({ id, lease }, end) => close(id, lease, end),
      end: (id, end) => close(id, null, end),
      claimPolls: (every, limit) =>
        Effect.map(
          rowsOf(
            PolledRow,
            write`select id, job_id, coalesce(batch_job_arn, '') as batch_job_arn, coalesce(model, '') as model,
                input_usd_per_mtok::float8 as input_usd, output_usd_per_mtok::float8 as output_usd, records, shards,
                close_reason,
                coalesce(deadline_at <= clock_timestamp(), false) as overdue,
                coalesce(deadline_at <= clock_timestamp() - interval '1 day', false) as abandoned
              from claim_batch_polls(${seconds(every)}::float8 * interval '1 second', ${limit}::integer)`
          ),
          (rows) =>
            rows.map((row) => ({
              id: row.id,
              jobId: row.job_id,
              arn: row.batch_job_arn,
              model: row.model,
              price:
                row.input_usd === null || row.output_usd === null
                  ? undefined
                  : { inputUsdPerMtok: row.input_usd, outputUsdPerMtok: row.output_usd },
              records: row.records,
              shards: row.shards,
              closeReason: row.close_reason,
              overdue: row.overdue,
              abandoned: row.abandoned
            }))
        ),
      beginCollect: (id) =>
        Effect.map(
          answerOf(Schema.NullOr(Schema.Int), write`select begin_batch_collect(${id}::uuid) as answer`),
          (attempt) => attempt ?? undefined
        ),
      giveUp: (id, reason) =>
        answerOf(Schema.Boolean, write`select stop_conversion_batch_row(${id}::uuid, ${reason}) as answer`),
      releaseOverdue: ({ giveUpIn, slack, stuckAfter, window }) =>
        Effect.map(
          answerOf(
            Schema.NullOr(Schema.String),
            write`select release_overdue_batch_job(
              ${seconds(giveUpIn)}::float8 * interval '1 second', ${seconds(stuckAfter)}::float8 * interval '1 second',
              ${seconds(slack)}::float8 * interval '1 second', ${seconds(window)}::float8 * interval '1 second'
            ) as answer`
          ),
          (jobId) => jobId ?? undefined
        ),
      stranded: Effect.map(
        rowsOf(
          StrandedRow,
          write`select job_id, outcome, cost_usd::float8 as cost_usd from stranded_batch_conversion_jobs() limit 1000`
        ),
        (rows) => rows.map(({ cost_usd, job_id, outcome }) => ({ jobId: job_id, outcome, costUsd: cost_usd }))
      ),
      resume: (jobId, patch, window) =>
        answerOf(
          Schema.Boolean,
          write`select resume_batch_conversion_job(
            ${jobId}::uuid, ${toJsonText(patch)}::jsonb, ${seconds(window)}::float8 * interval '1 second'
          ) as answer`
        ),
      makeInteractive: (jobId, window) =>
        answerOf(
          Schema.Literals(["resumed", "closed", "not_waiting"]),
          write`select make_conversion_job_interactive(
            ${jobId}::uuid, ${seconds(window)}::float8 * interval '1 second'
          ) as answer`
        ),
      toStop: (jobId) =>
        Effect.map(
          firstOf(
            Schema.Struct({ arn: Schema.NullOr(Schema.String) }),
            write`select batch_job_arn as arn from conversion_batch_jobs
              where job_id = ${jobId}::uuid and state = 'submitted' and close_reason is not null`
          ),
          (row) => row?.arn ?? undefined
        ),
      toPurge: (after, limit) =>
        Effect.map(
          rowsOf(
            Schema.Struct({ id: Schema.String, job_id: Schema.String }),
            read`select * from batch_rows_to_purge(
              ${seconds(after)}::float8 * interval '1 second', ${limit}::integer
            )`
          ),
          (rows) => rows.map(({ id, job_id }) => ({ id, jobId: job_id }))
        ),
      purged: (id) =>
        done(write`update conversion_batch_jobs set purged_at = clock_timestamp() where id = ${id}::uuid`)
    })
  })
)
