import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { problemSchema } from "../problem.ts"
import { InvalidRequest, ProxySecret } from "./relay.ts"

const Words = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** A payment whose receipt is wanted. */
export const ReceiptRequest = Schema.Struct({
  receiptId: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)).annotate({
    description: "Of the payment: its mail goes out once, however often it is asked for within 24 hours."
  }),
  email: Schema.String.check(Schema.isMaxLength(320)),
  customer: Words,
  paidAt: Schema.String.check(
    Schema.makeFilter((text) => !Number.isNaN(Date.parse(text)) || "Expected a date in ISO 8601")
  ),
  lines: Schema.Array(Schema.Struct({ text: Words, amountUsd: Schema.Finite })).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(100)
  ),
  totalUsd: Schema.Finite
}).annotate({ identifier: "ReceiptRequest" })

/** `POST /internal/receipts`: whoever takes payments asks for the customer's receipt (document 1, "What the service does"). */
export class ReceiptGroup extends HttpApiGroup.make("receipts")
  .add(
    HttpApiEndpoint.post("receipt", "/internal/receipts", {
      payload: ReceiptRequest,
      success: Schema.Struct({ receiptSent: Schema.Boolean }),
      error: [
        InvalidRequest,
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_MEDIA_TYPE", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Mails the receipt of a payment",
        description:
          "`receiptSent` is true only where the mail was accepted or is queued, now or at an earlier call. One that was queued " +
          "and did not go out in the end goes out when it is asked for again."
      })
    )
  )
  .middleware(ProxySecret) {}
