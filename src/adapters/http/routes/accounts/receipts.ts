import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { Receipts } from "../../../../application/accounts/receipts.ts"
import { addressOf } from "../../../../domain/mail/address.ts"
import { ProxySecret } from "../../server/access.ts"
import { apiOf, mailboxIn, Text } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import { bodyRefusals } from "../../server/problem.ts"

const Words = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** A payment to send a receipt for. */
const ReceiptRequest = Schema.Struct({
  // It becomes a key of the mailer, which takes no line breaks: asking again would not help.
  receiptId: Text.check(
    Schema.isMinLength(1),
    Schema.isMaxLength(100),
    Schema.isPattern(/^[^\r\n]*$/u, { message: "holds a line break" })
  ).annotate({
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

/** `POST /internal/receipts`: the payment service requests a receipt for the customer. */
export class ReceiptGroup extends HttpApiGroup.make("receipts")
  .add(
    HttpApiEndpoint.post("receipt", "/internal/receipts", {
      payload: ReceiptRequest,
      success: Schema.Struct({ receiptSent: Schema.Boolean }),
      error: bodyRefusals()
    })
      .annotateMerge(jsonBody(64 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Mails the receipt of a payment",
          description:
            "`receiptSent` is true only where the mail was accepted or is queued, now or at an earlier call. One that was queued " +
            "and did not go out in the end goes out when it is asked for again."
        })
      )
  )
  .middleware(JsonBody)
  .middleware(ProxySecret) {}

/** `POST /internal/receipts`. */
export const receiptHandlers = HttpApiBuilder.group(
  apiOf(ReceiptGroup),
  "receipts",
  Effect.fnUntraced(function* (handlers) {
    const receipts = yield* Receipts
    return handlers.handle("receipt", ({ payload }) =>
      Effect.flatMap(mailboxIn("email", payload.email), (mailbox) =>
        receipts.send({ ...payload, email: addressOf(mailbox) })
      )
    )
  })
)
