import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { Receipts } from "../../../domain/callers/receipts.ts"
import { addressOf, parseMailbox } from "../../../domain/mail/address.ts"
import { Api } from "../api/api.ts"
import { ReceiptRequest } from "../api/receipts.ts"
import { bodyDecoder } from "../decode-body.ts"
import { makeJsonBodies } from "../json-body.ts"
import { invalidRequest, problemResponse } from "../problem.ts"

/** Largest body, bytes. */
const MAX_BODY = 64 * 1024

const decodeReceipt = bodyDecoder(ReceiptRequest)

/** `POST /internal/receipts`. */
export const receiptHandlers = HttpApiBuilder.group(
  Api,
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
