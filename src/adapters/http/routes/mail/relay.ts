import { Schema, Effect, Result } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import {
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSecurity,
  OpenApi,
  HttpApiBuilder
} from "effect/http-api"

import { FailureKind, Provider, dedupes } from "../../../../domain/mail/failover.ts"
import { Mailer } from "../../../../domain/mail/mailer.ts"
import { SendRequest, decodeSendRequest } from "../../../../domain/mail/message.ts"
import type { SendResult } from "../../../../domain/mail/send-result.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { apiOf } from "../../server/group-api.ts"
import {
  problemSchema,
  ProblemIssue,
  invalidRequest,
  problem,
  problemResponse
} from "../../server/problem.ts"

/** Largest body of a relay call, bytes: 40 MB of attachments in base64, and the rest of the message. */
export const MAX_RELAY_BODY = 60 * 1024 * 1024

const common = {
  sendId: Schema.String,
  provider: Schema.NullOr(Provider),
  failedOver: Schema.Boolean,
  idempotencyKey: Schema.String,
  suppressedRecipients: Schema.Array(Schema.String)
}

/** The 200 of the relay: the members of a send result with `ok: true` (MAIL-2, MAIL-80). */
const RelayAnswer = Schema.Struct({
  ok: Schema.Literal(true),
  status: Schema.Literals(["sent", "deferred"]),
  providerMessageId: Schema.NullOr(Schema.String),
  ...common
}).annotate({ identifier: "SendAnswer" })

/** The members of a send's result that its problems carry. */
const ended = { sendId: Schema.String, idempotencyKey: Schema.String }

export const EmailSuppressed = problemSchema("EMAIL_SUPPRESSED", {
  ...ended,
  suppressedRecipients: Schema.Array(Schema.String)
})
export const EmailFailed = problemSchema("EMAIL_FAILED", {
  ...ended,
  kind: FailureKind,
  provider: Schema.NullOr(Provider)
})
export const InvalidRequest = problemSchema("INVALID_REQUEST", { issues: Schema.Array(ProblemIssue) })
export const Forbidden = problemSchema("FORBIDDEN", {})

/** Lets only callers with the shared secret pass; others get 403 before the body is read. */
export class ProxySecret extends HttpApiMiddleware.Service<ProxySecret>()("postlane/http/ProxySecret", {
  security: { proxySecret: HttpApiSecurity.apiKey({ key: "x-proxy-secret", in: "header" }) },
  error: Forbidden
}) {}

const answers = {
  payload: SendRequest.annotate({ identifier: "SendRequest" }),
  success: RelayAnswer,
  error: [
    InvalidRequest,
    problemSchema("IDEMPOTENCY_CONFLICT", {}),
    problemSchema("IDEMPOTENCY_IN_PROGRESS", {}),
    problemSchema("PAYLOAD_TOO_LARGE", {}),
    problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
    EmailSuppressed,
    EmailFailed,
    problemSchema("INTERNAL", {}),
    problemSchema("SHUTTING_DOWN", {})
  ]
} as const

const describe = OpenApi.annotations({
  summary: "Sends one mail",
  description:
    "Suppression look-up, primary provider, fallback only after proof that the primary did not accept, one log row. " +
    "Safe to call again with the same `idempotencyKey` for 24 hours. `retryable` of `EMAIL_FAILED` is true for " +
    "`unavailable`, false for `rejected`, and true for `ambiguous` only where the caller named the key and the provider dedupes on it."
})

/** The relay (MAIL-80): one handler under two paths. */
export class RelayGroup extends HttpApiGroup.make("sending")
  .add(HttpApiEndpoint.post("internal", "/internal/send-email", answers).annotateMerge(describe))
  .add(HttpApiEndpoint.post("api", "/api/send-email", answers).annotateMerge(describe))
  .middleware(ProxySecret) {}

/**
 * Whether the same call may succeed later and cannot double-send. After an ambiguous failure that holds only where the
 * caller named the key (or the next call gets another) and the provider dedupes on it (MAIL-41).
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

/** The relay's two paths. The body is decoded by hand: once, and the refusal names every wrong field. */
export const relayHandlers = HttpApiBuilder.group(
  apiOf(RelayGroup),
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
