import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { Outreach, type OutreachResult } from "../../../../application/outreach/outreach.ts"
import { CAMPAIGN } from "../../../../application/outreach/unsubscribe.ts"
import { CAMPAIGN_SEND_STATUSES } from "../../../../domain/outreach/campaign-status.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { AdminAccess } from "../../server/access.ts"
import { apiOf, Text } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import { InvalidRequest, problem, problemSchema, Unavailable } from "../../server/problem.ts"
import { makeGoesOut, NoProvider } from "../../server/sender.ts"
import { EmailFailed, EmailSuppressed, failedProblem, suppressedProblem } from "../mail/relay.ts"
import { sendRefusals } from "../mail/send-refusals.ts"

const short = Text.check(Schema.isMaxLength(200))

/** The body of one outreach send. */
const OutreachRequest = Schema.Struct({
  email: Text.check(Schema.isMaxLength(320)),
  name: Schema.optionalKey(short),
  campaign: Schema.String.check(
    Schema.isPattern(CAMPAIGN, {
      message: "must be 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or a digit"
    })
  ),
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
        NoProvider,
        Unavailable
      ]
    })
      .annotateMerge(jsonBody(512 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Sends one mail of a campaign to one prospect",
          description:
            "Pinned to provider_b, with one-click unsubscribing. The same mail to the same person goes out once (`sentBefore`); " +
            "one that was deferred and did not go out in the end is sent again when it is asked for. " +
            "422 `UNSUBSCRIBED` where the person wants none; 503 where that cannot be known now: nothing was sent."
        })
      )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

const unsubscribed = problem("UNSUBSCRIBED", "The address wants no outreach; nothing was sent")

const answer = Effect.fnUntraced(function* (outcome: OutreachResult) {
  if (outcome._tag === "Unsubscribed") return yield* Effect.fail(unsubscribed)
  if (outcome._tag === "SentBefore") {
    const { id, providerMessageId, status } = outcome
    return { id, status, sentBefore: true, providerMessageId }
  }
  const { id, result } = outcome
  if (result.status === "suppressed") return yield* Effect.fail(suppressedProblem(result))
  if (result.status === "failed") {
    return yield* Effect.fail(failedProblem(result, result.kind === "unavailable"))
  }
  return { id, status: result.status, sentBefore: false, providerMessageId: result.providerMessageId }
})

/** A mail goes out only where it is known that its recipient has not unsubscribed. */
const away = (error: StoreUnavailable) =>
  Effect.logError(
    "an outreach mail was not sent: the database does not answer whether its recipient has unsubscribed",
    error
  ).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The campaigns do not answer now; nothing was sent")))
  )

/** `POST /api/admin/outreach/sends`. */
export const outreachHandlers = HttpApiBuilder.group(
  apiOf(OutreachGroup),
  "outreach",
  Effect.fnUntraced(function* (handlers) {
    const outreach = yield* Outreach
    const goesOut = yield* makeGoesOut
    return handlers.handle("sendOutreach", ({ payload }) =>
      outreach
        .send(payload)
        .pipe(Effect.flatMap(answer), Effect.catchTags({ ...sendRefusals, StoreUnavailable: away }), (sent) =>
          Effect.andThen(goesOut, sent)
        )
    )
  })
)
