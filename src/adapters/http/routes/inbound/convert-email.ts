import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { ConvertByEmail } from "../../../../application/inbound/convert-by-email.ts"
import { ReplyChannel } from "../../../../ports/inbound/mails.ts"
import { MailObjects } from "../../../../ports/object-store.ts"
import { CurrentOwner, OwnerAccess, ProxySecret } from "../../server/access.ts"
import { apiOf, openQuery, Page } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import { bodyRefusals, problem, problemSchema, unavailable } from "../../server/problem.ts"
import { RateLimited, RequestsPerMinute } from "../../server/rate-limit.ts"
import { resultResponse } from "../../server/responses.ts"
import { TestSendRequest, MAX_TEST_BODY, sendTestMessage } from "./test-message.ts"

const Channel = Schema.Literals(["workspace", "library"]).annotate({
  description: "How replies go out (`CONVERT_REPLY_CHANNEL`)."
})

/** The answer of the health check. */
const Health = Schema.Struct({ status: Schema.Literal("ok"), channel: Channel }).annotate({
  identifier: "ConvertEmailHealth"
})

/** Convert-by-email over HTTP: health, and links to results that are too large to attach. */
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
      success: Page,
      error: [problemSchema("NOT_FOUND", {}), problemSchema("UNAVAILABLE", {})]
    })
      .annotate(RequestsPerMinute, 120)
      .annotateMerge(
        OpenApi.annotations({
          summary: "A result that was too large to attach",
          description:
            "The link of a reply: signed, and good for 7 days. Anyone who has it can read the result."
        })
      )
  )
  .middleware(RateLimited)
  .annotateEndpointsMerge(openQuery) {}

/** A result of convert-by-email behind a link. */
const MailResultView = Schema.Struct({
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

/** An owner's results of convert-by-email. */
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

/** A test message, sent by hand through the channel of the replies (INBOUND-16). */
export class ConvertEmailTestGroup extends HttpApiGroup.make("convertEmailTest")
  .add(
    HttpApiEndpoint.post("convertEmailTestSend", "/convert-email/test-send", {
      payload: TestSendRequest,
      success: Schema.Struct({ ok: Schema.Literal(true), channel: Channel }),
      error: [...bodyRefusals(), problemSchema("UNAVAILABLE", {})]
    })
      .annotateMerge(jsonBody(MAX_TEST_BODY))
      .annotate(OpenApi.Summary, "Sends a test message through the channel of the replies")
  )
  .middleware(JsonBody)
  .middleware(ProxySecret) {}

const resultAway = unavailable("a result cannot be read", "The result cannot be read now")

/** `/convert-email/health` and the links to results. */
export const convertEmailHandlers = HttpApiBuilder.group(
  apiOf(ConvertEmailGroup),
  "convertEmail",
  Effect.fnUntraced(function* (handlers) {
    const intake = yield* ConvertByEmail
    const channel = yield* ReplyChannel
    const objects = yield* MailObjects
    return handlers.handleAll({
      convertEmailHealth: () => Effect.succeed({ status: "ok" as const, channel: channel.name }),
      convertEmailResult: Effect.fnUntraced(function* ({ params, request }) {
        const found = yield* intake.result(params.token).pipe(Effect.catch(resultAway))
        return found === undefined
          ? yield* Effect.fail(problem("NOT_FOUND", "There is no such result, or its link has expired"))
          : yield* resultResponse(objects, found.key, request).pipe(Effect.catch(resultAway))
      })
    })
  })
)

/** `GET /api/v1/mail-results`. */
export const mailResultsHandlers = HttpApiBuilder.group(
  apiOf(MailResultsGroup),
  "mailResults",
  Effect.fnUntraced(function* (handlers) {
    const intake = yield* ConvertByEmail
    return handlers.handle(
      "listMailResults",
      Effect.fnUntraced(
        function* () {
          const { customerId } = yield* CurrentOwner
          const results = yield* intake.keptResults(customerId)
          return {
            results: results.map((result) => ({
              ...result,
              expiresAt: new Date(result.expiresAt).toISOString()
            }))
          }
        },
        Effect.catchTag(
          "StoreUnavailable",
          unavailable("results of mails cannot be listed", "Your results cannot be listed now")
        )
      )
    )
  })
)

/** `POST /convert-email/test-send`. */
export const convertEmailTestHandlers = HttpApiBuilder.group(
  apiOf(ConvertEmailTestGroup),
  "convertEmailTest",
  Effect.fnUntraced(function* (handlers) {
    const channel = yield* ReplyChannel
    return handlers.handle("convertEmailTestSend", ({ payload }) => sendTestMessage(channel, payload))
  })
)
