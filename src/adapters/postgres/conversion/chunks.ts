import { Duration, Effect, Schema } from "effect"

import { jobPrefix } from "../../../domain/conversion/stored-files.ts"
import type { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { WriteSql } from "../client.ts"
import { interval, toJsonText } from "../values.ts"
import { ask, AssemblyRow, ChunkRow, costsText, heldBy, REASONS } from "./rows.ts"

type Store = ConversionStore["Service"]

export const chunksOn = (
  sql: WriteSql["Service"]
): Pick<
  Store,
  "claimChunk" | "heartbeatChunk" | "completeChunk" | "failChunk" | "handBackChunk" | "failJob" | "bookCosts"
> => ({
  claimChunk: (worker, lease, perOwner, primed) =>
    Effect.map(
      ask.first(
        "claimChunk",
        ChunkRow,
        sql`select * from claim_chunk(
          ${lease}::uuid, ${worker}, ${perOwner ?? null}::integer, ${primed ?? true}::boolean
        )`
      ),
      heldBy(lease)
    ),
  heartbeatChunk: ({ id, lease }, pagesDone, window) =>
    ask.answer(
      "heartbeatChunk",
      Schema.Boolean,
      sql`select heartbeat_chunk(
        ${id}::uuid, ${lease}::uuid, ${interval(window)}::interval, ${pagesDone}::integer
      ) as answer`
    ),
  completeChunk: ({ id, lease }, resultKey, costs, { served = 0, unanswered = 0 } = {}) =>
    ask.answer(
      "completeChunk",
      Schema.Literals(["stale", "completed", "assembling"]),
      sql`select complete_chunk(
        ${id}::uuid, ${lease}::uuid, ${resultKey}, ${costsText(costs)}::jsonb, ${unanswered}::integer,
        ${served}::integer
      ) as answer`
    ),
  failChunk: ({ id, lease }, { costs, error, maxAttempts, retryIn }) =>
    ask.answer(
      "failChunk",
      Schema.Literals(["stale", "pending", "failed"]),
      sql`select fail_chunk(
        ${id}::uuid, ${lease}::uuid, ${error}, ${costsText(costs)}::jsonb, ${maxAttempts}::integer,
        ${interval(retryIn)}::interval
      ) as answer`
    ),
  handBackChunk: ({ id, lease }, costs, retryIn = Duration.zero) =>
    ask.answer(
      "handBackChunk",
      Schema.Boolean,
      sql`select hand_back_chunk(
        ${id}::uuid, ${lease}::uuid, ${costsText(costs)}::jsonb, ${interval(retryIn)}::interval
      ) as answer`
    ),
  failJob: (jobId, error, lease) =>
    ask.answer(
      "failJob",
      Schema.Boolean,
      sql`select fail_conversion_job(${jobId}::uuid, ${error}, ${lease ?? null}::uuid) as answer`
    ),
  bookCosts: (costs) => ask.done("bookCosts", sql`select book_costs(${costsText(costs)}::jsonb)`)
})

export const assembliesOn = (
  sql: WriteSql["Service"]
): Pick<
  Store,
  "claimAssembly" | "chunkResults" | "heartbeatAssembly" | "handBackAssembly" | "finishJob"
> => ({
  claimAssembly: (lease, stale) =>
    Effect.map(
      ask.first(
        "claimAssembly",
        AssemblyRow,
        sql`select *, id as job_id from claim_assembly(${lease}::uuid, ${interval(stale)}::interval)`
      ),
      (row) =>
        row && {
          ...row,
          lease,
          // A chunk completed by hand has no key. This one names no object, so that the job fails, not the claim.
          chunkKeys: row.chunkKeys.map((key) => key ?? `${jobPrefix(row.jobId)}chunks/none`)
        }
    ),
  chunkResults: (jobId) =>
    ask.rows(
      "chunkResults",
      Schema.Struct({ firstPage: Schema.Int, lastPage: Schema.Int, key: Schema.String }),
      sql`select first_page, last_page, result_key as key from chunk_jobs
        where job_id = ${jobId}::uuid and status = 'completed' and result_key is not null order by chunk_index`
    ),
  heartbeatAssembly: ({ jobId, lease }, window) =>
    ask.answer(
      "heartbeatAssembly",
      Schema.Boolean,
      sql`select heartbeat(
        'assembly', ${jobId}::uuid, ${lease}::uuid, ${interval(window)}::interval
      ) as answer`
    ),
  handBackAssembly: ({ jobId, lease }) =>
    ask.answer(
      "handBackAssembly",
      Schema.Boolean,
      sql`select hand_back_assembly(${jobId}::uuid, ${lease}::uuid) as answer`
    ),
  finishJob: ({ jobId, lease }, resultKey, legibility, noModelPages, made) =>
    ask.answer(
      "finishJob",
      Schema.Literals(["completed", "stale", "insufficient", "unreadable"]),
      sql`select complete_assembly(
        ${jobId}::uuid, ${lease}::uuid, ${resultKey}, ${legibility?.unreadablePages ?? []}::integer[],
        ${legibility?.hasText ?? null}::boolean, ${noModelPages ?? []}::integer[],
        ${made === undefined ? null : toJsonText(made)}::jsonb, ${REASONS}::jsonb
      ) as answer`
    )
})

export const upkeepOn = (
  sql: WriteSql["Service"]
): Pick<
  Store,
  "recoverOrphan" | "applyBudget" | "modelCostToday" | "deleteFileOfClosedAccount" | "sweep"
> => ({
  recoverOrphan: (stale, maxAttempts) =>
    ask.answer(
      "recoverOrphan",
      Schema.Int,
      sql`select recover_orphan_chunks(
        ${interval(stale)}::interval, ${maxAttempts}::integer, ${REASONS}::jsonb
      ) as answer`
    ),
  modelCostToday: ask.answer(
    "modelCostToday",
    Schema.Finite,
    sql`select model_cost_today()::float8 as answer`
  ),
  applyBudget: (budgetUsd) =>
    ask.answer(
      "applyBudget",
      Schema.Int,
      sql`select apply_model_budget(${budgetUsd ?? null}::numeric) as answer`
    ),
  deleteFileOfClosedAccount: ask.answer(
    "deleteFileOfClosedAccount",
    Schema.Int,
    sql`select delete_file_of_closed_account(${REASONS}::jsonb) as answer`
  ),
  sweep: (window, stale) =>
    ask.answer(
      "sweep",
      Schema.Int,
      sql`select sweep_conversions(
        ${interval(window)}::interval, ${interval(stale)}::interval
      ) as answer`
    )
})
