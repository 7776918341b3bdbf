import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { problemSchema } from "../problem.ts"
import { TestSendRequest } from "../test-message.ts"
import { OwnerAccess } from "./access.ts"
import { RateLimited, RequestsPerMinute } from "./rate-limit.ts"
import { InvalidRequest, ProxySecret } from "./relay.ts"

const Channel = Schema.Literals(["workspace", "library"]).annotate({
  description: "How replies go out (`CONVERT_REPLY_CHANNEL`)."
})

/** The answer of the health check. */
const Health = Schema.Struct({ status: Schema.Literal("ok"), channel: Channel }).annotate({
  identifier: "ConvertEmailHealth"
})

/** Convert-by-email beside SMTP: health, and links to results that are too large to attach. */
export class ConvertEmailGroup extends HttpApiGroup.make("convertEmail")
  .add(
    HttpApiEndpoint.get("convertEmailHealth", "/convert-email/health", { success: Health }).annotate(
      OpenApi.Summary,
      "Whether convert-by-email is there"
    )
  )
  .add(
    HttpApiEndpoint.get("convertEmailResult", "/convert-email/results/:token", {
      params: { token: Schema.String },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html; charset=utf-8" })),
      error: [problemSchema("NOT_FOUND", {}), problemSchema("UNAVAILABLE", {})]
    })
      .annotate(RequestsPerMinute, 120)
      .annotateMerge(
        OpenApi.annotations({
          summary: "A result that was too large to attach",
          description: "The link of a reply: signed, and good for 7 days. Whoever has it may read the result."
        })
      )
  )
  .middleware(RateLimited) {}

/** A result of convert-by-email that stands behind a link. */
export const MailResultView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  pages: Schema.Int,
  unreadablePages: Schema.Array(Schema.Int).annotate({
    description: "Numbers of the pages that could not be read; they are not charged."
  }),
  hasText: Schema.Boolean.annotate({ description: "Whether the result holds a word of text." }),
  creditsCharged: Schema.Int,
  convertedAt: Schema.String,
  reply: Schema.Literals(["queued", "sent", "failed"]).annotate({
    description: "What became of the reply that was to bring it."
  }),
  url: Schema.String,
  expiresAt: Schema.String
}).annotate({ identifier: "MailResult" })

/** What an owner has of convert-by-email. */
export class MailResultsGroup extends HttpApiGroup.make("mailResults")
  .add(
    HttpApiEndpoint.get("listMailResults", "/api/v1/mail-results", {
      success: Schema.Struct({ results: Schema.Array(MailResultView) }),
      error: problemSchema("UNAVAILABLE", {})
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Results of your mails that no reply has brought as an attachment",
        description:
          "Newest first: those that went as a link, and those whose reply waits or did not go out. They stay for 7 days."
      })
    )
  )
  .middleware(OwnerAccess) {}

/** A message that somebody sends by hand, through the channel of the replies. */
export class ConvertEmailTestGroup extends HttpApiGroup.make("convertEmailTest")
  .add(
    HttpApiEndpoint.post("convertEmailTestSend", "/convert-email/test-send", {
      payload: TestSendRequest,
      success: Schema.Struct({ ok: Schema.Literal(true), channel: Channel }),
      error: [
        InvalidRequest,
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
        problemSchema("UNAVAILABLE", {})
      ]
    }).annotate(OpenApi.Summary, "Sends a test message through the channel of the replies")
  )
  .middleware(ProxySecret) {}
