import { Effect, Schema } from "effect"

import type { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { WriteSql } from "../client.ts"
import { interval, toJsonText } from "../values.ts"
import { ask, costsText, heldBy, InlineRow, REASONS } from "./rows.ts"

/** The inline path: DOCX and images. */
export const inlineOn = (
  sql: WriteSql["Service"]
): Pick<ConversionStore["Service"], "claimInline" | "heartbeatInline" | "finishInline" | "failInline"> => ({
  claimInline: (lease, stale) =>
    Effect.map(
      ask.first(
        "claimInline",
        InlineRow,
        sql`select *, id as file_id from claim_inline(${lease}::uuid, ${interval(stale)}::interval)`
      ),
      heldBy(lease)
    ),
  heartbeatInline: ({ fileId, lease }, window) =>
    ask.answer(
      "heartbeatInline",
      Schema.Boolean,
      sql`select heartbeat(
        'inline', ${fileId}::uuid, ${lease}::uuid, ${interval(window)}::interval
      ) as answer`
    ),
  finishInline: ({ fileId, lease }, resultKey, costs, found) =>
    ask.answer(
      "finishInline",
      Schema.Literals(["completed", "stale", "insufficient"]),
      sql`select complete_inline(
        ${fileId}::uuid, ${lease}::uuid, ${resultKey}, ${costsText(costs)}::jsonb, ${found?.pages ?? null}::integer,
        ${found?.hasText ?? null}::boolean, ${found?.noModelPages ?? []}::integer[],
        ${found?.made === undefined ? null : toJsonText(found.made)}::jsonb, ${REASONS}::jsonb
      ) as answer`
    ),
  failInline: ({ fileId, lease }, { costs, error, maxAttempts }) =>
    ask.answer(
      "failInline",
      Schema.Literals(["stale", "pending", "failed"]),
      sql`select fail_inline(
        ${fileId}::uuid, ${lease}::uuid, ${error ?? null}, ${costsText(costs)}::jsonb, ${maxAttempts ?? null}::integer
      ) as answer`
    )
})
