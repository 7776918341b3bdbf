import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"

import { FailureKind } from "../../../domain/mail/failure-kind.ts"
import { SendRequest } from "../../../domain/mail/message.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { problemSchema, ProblemIssue } from "../problem.ts"

/** Largest body of a relay call, bytes: 40 MB of attachments in base64, and the rest of the message. */
export const MAX_RELAY_BODY = 60 * 1024 * 1024

const common = {
  sendId: Schema.String,
  provider: Schema.NullOr(Provider),
  failedOver: Schema.Boolean,
  idempotencyKey: Schema.String,
  suppressedRecipients: Schema.Array(Schema.String)
}

/** The 200 of the relay: the members of a send result with `ok: true` (contract, "Sending"). */
export const RelayAnswer = Schema.Struct({
  ok: Schema.Literal(true),
  status: Schema.Literals(["sent", "deferred"]),
  providerMessageId: Schema.NullOr(Schema.String),
  ...common
}).annotate({ identifier: "SendAnswer" })

/** What the problems of a send that ended carry of its result. */
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

/** Lets a caller pass that presents the shared secret; everybody else gets 403 before the body is read. */
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

/** The relay (document 1, "Endpoints"): one handler under two paths. */
export class RelayGroup extends HttpApiGroup.make("sending")
  .add(HttpApiEndpoint.post("internal", "/internal/send-email", answers).annotateMerge(describe))
  .add(HttpApiEndpoint.post("api", "/api/send-email", answers).annotateMerge(describe))
  .middleware(ProxySecret) {}
