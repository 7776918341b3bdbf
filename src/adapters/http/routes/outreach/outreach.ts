import { Schema, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { CAMPAIGN_SEND_STATUSES } from "../../../../domain/outreach/campaign-status.ts"
import { Outreach, type OutreachResult } from "../../../../domain/outreach/outreach.ts"
import { CAMPAIGN } from "../../../../domain/outreach/unsubscribe-token.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, invalidRequest, problem, problemResponse } from "../../server/problem.ts"
import { AdminAccess } from "../../server/session.ts"
import { EmailFailed, EmailSuppressed, InvalidRequest } from "../mail/relay.ts"
import { Text, Unavailable } from "../query.ts"

const short = Text.check(Schema.isMaxLength(200))

/** The body of one outreach send. */
const OutreachRequest = Schema.Struct({
  email: Text.check(Schema.isMaxLength(320)),
  name: Schema.optionalKey(short),
  campaign: Schema.String.check(Schema.isPattern(CAMPAIGN)),
  subject: Schema.NonEmptyString.check(Schema.isMaxLength(200)),
  paragraphs: Schema.Array(Text.check(Schema.isMaxLength(5000))).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(50)
  ),
  action: Schema.optionalKey(
    Schema.Struct({ text: short.check(Schema.isNonEmpty()), url: Text.check(Schema.isMaxLength(2000)) })
  )
}).annotate({ identifier: "OutreachRequest" })

/** Outreach sends by admins. */
export class OutreachGroup extends HttpApiGroup.make("outreach")
  .add(
    HttpApiEndpoint.post("sendOutreach", "/api/admin/outreach/sends", {
      payload: OutreachRequest,
      success: Schema.Struct({
        id: Schema.String,
        status: Schema.Literals(CAMPAIGN_SEND_STATUSES),
        sentBefore: Schema.Boolean,
        providerMessageId: Schema.NullOr(Schema.String)
      }).annotate({ identifier: "OutreachAnswer" }),
      error: [
        InvalidRequest,
        problemSchema("IDEMPOTENCY_CONFLICT", {}),
        problemSchema("IDEMPOTENCY_IN_PROGRESS", {}),
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
        problemSchema("UNSUBSCRIBED", {}),
        EmailSuppressed,
        EmailFailed,
        problemSchema("INTERNAL", {}),
        Unavailable
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Sends one mail of a campaign to one prospect",
        description:
          "Pinned to provider_b, with one-click unsubscribing. The same mail to the same person goes out once (`sentBefore`); " +
          "one that was deferred and did not go out in the end is sent again when it is asked for. " +
          "422 `UNSUBSCRIBED` where the person wants none; 503 where that cannot be known now: nothing was sent."
      })
    )
  )
  .middleware(AdminAccess) {}

/** Largest body of this route, bytes. */
const MAX_BODY = 512 * 1024

const json = (body: object) =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

const answer = (outcome: OutreachResult): HttpServerResponse.HttpServerResponse => {
  if (outcome._tag === "Unsubscribed") {
    return problemResponse(problem("UNSUBSCRIBED", "The address wants no outreach; nothing was sent"))
  }
  if (outcome._tag === "SentBefore") {
    const { id, providerMessageId, status } = outcome
    return json({ id, status, sentBefore: true, providerMessageId })
  }
  const { id, result } = outcome
  const ended = { sendId: result.sendId, idempotencyKey: result.idempotencyKey }
  switch (result.status) {
    case "sent":
    case "deferred":
      return json({
        id,
        status: result.status,
        sentBefore: false,
        providerMessageId: result.providerMessageId
      })
    case "suppressed":
      return problemResponse({
        ...problem("EMAIL_SUPPRESSED", result.error),
        ...ended,
        suppressedRecipients: result.suppressedRecipients
      })
    case "failed":
      return problemResponse({
        ...problem("EMAIL_FAILED", result.error),
        ...ended,
        retryable: result.kind === "unavailable",
        kind: result.kind,
        provider: result.provider
      })
  }
}

const decode = bodyDecoder(OutreachRequest)

const unavailable = (error: StoreUnavailable) =>
  Effect.logError("outreach cannot ask whether an address is unsubscribed", error).pipe(
    Effect.as(problemResponse(problem("UNAVAILABLE", "The campaigns do not answer now; nothing was sent")))
  )

/** `POST /api/admin/outreach/sends`. */
export const outreachHandlers = HttpApiBuilder.group(
  apiOf(OutreachGroup),
  "outreach",
  Effect.fnUntraced(function* (handlers) {
    const outreach = yield* Outreach
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("sendOutreach", ({ request }) =>
      bodies.read(request, MAX_BODY).pipe(
        Effect.flatMap(decode),
        Effect.flatMap((body) => outreach.send(body)),
        Effect.map(answer),
        Effect.catchTags({
          InvalidRequest: ({ issues }) => Effect.succeed(problemResponse(invalidRequest(issues))),
          IdempotencyConflict: ({ message }) =>
            Effect.succeed(problemResponse(problem("IDEMPOTENCY_CONFLICT", message))),
          IdempotencyInProgress: ({ message }) =>
            Effect.succeed(problemResponse(problem("IDEMPOTENCY_IN_PROGRESS", message))),
          StoreUnavailable: unavailable
        }),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )
    )
  })
)
