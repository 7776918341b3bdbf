import { Duration, Effect, Layer, Schema } from "effect"

import * as PostgresBatch from "../../../src/adapters/postgres/batch/batch-store.ts"
import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import * as PostgresConversion from "../../../src/adapters/postgres/conversion/conversion-store.ts"
import { StoredOptions } from "../../../src/adapters/postgres/conversion/rows.ts"
import { BatchOutcome, BatchRowState } from "../../../src/domain/batch/row.ts"
import { JobStatus, ChunkStatus } from "../../../src/domain/conversion/job.ts"
import { ChunkId } from "../../../src/domain/ids.ts"
import { clean, customer, funds } from "../../adapters/postgres/conversion/world.ts"
import { DocumentsWorld } from "../../contracts/conversion/documents-world.ts"
import { layerPostgres, layerWithoutIndexes } from "./postgres.ts"
import { whileOpen } from "./while-open.ts"

const JobSeen = Schema.Struct({
  status: JobStatus,
  options: StoredOptions,
  doneChunks: Schema.Int,
  totalCostUsd: Schema.NullOr(Schema.Finite)
})
const ChunkSeen = Schema.Struct({
  id: ChunkId,
  status: ChunkStatus,
  resultKey: Schema.NullOr(Schema.String)
})

/** Rows as they should be. */
const rowsOf = <A>(row: Schema.ConstraintDecoder<A>, rows: Effect.Effect<ReadonlyArray<object>, unknown>) =>
  Effect.orDie(Effect.flatMap(rows, Schema.decodeUnknownEffect(Schema.Array(row))))

const seconds = (duration: Duration.Duration | undefined) =>
  duration === undefined ? null : Duration.toSeconds(duration)

type World = DocumentsWorld["Service"]

const rows = (sql: WriteSql["Service"]): Pick<World, "batchRow" | "job" | "chunks" | "ledger" | "hold"> => ({
  job: (jobId) =>
    Effect.map(
      rowsOf(
        JobSeen,
        sql`select status, options, done_chunks as "doneChunks", total_cost_usd::float8 as "totalCostUsd"
          from large_conversion_jobs where id = ${jobId}::uuid`
      ),
      ([row]) => row!
    ),
  chunks: (jobId) =>
    rowsOf(
      ChunkSeen,
      sql`select id, status, result_key as "resultKey" from chunk_jobs where job_id = ${jobId}::uuid
        order by chunk_index`
    ),
  ledger: rowsOf(
    Schema.Struct({ source: Schema.String, costUsd: Schema.Finite }),
    sql`select source, cost_usd::float8 as "costUsd" from cost_ledger order by created_at`
  ),
  batchRow: (jobId) =>
    Effect.map(
      rowsOf(
        Schema.Struct({
          id: Schema.String,
          state: BatchRowState,
          outcome: Schema.NullOr(BatchOutcome),
          closeReason: Schema.NullOr(Schema.String)
        }),
        sql`select id, state, outcome, close_reason as "closeReason" from conversion_batch_jobs
          where job_id = ${jobId}::uuid`
      ),
      ([row]) => row
    ),
  hold: (jobId) =>
    Effect.map(
      rowsOf(
        Schema.Struct({
          state: Schema.String,
          outcome: Schema.NullOr(Schema.String),
          minutes: Schema.Finite
        }),
        sql`select state, outcome, extract(epoch from expires_at - clock_timestamp())::float8 / 60 as minutes
          from funds_holds where job_id = ${jobId}::uuid`
      ),
      ([row]) => row
    )
})

const changes = (
  sql: WriteSql["Service"]
): Pick<World, "addBatchRow" | "setBatchRow" | "setJob" | "setChunk" | "setFile"> => ({
  addBatchRow: (jobId, state) =>
    Effect.orDie(
      sql`insert into conversion_batch_jobs (job_id, state, outcome)
        values (${jobId}::uuid, ${state}, ${state === "closed" ? "collected" : null})`
    ),
  setBatchRow: (jobId, { closedFor, overdueFor, preparedFor }) =>
    Effect.orDie(
      sql`update conversion_batch_jobs set
        closed_at = coalesce(clock_timestamp() - ${seconds(closedFor)}::float8 * interval '1 second', closed_at),
        deadline_at = coalesce(clock_timestamp() - ${seconds(overdueFor)}::float8 * interval '1 second', deadline_at),
        prepare_started_at =
          coalesce(clock_timestamp() - ${seconds(preparedFor)}::float8 * interval '1 second', prepare_started_at)
        where job_id = ${jobId}::uuid`
    ),
  setJob: (jobId, { age, doneChunks, error, lease, status }) =>
    Effect.orDie(
      sql`update large_conversion_jobs set
        status = coalesce(${status ?? null}, status),
        error = case when ${error === undefined}::boolean then error else ${error ?? null} end,
        lease = coalesce(${lease ?? null}::uuid, lease),
        heartbeat_at = case when ${lease ?? null}::uuid is null then heartbeat_at else clock_timestamp() end,
        done_chunks = coalesce(${doneChunks ?? null}::integer, done_chunks),
        created_at = coalesce(clock_timestamp() - ${seconds(age)}::float8 * interval '1 second', created_at)
        where id = ${jobId}::uuid`
    ),
  setChunk: (chunkId, { due, lease, resultKey, silentFor, status }) =>
    Effect.orDie(
      sql`update chunk_jobs set
        status = coalesce(${status ?? null}, status),
        lease = coalesce(${lease ?? null}::uuid, lease),
        attempts = case when ${lease ?? null}::uuid is null then attempts else 1 end,
        result_key = coalesce(${resultKey ?? null}, result_key),
        heartbeat_at = coalesce(clock_timestamp() - ${seconds(silentFor)}::float8 * interval '1 second', heartbeat_at),
        not_before = case when ${due ?? false}::boolean then clock_timestamp() else not_before end
        where id = ${chunkId}::uuid`
    ),
  setFile: (fileId, { claimedFor, jobId, status, unchangedFor }) =>
    Effect.orDie(
      sql`update files set
        status = coalesce(${status ?? null}, status), job_id = coalesce(${jobId ?? null}::uuid, job_id),
        updated_at = coalesce(clock_timestamp() - ${seconds(unchangedFor)}::float8 * interval '1 second', updated_at),
        claimed_at = coalesce(clock_timestamp() - ${seconds(claimedFor)}::float8 * interval '1 second', claimed_at)
        where id = ${fileId}::uuid`
    )
})

/** Time and operators, on PostgreSQL. */
const layer: Layer.Layer<DocumentsWorld, never, WriteSql> = Layer.effect(
  DocumentsWorld,
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const here = <A, E>(effect: Effect.Effect<A, E, WriteSql>) =>
      Effect.orDie(Effect.provideService(effect, WriteSql, sql))
    return DocumentsWorld.of({
      ...rows(sql),
      ...changes(sql),
      clean: here(
        Effect.andThen(
          sql`with l as (delete from conversion_jobs), m as (delete from intake_mails), b as (delete from bulk_orders)
            delete from intake_strangers`,
          Effect.asVoid(clean)
        )
      ),
      pass: (time) =>
        Effect.orDie(
          sql`with t as (select ${seconds(time)}::float8 * interval '1 second' as passed),
            m as (update intake_mails set not_before = not_before - passed, heartbeat_at = heartbeat_at - passed,
              received_at = received_at - passed, ended_at = ended_at - passed,
              failing_since = failing_since - passed, failed_at = failed_at - passed from t),
            s as (update intake_strangers set replied_at = replied_at - passed from t),
            h as (update funds_holds set expires_at = expires_at - passed from t),
            b as (update bulk_orders set notifying_until = notifying_until - passed, ended_at = ended_at - passed from t)
            update intake_replies set not_before = not_before - passed, created_at = created_at - passed,
              ended_at = ended_at - passed from t`
        ),
      customer: (credits) =>
        here(
          credits === "free"
            ? Effect.tap(
                customer(0),
                (id) => sql`update customers set plan_type = 'free' where id = ${id}::uuid`
              )
            : customer(credits)
        ),
      setPlan: (id, plan) =>
        Effect.orDie(sql`update customers set plan_type = ${plan} where id = ${id}::uuid`),
      setCredits: (id, credits) =>
        Effect.orDie(sql`update customers set credits_remaining = ${credits} where id = ${id}::uuid`),
      closeAccount: (id) =>
        Effect.orDie(sql`update customers set deleted_at = clock_timestamp() where id = ${id}::uuid`),
      funds: (id) => here(funds(id)),
      spend: (id, credits) => Effect.orDie(sql`select deduct_credits(${id}::uuid, ${credits})`),
      lapsesIn: (jobId, minutes) =>
        Effect.orDie(
          sql`update funds_holds set expires_at = clock_timestamp() + ${minutes}::float8 * interval '1 minute'
            where job_id = ${jobId}::uuid`
        ),
      bookedYesterday: Effect.orDie(sql`update cost_ledger set created_at = created_at - interval '1 day'`),
      whileOpen: (first, second) =>
        Effect.provideService(whileOpen(first, second), WriteSql, sql).pipe(
          Effect.catchTag("SqlError", Effect.die)
        ),
      resume: (jobId) => Effect.orDie(sql`select resume_batch_conversion_job(${jobId}::uuid)`)
    })
  })
)

const documents = Layer.mergeAll(PostgresConversion.layer, PostgresBatch.layer, layer)

/** The stores of documents on a database of their own. */
export const postgres = documents.pipe(Layer.provideMerge(layerPostgres))

/** The same on one whose plans use no index. */
export const withoutIndexes = documents.pipe(Layer.provideMerge(layerWithoutIndexes))
