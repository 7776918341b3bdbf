import { Effect, Layer, Schema } from "effect"

import { BatchOutcome } from "../../../domain/batch/row.ts"
import { JobId, type LeaseId } from "../../../domain/ids.ts"
import { type BatchEnd, BatchStore, type PolledBatch } from "../../../ports/batch/batch-store.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { ask, costsText, heldBy } from "../conversion/rows.ts"
import { Absent, interval, TextOrNull, toJsonText } from "../values.ts"

type Store = BatchStore["Service"]
type Sql = WriteSql["Service"]

const ClaimedRow = Schema.Struct({
  id: Schema.String,
  jobId: JobId,
  foundOpen: Schema.Boolean,
  stuck: Schema.Boolean,
  closeReason: TextOrNull,
  waiting: Schema.Boolean,
  inputPrefix: TextOrNull,
  model: TextOrNull,
  abandoned: Schema.Boolean,
  objectKey: Schema.String,
  totalPages: Schema.Int
})

const PolledRow = Schema.Struct({
  id: Schema.String,
  jobId: JobId,
  arn: Schema.String,
  model: Schema.String,
  inputUsdPerMtok: Schema.NullOr(Schema.Finite),
  outputUsdPerMtok: Schema.NullOr(Schema.Finite),
  records: Schema.Int,
  shards: Schema.Int,
  closeReason: TextOrNull,
  overdue: Schema.Boolean,
  abandoned: Schema.Boolean
})

const ChunkRow = Schema.Struct({ chunkIndex: Schema.Int, firstPage: Schema.Int, lastPage: Schema.Int })
const StrandedRow = Schema.Struct({ jobId: JobId, outcome: BatchOutcome, costUsd: Schema.Finite })
const PurgeRow = Schema.Struct({ id: Schema.String, jobId: JobId })

const withPrice = ({ inputUsdPerMtok, outputUsdPerMtok, ...row }: typeof PolledRow.Type): PolledBatch => ({
  ...row,
  price:
    inputUsdPerMtok === null || outputUsdPerMtok === null ? undefined : { inputUsdPerMtok, outputUsdPerMtok }
})

/** The entry as `book_costs` takes it, or null. */
const costText = ({ cost }: BatchEnd): string | null =>
  cost === undefined ? null : costsText([cost]).slice(1, -1)

/** Closes a row with its ledger entry; `lease`: only while it is held. */
const close = (sql: Sql, id: string, lease: LeaseId | null, end: BatchEnd) =>
  ask.answer(
    "endBatch",
    Schema.Boolean,
    sql`select end_conversion_batch_row(
      ${id}::uuid, ${lease}::uuid, ${end.outcome}, ${end.reason}, ${end.endState},
      ${end.accepted}::integer, ${end.fallback}::integer, ${costText(end)}::jsonb
    ) as answer`
  )

/** From a parked job to a submitted batch job. */
const submittingOn = (
  read: ReadSql["Service"],
  sql: Sql
): Pick<Store, "claim" | "chunks" | "uploaded" | "submitted" | "serviceFull" | "isOrphan" | "drop"> => ({
  claim: ({ budget, giveUpIn, lease, model, preparer, stuckAfter, take, term, window }) =>
    Effect.map(
      ask.first(
        "claimBatch",
        ClaimedRow,
        sql`select c.*,
            (select j.status = 'waiting_batch' from large_conversion_jobs j where j.id = c.job_id) as waiting
          from claim_conversion_batch(
            ${lease}::uuid, ${preparer}::uuid, ${term}::bigint, ${model}, ${interval(stuckAfter)}::interval,
            ${interval(window)}::interval, ${take}, ${interval(giveUpIn)}::interval,
            ${budget?.dailyUsd ?? null}::numeric, ${budget?.pageUsd ?? 0}::numeric
          ) c where c.job_id is not null`
      ),
      heldBy(lease)
    ),
  chunks: (jobId) =>
    ask.rows(
      "chunksOfBatch",
      ChunkRow,
      read`select chunk_index, first_page, last_page from chunk_jobs where job_id = ${jobId}::uuid order by chunk_index`
    ),
  uploaded: ({ id, lease }, { bytes, model, prefix, price, records, shards }) =>
    ask.answer(
      "uploaded",
      Schema.Boolean,
      sql`select batch_records_uploaded(
        ${id}::uuid, ${lease}::uuid, ${prefix}, ${records}::integer, ${shards}::integer, ${bytes}::bigint,
        ${model}, ${price.inputUsdPerMtok}::float8::numeric, ${price.outputUsdPerMtok}::float8::numeric
      ) as answer`
    ),
  submitted: ({ id, lease }, { arn, giveUpIn, name, pollIn }) =>
    ask.answer(
      "submitted",
      Schema.Boolean,
      sql`select submit_conversion_batch_row(
        ${id}::uuid, ${lease}::uuid, ${arn}, ${name}, ${interval(pollIn)}::interval,
        ${interval(giveUpIn)}::interval
      ) as answer`
    ),
  serviceFull: ask.done("serviceFull", sql`select batch_service_full()`),
  isOrphan: (id, arn) =>
    ask.answer(
      "isOrphan",
      Schema.Boolean,
      sql`select exists (
        select from conversion_batch_jobs
        where id = ${id}::uuid and state = 'closed' and batch_job_arn is distinct from ${arn}
      ) as answer`
    ),
  drop: ({ id, lease }, end) => close(sql, id, lease, end)
})

/** From a submitted batch job to a closed row. */
const collectingOn = (sql: Sql): Pick<Store, "claimPolls" | "beginCollect" | "giveUp" | "end"> => ({
  claimPolls: (every, limit) =>
    Effect.map(
      ask.rows(
        "claimPolls",
        PolledRow,
        sql`select id, job_id, coalesce(batch_job_arn, '') as arn, coalesce(model, '') as model,
            input_usd_per_mtok::float8 as input_usd_per_mtok, output_usd_per_mtok::float8 as output_usd_per_mtok,
            records, shards, close_reason,
            coalesce(deadline_at <= clock_timestamp(), false) as overdue,
            coalesce(deadline_at <= clock_timestamp() - interval '1 day', false) as abandoned
          from claim_batch_polls(${interval(every)}::interval, ${limit}::integer)`
      ),
      (rows) => rows.map(withPrice)
    ),
  beginCollect: (id) =>
    ask.answer("beginCollect", Absent(Schema.Int), sql`select begin_batch_collect(${id}::uuid) as answer`),
  giveUp: (id, reason) =>
    ask.answer(
      "giveUp",
      Schema.Boolean,
      sql`select stop_conversion_batch_row(${id}::uuid, ${reason}) as answer`
    ),
  end: (id, end) => close(sql, id, null, end)
})

/** Jobs that go on without the lane, and what is left of it. */
const releasingOn = (
  read: ReadSql["Service"],
  sql: Sql
): Pick<
  Store,
  "releaseOverdue" | "stranded" | "resume" | "makeInteractive" | "toStop" | "toPurge" | "purged"
> => ({
  releaseOverdue: ({ giveUpIn, slack, stuckAfter, window }) =>
    ask.answer(
      "releaseOverdue",
      Absent(JobId),
      sql`select release_overdue_batch_job(
        ${interval(giveUpIn)}::interval, ${interval(stuckAfter)}::interval, ${interval(slack)}::interval,
        ${interval(window)}::interval
      ) as answer`
    ),
  stranded: ask.rows(
    "stranded",
    StrandedRow,
    sql`select job_id, outcome, cost_usd::float8 as cost_usd from stranded_batch_conversion_jobs() limit 1000`
  ),
  resume: (jobId, patch, window) =>
    ask.answer(
      "resume",
      Schema.Boolean,
      sql`select resume_batch_conversion_job(
        ${jobId}::uuid, ${toJsonText(patch)}::jsonb, ${interval(window)}::interval
      ) as answer`
    ),
  makeInteractive: (jobId, window) =>
    ask.answer(
      "makeInteractive",
      Schema.Literals(["resumed", "closed", "not_waiting"]),
      sql`select make_conversion_job_interactive(
        ${jobId}::uuid, ${interval(window)}::interval
      ) as answer`
    ),
  toStop: (jobId) =>
    Effect.map(
      ask.first(
        "batchToStop",
        Schema.Struct({ arn: Absent(Schema.String) }),
        sql`select batch_job_arn as arn from conversion_batch_jobs
          where job_id = ${jobId}::uuid and state = 'submitted' and close_reason is not null`
      ),
      (row) => row?.arn
    ),
  toPurge: (after, limit) =>
    ask.rows(
      "batchesToPurge",
      PurgeRow,
      read`select * from batch_rows_to_purge(${interval(after)}::interval, ${limit}::integer)`
    ),
  purged: (id) =>
    ask.done(
      "purged",
      sql`update conversion_batch_jobs set purged_at = clock_timestamp() where id = ${id}::uuid`
    )
})

/** Batch rows on PostgreSQL. */
export const layer: Layer.Layer<BatchStore, never, ReadSql | WriteSql> = Layer.effect(
  BatchStore,
  Effect.gen(function* () {
    const read = yield* ReadSql
    const write = yield* WriteSql
    return BatchStore.of({
      ...submittingOn(read, write),
      ...collectingOn(write),
      ...releasingOn(read, write)
    })
  })
)
