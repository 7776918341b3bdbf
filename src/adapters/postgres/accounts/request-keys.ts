import { Effect, Layer, Schema } from "effect"

import { type HeldKey, RequestKeys } from "../../../ports/accounts/request-keys.ts"
import { WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { interval, toJsonText } from "../values.ts"

/** Each may be repeated under the same lease. */
const ask = statements({ repeatable: true })

const StateRow = Schema.Union([
  Schema.Struct({ state: Schema.Literal("held"), callId: Schema.String }),
  Schema.Struct({
    state: Schema.Literal("answered"),
    answer: Schema.Unknown,
    contentHash: Schema.NullOr(Schema.String)
  }),
  Schema.Struct({ state: Schema.Literals(["busy", "other_request"]) })
])

/** Idempotency keys of calls in `request_keys`. */
export const layer: Layer.Layer<RequestKeys, never, WriteSql> = Layer.effect(
  RequestKeys,
  Effect.map(WriteSql, (sql) => {
    /** The row of the call; a key that was given back and taken again is another call's. */
    const ofCall = ({ callId, customerId, keyHash }: HeldKey) =>
      sql`customer_id = ${customerId}::uuid and key_hash = ${keyHash} and call_id = ${callId}::uuid`
    return RequestKeys.of({
      hold: ({ callId, customerId, keyHash, lease, requestHash, window }) =>
        ask.one(
          "holdRequestKey",
          StateRow,
          sql`select state, call_id, content_hash, answer from hold_request_key(
            ${customerId}::uuid, ${keyHash}, ${requestHash}, ${callId}::uuid, ${lease}::uuid, ${interval(window)}::interval
          )`
        ),
      renew: (held, window) =>
        ask.done(
          "renewRequestKey",
          sql`update request_keys set held_until = clock_timestamp() + ${interval(window)}::interval
            where ${ofCall(held)} and lease = ${held.lease}::uuid`
        ),
      noteContent: (held, contentHash) =>
        Effect.map(
          ask.first(
            "noteContent",
            Schema.Struct({ contentHash: Schema.String }),
            sql`update request_keys set content_hash = coalesce(content_hash, ${contentHash})
              where ${ofCall(held)} returning content_hash`
          ),
          (row) => row?.contentHash === contentHash
        ),
      answer: (held, answer) =>
        Effect.map(
          ask.first(
            "answerRequestKey",
            Schema.Struct({ answer: Schema.Unknown }),
            sql`update request_keys set answer = coalesce(answer, ${toJsonText(answer)}::jsonb)
              where ${ofCall(held)} returning answer`
          ),
          (row) => row?.answer
        ),
      giveBack: (held, changedNothing) =>
        ask.done(
          "giveBackRequestKey",
          changedNothing
            ? sql`with freed as (
                delete from request_keys
                where ${ofCall(held)} and lease = ${held.lease}::uuid and answer is null and attempts = 1
                returning call_id
              )
              update request_keys set held_until = clock_timestamp()
              where ${ofCall(held)} and lease = ${held.lease}::uuid and not exists (select from freed)`
            : sql`update request_keys set held_until = clock_timestamp()
                where ${ofCall(held)} and lease = ${held.lease}::uuid`
        )
    })
  })
)
