import { Effect, Layer, Schema } from "effect"

import { FileId } from "../../../domain/ids.ts"
import { BulkOrders } from "../../../ports/conversion/bulk-orders.ts"
import { WriteSql } from "../client.ts"
import { Absent, interval, toJsonText } from "../values.ts"
import { ask } from "./rows.ts"

const AnswerRow = Schema.Union([
  Schema.Struct({ answer: Schema.Literal("queued") }),
  Schema.Struct({
    answer: Schema.Literals(["not_found", "active", "insufficient"]),
    fileId: FileId
  })
])

const MessageRow = Schema.Struct({
  bulkId: Schema.String,
  email: Absent(Schema.String),
  endedAt: Schema.Date,
  attempts: Schema.Int,
  items: Schema.Array(
    Schema.Struct({
      fileId: FileId,
      fileName: Schema.String,
      deleted: Schema.Boolean,
      noModelPages: Schema.Int,
      outcome: Schema.Literals(["completed", "failed", "cancelled"])
    })
  )
})

/** Bulk orders on PostgreSQL: the functions of `conversion/files`. */
export const layer: Layer.Layer<BulkOrders, never, WriteSql> = Layer.effect(
  BulkOrders,
  Effect.map(WriteSql, (sql) =>
    BulkOrders.of({
      request: ({ bulkId, customerId, items, reference, window }) =>
        ask.one(
          "requestBulk",
          AnswerRow,
          sql`select answer, file_id from request_bulk(
            ${bulkId}::uuid, ${customerId}::uuid, ${toJsonText(items)}::jsonb, ${interval(window)}::interval,
            ${reference ?? null}
          )`
        ),
      claimMessage: ({ lease, maxAttempts }) =>
        ask.first(
          "claimBulkMessage",
          MessageRow,
          sql`select bulk_id, email, ended_at, attempts, items
            from claim_bulk_message(${interval(lease)}::interval, ${maxAttempts}::integer)`
        ),
      confirmMessage: (bulkId) =>
        ask.answer(
          "confirmBulkMessage",
          Schema.Boolean,
          sql`select confirm_bulk_message(${bulkId}::uuid) as answer`
        )
    })
  )
)
