import { Schema, Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { Receipts } from "../../../../domain/accounts/receipts.ts"
import { addressOf, parseMailbox } from "../../../../domain/mail/address.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, invalidRequest, problemResponse } from "../../server/problem.ts"
import { InvalidRequest, ProxySecret } from "../mail/relay.ts"

const Words = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** A payment whose receipt is wanted. */
const ReceiptRequest = Schema.Struct({
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

/** `POST /internal/receipts`: the payment service requests a receipt for the customer. */
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

/** Largest body, bytes. */
const MAX_BODY = 64 * 1024

const decodeReceipt = bodyDecoder(ReceiptRequest)

/** `POST /internal/receipts`. */
export const receiptHandlers = HttpApiBuilder.group(
  apiOf(ReceiptGroup),
  "receipts",
  Effect.fnUntraced(function* (handlers) {
    const receipts = yield* Receipts
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("receipt", ({ request }) =>
      Effect.gen(function* () {
        const receipt = yield* bodies.read(request, MAX_BODY).pipe(Effect.flatMap(decodeReceipt))
        const parsed = parseMailbox(receipt.email.trim())
        if (Result.isFailure(parsed)) {
          return problemResponse(invalidRequest([{ path: "email", message: parsed.failure }]))
        }
        const answer = yield* receipts.send({ ...receipt, email: addressOf(parsed.success) })
        return HttpServerResponse.jsonUnsafe(answer)
      }).pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))
    )
  })
)
