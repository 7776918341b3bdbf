import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { CAMPAIGN_SEND_STATUSES } from "../../../domain/outreach/campaign-status.ts"
import { CAMPAIGN } from "../../../domain/outreach/unsubscribe-token.ts"
import { problemSchema } from "../problem.ts"
import { AdminAccess } from "./access.ts"
import { Text, Unavailable } from "./query.ts"
import { EmailFailed, EmailSuppressed, InvalidRequest } from "./relay.ts"

const short = Text.check(Schema.isMaxLength(200))

/** The body of one outreach send. */
export const OutreachRequest = Schema.Struct({
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

/** Outreach as admins send it. */
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
