import { Effect, Schema } from "effect"

import type { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { WriteSql } from "../client.ts"
import { toJsonText } from "../values.ts"
import { FlyerRow, InlineRow } from "./rows.ts"
import { answerOf, costsText, firstOf, seconds } from "./statement.ts"

type Inline = Pick<
  ConversionStore["Service"],
  | "claimInline"
  | "heartbeatInline"
  | "finishInline"
  | "failInline"
  | "requestFlyer"
  | "claimFlyer"
  | "heartbeatFlyer"
  | "finishFlyer"
  | "failFlyer"
  | "cancelFlyer"
  | "requestReflow"
>

const Finished = Schema.Literals(["completed", "stale", "insufficient"])

/** The inline path and Preserve Formatting. */
export const inlineOn = (sql: WriteSql["Service"]): Inline => ({
  claimInline: (lease, stale) =>
    Effect.map(
      firstOf(
        InlineRow,
        sql`select * from claim_inline(${lease}::uuid, ${seconds(stale)}::float8 * interval '1 second')`
      ),
      (row) =>
        row && {
          fileId: row.id,
          lease,
          jobId: row.job_id,
          name: row.name,
          kind: row.kind,
          objectKey: row.object_key,
          attempts: row.attempts,
          options: row.options
        }
    ),
  heartbeatInline: ({ fileId, lease }, window) =>
    answerOf(
      Schema.Boolean,
      sql`select heartbeat_inline(
        ${fileId}::uuid, ${lease}::uuid, ${seconds(window)}::float8 * interval '1 second'
      ) as answer`
    ),
  finishInline: ({ fileId, lease }, resultKey, costs, found) =>
    answerOf(
      Finished,
      sql`select complete_inline(
        ${fileId}::uuid, ${lease}::uuid, ${resultKey}, ${costsText(costs)}::jsonb, ${found?.pages ?? null}::integer,
        ${found?.hasText ?? null}::boolean
      ) as answer`
    ),
  failInline: ({ fileId, lease }, { costs, error, maxAttempts }) =>
    answerOf(
      Schema.Literals(["stale", "pending", "failed"]),
      sql`select fail_inline(
        ${fileId}::uuid, ${lease}::uuid, ${error}, ${costsText(costs)}::jsonb, ${maxAttempts}::integer
      ) as answer`
    ),
  requestFlyer: ({ customerId, fileId, id, window }) =>
    answerOf(
      Schema.Literals(["queued", "not_found", "active", "insufficient", "unsupported"]),
      sql`select request_flyer(
        ${id}::uuid, ${fileId}::uuid, ${customerId}::uuid, ${seconds(window)}::float8 * interval '1 second'
      ) as answer`
    ),
  claimFlyer: (lease, stale) =>
    Effect.map(
      firstOf(
        FlyerRow,
        sql`select * from claim_flyer(${lease}::uuid, ${seconds(stale)}::float8 * interval '1 second')`
      ),
      (row) =>
        row && {
          id: row.id,
          lease,
          fileId: row.file_id,
          name: row.name,
          objectKey: row.object_key,
          pages: row.pages,
          attempts: row.attempts
        }
    ),
  heartbeatFlyer: ({ id, lease }, window) =>
    answerOf(
      Schema.Boolean,
      sql`select heartbeat_flyer(
        ${id}::uuid, ${lease}::uuid, ${seconds(window)}::float8 * interval '1 second'
      ) as answer`
    ),
  finishFlyer: ({ id, lease }, resultKey, costs, unreadablePages) =>
    answerOf(
      Finished,
      sql`select complete_flyer(
        ${id}::uuid, ${lease}::uuid, ${resultKey}, ${costsText(costs)}::jsonb, ${unreadablePages ?? []}::integer[]
      ) as answer`
    ),
  failFlyer: ({ id, lease }, { costs, error, maxAttempts }) =>
    answerOf(
      Schema.Literals(["stale", "pending", "failed"]),
      sql`select fail_flyer(
        ${id}::uuid, ${lease}::uuid, ${error}, ${costsText(costs)}::jsonb, ${maxAttempts}::integer
      ) as answer`
    ),
  cancelFlyer: (flyerId, customerId) =>
    answerOf(
      Schema.Literals(["cancelled", "not_active", "not_found"]),
      sql`select cancel_flyer_job(
        ${flyerId}::uuid, ${customerId}::uuid, 'The user stopped the conversion'
      ) as answer`
    ),
  requestReflow: ({ customerId, flyerId, jobId, options, window }) =>
    answerOf(
      Schema.Literals(["queued", "not_found", "active", "insufficient", "resolved"]),
      sql`select request_reflow(
        ${flyerId}::uuid, ${customerId}::uuid, ${jobId}::uuid, ${toJsonText(options)}::jsonb,
        ${seconds(window)}::float8 * interval '1 second'
      ) as answer`
    )
})
