import { Effect, Schema } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { standingOf } from "../../../../domain/delivery/send-state.ts"
import { FailureKind } from "../../../../domain/mail/failover.ts"
import { MAX_KEY_LENGTH } from "../../../../domain/mail/message.ts"
import { SendStatus } from "../../../../domain/mail/send-result.ts"
import { EmailStatus } from "../../../../domain/mail/status.ts"
import { EmailLogQuery } from "../../../../ports/delivery/email-log-query.ts"
import { MailStories } from "../../../../ports/delivery/mail-stories.ts"
import { ProxySecret } from "../../server/access.ts"
import { apiOf, isUuid, Text } from "../../server/endpoint.ts"
import { invalidCursor, InvalidRequest, problem, problemSchema, Unavailable } from "../../server/problem.ts"
import { logAway } from "../delivery/mail-story.ts"

/** The state of a send. */
const SendState = Schema.Struct({
  sendId: Schema.String,
  idempotencyKey: Schema.NullOr(Schema.String),
  outcome: Schema.NullOr(SendStatus).annotate({
    description:
      "As in the answer of the relay, as of now: `deferred` while a retry is due; null for a mail that was sent by others."
  }),
  status: EmailStatus.annotate({ description: "As in the send log, delivery events included." }),
  provider: Schema.NullOr(Schema.String),
  providerMessageId: Schema.NullOr(Schema.String),
  failedOver: Schema.Boolean,
  error: Schema.NullOr(Schema.String),
  kind: Schema.NullOr(FailureKind),
  suppressedRecipients: Schema.Array(Schema.String),
  lastEvent: Schema.NullOr(Schema.String),
  lastEventAt: Schema.NullOr(Schema.String),
  retryAt: Schema.NullOr(Schema.String).annotate({ description: "When the next retry is due." }),
  createdAt: Schema.String,
  updatedAt: Schema.String
}).annotate({ identifier: "SendState" })

const NotFound = problemSchema("NOT_FOUND", {})

/** How a send ended that was answered `deferred`, for the caller of the relay (MAIL-82). */
export class SendsGroup extends HttpApiGroup.make("sends")
  .add(
    HttpApiEndpoint.get("readSend", "/internal/sends/:sendId", {
      params: { sendId: Schema.String },
      success: SendState,
      error: [NotFound, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Where a send stands",
        description:
          "By the `sendId` of the relay's answer, or of any of its retries; the answer's `sendId` is the row that says where it stands."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("findSend", "/internal/sends", {
      query: {
        idempotencyKey: Text.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_KEY_LENGTH))
      },
      success: SendState,
      error: [InvalidRequest, NotFound, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Where the newest send of an idempotency key stands",
        description: "404 while its first attempt is under way, and where no row could be written."
      })
    )
  )
  .middleware(ProxySecret) {}

const noSend = Effect.fail(problem("NOT_FOUND", "The send log has no such send"))

/** `GET /internal/sends…`. */
export const sendsHandlers = HttpApiBuilder.group(
  apiOf(SendsGroup),
  "sends",
  Effect.fnUntraced(function* (handlers) {
    const stories = yield* MailStories
    const log = yield* EmailLogQuery
    const read = Effect.fnUntraced(function* (sendId: string) {
      const story = yield* stories.of(sendId).pipe(Effect.catch(logAway))
      if (story === undefined) return yield* noSend
      const { outcome, row } = standingOf(story.rows, sendId)
      return {
        sendId: row.id,
        idempotencyKey: row.idempotency_key,
        outcome,
        status: row.status,
        provider: row.provider,
        providerMessageId: row.provider_message_id,
        failedOver: row.failed_over,
        error: row.error,
        kind: row.error_kind,
        suppressedRecipients: row.dropped_addresses,
        lastEvent: row.last_event,
        lastEventAt: row.last_event_at,
        retryAt: outcome === "deferred" ? row.retry_at : null,
        createdAt: row.created_at,
        updatedAt: row.updated_at
      } satisfies typeof SendState.Type
    })
    return handlers.handleAll({
      readSend: ({ params: { sendId } }) => (isUuid(sendId) ? read(sendId) : noSend),
      findSend: Effect.fnUntraced(function* ({ query: { idempotencyKey } }) {
        const { rows } = yield* log
          .page({ key: idempotencyKey, limit: 1 })
          .pipe(Effect.catchTags({ StoreUnavailable: logAway, InvalidCursor: () => invalidCursor("log") }))
        const [newest] = rows
        return newest === undefined ? yield* noSend : yield* read(newest.id)
      })
    })
  })
)
