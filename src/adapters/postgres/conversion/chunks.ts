import { Effect, Schema } from "effect"

import { jobPrefix } from "../../../domain/conversion/chunk-result.ts"
import type { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { WriteSql } from "../client.ts"
import { AssemblyRow, ChunkRow } from "./rows.ts"
import { answerOf, costsText, done, firstOf, seconds } from "./statement.ts"

type Chunks = Pick<
  ConversionStore["Service"],
  | "claimChunk"
  | "heartbeatChunk"
  | "completeChunk"
  | "failChunk"
  | "handBackChunk"
  | "failJob"
  | "bookCosts"
  | "claimAssembly"
  | "heartbeatAssembly"
  | "handBackAssembly"
  | "finishJob"
  | "recoverOrphan"
  | "applyBudget"
  | "deleteFileOfClosedAccount"
  | "sweep"
>

/** Chunks, the assembly, and the upkeep of both. */
export const chunksOn = (sql: WriteSql["Service"]): Chunks => ({
  claimChunk: (worker, lease) =>
    Effect.map(
      firstOf(ChunkRow, sql`select * from claim_chunk(${lease}::uuid, ${worker})`),
      (row) =>
        row && {
          id: row.id,
          lease,
          jobId: row.job_id,
          chunkIndex: row.chunk_index,
          firstPage: row.first_page,
          lastPage: row.last_page,
          attempts: row.attempts,
          fileId: row.file_id,
          objectKey: row.object_key,
          options: row.options,
          totalPages: row.total_pages
        }
    ),
  heartbeatChunk: ({ id, lease }, pagesDone, window) =>
    answerOf(
      Schema.Boolean,
      sql`select heartbeat_chunk(
        ${id}::uuid, ${lease}::uuid, ${seconds(window)}::float8 * interval '1 second', ${pagesDone}::integer
      ) as answer`
    ),
  completeChunk: ({ id, lease }, resultKey, costs) =>
    answerOf(
      Schema.Literals(["stale", "completed", "assembling"]),
      sql`select complete_chunk(${id}::uuid, ${lease}::uuid, ${resultKey}, ${costsText(costs)}::jsonb) as answer`
    ),
  failChunk: ({ id, lease }, { costs, error, maxAttempts, retryIn }) =>
    answerOf(
      Schema.Literals(["stale", "pending", "failed"]),
      sql`select fail_chunk(
        ${id}::uuid, ${lease}::uuid, ${error}, ${costsText(costs)}::jsonb, ${maxAttempts}::integer,
        ${seconds(retryIn)}::float8 * interval '1 second'
      ) as answer`
    ),
  handBackChunk: ({ id, lease }, costs) =>
    answerOf(
      Schema.Boolean,
      sql`select hand_back_chunk(${id}::uuid, ${lease}::uuid, ${costsText(costs)}::jsonb) as answer`
    ),
  failJob: (jobId, error, lease) =>
    answerOf(
      Schema.Boolean,
      sql`select fail_conversion_job(${jobId}::uuid, ${error}, ${lease ?? null}::uuid) as answer`
    ),
  bookCosts: (costs) => done(sql`select book_costs(${costsText(costs)}::jsonb)`),
  claimAssembly: (lease, stale) =>
    Effect.map(
      firstOf(
        AssemblyRow,
        sql`select * from claim_assembly(${lease}::uuid, ${seconds(stale)}::float8 * interval '1 second')`
      ),
      (row) =>
        row && {
          jobId: row.id,
          lease,
          fileId: row.file_id,
          fileName: row.file_name,
          attempts: row.attempts,
          options: row.options,
          totalPages: row.total_pages,
          // A chunk completed by hand has no key. This one names no object, so that the job fails, not the claim.
          chunkKeys: row.chunk_keys.map((key) => key ?? `${jobPrefix(row.id)}chunks/none`)
        }
    ),
  heartbeatAssembly: ({ jobId, lease }, window) =>
    answerOf(
      Schema.Boolean,
      sql`select heartbeat_assembly(
        ${jobId}::uuid, ${lease}::uuid, ${seconds(window)}::float8 * interval '1 second'
      ) as answer`
    ),
  handBackAssembly: ({ jobId, lease }) =>
    answerOf(Schema.Boolean, sql`select hand_back_assembly(${jobId}::uuid, ${lease}::uuid) as answer`),
  finishJob: ({ jobId, lease }, resultKey, legibility) =>
    answerOf(
      Schema.Literals(["completed", "stale", "insufficient", "unreadable"]),
      sql`select complete_assembly(
        ${jobId}::uuid, ${lease}::uuid, ${resultKey}, ${legibility?.unreadablePages ?? []}::integer[],
        ${legibility?.hasText ?? null}::boolean
      ) as answer`
    ),
  recoverOrphan: (stale, maxAttempts) =>
    answerOf(
      Schema.Int,
      sql`select recover_orphan_chunks(
        ${seconds(stale)}::float8 * interval '1 second', ${maxAttempts}::integer
      ) as answer`
    ),
  applyBudget: (budgetUsd) =>
    answerOf(Schema.Int, sql`select apply_model_budget(${budgetUsd ?? null}::numeric) as answer`),
  deleteFileOfClosedAccount: answerOf(Schema.Int, sql`select delete_file_of_closed_account() as answer`),
  sweep: (window, stale) =>
    answerOf(
      Schema.Int,
      sql`select sweep_conversions(
        ${seconds(window)}::float8 * interval '1 second', ${seconds(stale)}::float8 * interval '1 second'
      ) as answer`
    )
})
