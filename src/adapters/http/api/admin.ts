import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { Category, UNKNOWN_CATEGORY } from "../../../domain/mail/category.ts"
import { FailureKind } from "../../../domain/mail/failure-kind.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { SendStatus } from "../../../domain/mail/send-result.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import { MAX_EMAIL_LOG_PAGE } from "../../../ports/email-log-query.ts"
import { problemSchema } from "../problem.ts"
import { AdminAccess } from "./access.ts"
import { cursor, DEFAULT_PAGE, filter, page, Text, Unavailable } from "./query.ts"
import { InvalidRequest } from "./relay.ts"

const EmailLogRow = Schema.Struct({
  id: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String,
  category: Schema.String,
  source: Schema.NullOr(Schema.String),
  from_address: Schema.NullOr(Schema.String),
  to_addresses: Schema.Array(Schema.String),
  other_addresses: Schema.Array(Schema.String),
  dropped_addresses: Schema.Array(Schema.String),
  subject: Schema.NullOr(Schema.String),
  outcome: Schema.NullOr(SendStatus),
  status: EmailStatus,
  last_event: Schema.NullOr(Schema.String),
  last_event_at: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  error_kind: Schema.NullOr(FailureKind),
  failed_over: Schema.Boolean,
  cost_usd: Schema.NullOr(Schema.Finite),
  idempotency_key: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  provider_message_id: Schema.NullOr(Schema.String),
  alerted_at: Schema.NullOr(Schema.String),
  raw: Schema.Json
}).annotate({ identifier: "EmailLogRow" })

const emailLog = HttpApiEndpoint.get("emailLog", "/api/admin/email-log", {
  query: {
    status: filter(EmailStatus),
    category: filter(Schema.Literals([...Category.literals, UNKNOWN_CATEGORY])),
    provider: filter(Provider),
    recipient: filter(Text.check(Schema.isMaxLength(320))),
    subject: filter(Text.check(Schema.isMaxLength(998))),
    limit: page(DEFAULT_PAGE, MAX_EMAIL_LOG_PAGE),
    cursor
  },
  success: Schema.Struct({ rows: Schema.Array(EmailLogRow), nextCursor: Schema.NullOr(Schema.String) }),
  error: [InvalidRequest, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "The send log, newest first",
    description:
      "`recipient` matches To, Cc, Bcc and who was left out, exactly and ignoring case; `subject` matches a part. An empty filter counts as missing."
  })
)

const deadLetters = HttpApiEndpoint.get("deadLetters", "/api/admin/dead-letters", {
  query: { limit: page(DEFAULT_PAGE, MAX_EMAIL_LOG_PAGE) },
  success: Schema.Struct({
    deadLetters: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        diedAt: Schema.NullOr(Schema.String),
        receives: Schema.Int,
        reason: Schema.NullOr(Schema.String),
        idempotencyKey: Schema.NullOr(Schema.String),
        provider: Schema.NullOr(Provider),
        to: Schema.NullOr(Schema.Array(Schema.String)),
        subject: Schema.NullOr(Schema.String)
      })
    )
  }),
  error: [InvalidRequest, Unavailable]
}).annotate(OpenApi.Summary, "Queued retries that were received three times without an end")

const redrive = HttpApiEndpoint.post("redrive", "/api/admin/dead-letters/:id/redrive", {
  params: { id: Schema.String },
  success: Schema.Struct({ id: Schema.String, redriven: Schema.Literal(true) }),
  error: [problemSchema("NOT_FOUND", {}), Unavailable]
}).annotate(OpenApi.Summary, "Puts a dead letter back into the queue, due now")

/** What admins see and do (contract, "Admin"). */
export class AdminGroup extends HttpApiGroup.make("admin")
  .add(emailLog)
  .add(deadLetters)
  .add(redrive)
  .middleware(AdminAccess) {}
