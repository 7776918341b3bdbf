import { Effect, Layer, Schema } from "effect"

import { BulkOrders } from "../../../ports/conversion/bulk-orders.ts"
import { WriteSql } from "../client.ts"
import { toJsonText, timeColumn } from "../values.ts"
import { answerOf, firstOf, seconds } from "./statement.ts"

const AnswerRow = Schema.Union([
  Schema.Struct({ answer: Schema.Literal("queued") }),
  Schema.Struct({
    answer: Schema.Literals(["not_found", "active", "insufficient"]),
    file_id: Schema.String
  })
])

const MessageRow = Schema.Struct({
  bulk_id: Schema.String,
  email: Schema.NullOr(Schema.String),
  ended_at: Schema.String,
  attempts: Schema.Int,
  items: Schema.Array(
    Schema.Struct({
      fileId: Schema.String,
      fileName: Schema.String,
      deleted: Schema.Boolean,
      outcome: Schema.Literals(["completed", "failed", "cancelled"])
    })
  )
})

/** Bulk orders on PostgreSQL: the functions of `0005_conversion.sql`. */
export const layer: Layer.Layer<BulkOrders, never, WriteSql> = Layer.effect(
  BulkOrders,
  Effect.map(WriteSql, (sql) =>
    BulkOrders.of({
      request: ({ bulkId, customerId, items, window }) =>
        firstOf(
          AnswerRow,
          sql`select answer, file_id from request_bulk(
            ${bulkId}::uuid, ${customerId}::uuid, ${toJsonText(items)}::jsonb,
            ${seconds(window)}::float8 * interval '1 second'
          )`
        ).pipe(
          Effect.flatMap((row) => {
            if (row === undefined) return Effect.die(new Error("request_bulk gave no row"))
            return Effect.succeed(
              row.answer === "queued" ? { answer: row.answer } : { answer: row.answer, fileId: row.file_id }
            )
          })
        ),
      claimMessage: ({ lease, maxAttempts }) =>
        firstOf(
          MessageRow,
          sql.unsafe(
            `select bulk_id, email, ${timeColumn("ended_at", "ended_at")}, attempts, items
            from claim_bulk_message($1::float8 * interval '1 second', $2::integer)`,
            [seconds(lease), maxAttempts]
          )
        ).pipe(
          Effect.map((row) =>
            row === undefined
              ? undefined
              : {
                  bulkId: row.bulk_id,
                  email: row.email ?? undefined,
                  endedAt: new Date(row.ended_at),
                  attempts: row.attempts,
                  items: row.items
                }
          )
        ),
      confirmMessage: (bulkId) =>
        answerOf(Schema.Boolean, sql`select confirm_bulk_message(${bulkId}::uuid) as answer`)
    })
  )
)
