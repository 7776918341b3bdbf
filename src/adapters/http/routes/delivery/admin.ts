import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { FailureKind, Provider } from "../../../../domain/mail/failover.ts"
import { SendStatus } from "../../../../domain/mail/send-result.ts"
import { EmailStatus } from "../../../../domain/mail/status.ts"
import { Category, UNKNOWN_CATEGORY } from "../../../../domain/mail/suppression-policy.ts"
import { MAX_EMAIL_LOG_PAGE, EmailLogQuery } from "../../../../ports/delivery/email-log-query.ts"
import { type DeadLetter, DeferQueue } from "../../../../ports/mail/defer-queue.ts"
import { AdminAccess } from "../../server/access.ts"
import { apiOf, cursor, DEFAULT_PAGE, filter, page, Text } from "../../server/endpoint.ts"
import {
  invalidCursor,
  InvalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"

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

/** The send log (EVENT-60) and the dead letters (MAIL-54), for admins. */
export class AdminGroup extends HttpApiGroup.make("admin")
  .add(emailLog)
  .add(deadLetters)
  .add(redrive)
  .middleware(AdminAccess) {}

/** A dead letter without the content of the mail. */
const shown = ({ id, diedAt, receives, reason, message }: DeadLetter) => ({
  id,
  diedAt,
  receives,
  reason,
  idempotencyKey: message?.details.idempotencyKey ?? null,
  provider: message?.request.provider ?? null,
  to: message?.details.to ?? null,
  subject: message?.details.subject ?? null
})

const logAway = unavailable("the send log does not answer", "The send log does not answer now")
const queueAway = unavailable("the retry queue does not answer", "The retry queue does not answer now")

/** Admin reads of the send log, and the dead letters of the retry queue. */
export const adminHandlers = HttpApiBuilder.group(
  apiOf(AdminGroup),
  "admin",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* EmailLogQuery
    const queue = yield* DeferQueue
    return handlers.handleAll({
      emailLog: ({ query }) =>
        log
          .page({
            status: query.status || undefined,
            category: query.category || undefined,
            provider: query.provider || undefined,
            recipient: query.recipient || undefined,
            subject: query.subject || undefined,
            cursor: query.cursor || undefined,
            limit: query.limit || DEFAULT_PAGE
          })
          .pipe(
            Effect.catchTags({
              StoreUnavailable: logAway,
              InvalidCursor: () => invalidCursor("log")
            })
          ),
      deadLetters: ({ query }) =>
        queue.deadLetters({ limit: query.limit || DEFAULT_PAGE }).pipe(
          Effect.map((letters) => ({ deadLetters: letters.map(shown) })),
          Effect.catch(queueAway)
        ),
      redrive: Effect.fnUntraced(function* ({ params: { id } }) {
        const found = yield* queue.redrive(id).pipe(Effect.catch(queueAway))
        if (!found) return yield* Effect.fail(problem("NOT_FOUND", "There is no dead letter of this id"))
        return { id, redriven: true as const }
      })
    })
  })
)
