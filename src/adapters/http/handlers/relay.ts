import { Effect, Result } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { Mailer } from "../../../domain/mail/mailer.ts"
import { decodeSendRequest, type SendRequest } from "../../../domain/mail/message.ts"
import { dedupes } from "../../../domain/mail/provider.ts"
import type { SendResult } from "../../../domain/mail/send-result.ts"
import { Api } from "../api/api.ts"
import { MAX_RELAY_BODY } from "../api/relay.ts"
import { makeJsonBodies } from "../json-body.ts"
import { invalidRequest, problem, problemResponse } from "../problem.ts"

/**
 * Whether the same call may succeed later and cannot double-send. After an ambiguous failure that holds only where the
 * caller named the key (or the next call gets another) and the provider dedupes on it (contract, "the relay is safe to
 * call again").
 */
const retryable = (request: SendRequest, result: SendResult & { readonly status: "failed" }): boolean => {
  switch (result.kind) {
    case "rejected":
      return false
    case "unavailable":
      return true
    case "ambiguous":
      return request.idempotencyKey !== undefined && result.provider !== null && dedupes(result.provider)
  }
}

const answer = (request: SendRequest, result: SendResult): HttpServerResponse.HttpServerResponse => {
  switch (result.status) {
    case "sent":
    case "deferred":
      return HttpServerResponse.text(JSON.stringify(result), { contentType: "application/json" })
    case "suppressed":
      return problemResponse({
        ...problem("EMAIL_SUPPRESSED", result.error),
        sendId: result.sendId,
        idempotencyKey: result.idempotencyKey,
        suppressedRecipients: result.suppressedRecipients
      })
    case "failed":
      return problemResponse({
        ...problem("EMAIL_FAILED", result.error),
        retryable: retryable(request, result),
        kind: result.kind,
        sendId: result.sendId,
        idempotencyKey: result.idempotencyKey,
        provider: result.provider
      })
  }
}

/** The relay's two paths. The body is decoded by hand: once, with every wrong field named. */
export const relayHandlers = HttpApiBuilder.group(
  Api,
  "sending",
  Effect.fnUntraced(function* (handlers) {
    const mailer = yield* Mailer
    const bodies = yield* makeJsonBodies

    const relay = Effect.fnUntraced(
      function* (request: HttpServerRequest.HttpServerRequest) {
        const decoded = decodeSendRequest(yield* bodies.read(request, MAX_RELAY_BODY))
        if (Result.isFailure(decoded)) return problemResponse(invalidRequest(decoded.failure))
        return answer(decoded.success, yield* mailer.send(decoded.success))
      },
      Effect.catchTags({
        InvalidRequest: ({ issues }) => Effect.succeed(problemResponse(invalidRequest(issues))),
        IdempotencyConflict: ({ message }) =>
          Effect.succeed(problemResponse(problem("IDEMPOTENCY_CONFLICT", message))),
        IdempotencyInProgress: ({ message }) =>
          Effect.succeed(problemResponse(problem("IDEMPOTENCY_IN_PROGRESS", message)))
      }),
      Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
    )

    return handlers
      .handleRaw("internal", ({ request }) => relay(request))
      .handleRaw("api", ({ request }) => relay(request))
  })
)
