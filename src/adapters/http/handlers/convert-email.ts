import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { ConvertByEmail } from "../../../domain/intake/convert-by-email.ts"
import { MailObjects } from "../../../ports/object-store.ts"
import { ReplyChannel } from "../../../ports/reply-channel.ts"
import { CurrentOwner } from "../api/access.ts"
import { Api } from "../api/api.ts"
import { makeJsonBodies } from "../json-body.ts"
import { problem, problemResponse } from "../problem.ts"
import { resultResponse } from "../result-response.ts"
import { MAX_TEST_BODY, sendTestMessage } from "../test-message.ts"

/** `/convert-email/health` and the links to results. */
export const convertEmailHandlers = HttpApiBuilder.group(
  Api,
  "convertEmail",
  Effect.fnUntraced(function* (handlers) {
    const intake = yield* ConvertByEmail
    const channel = yield* ReplyChannel
    const objects = yield* MailObjects
    return handlers
      .handle("convertEmailHealth", () => Effect.succeed({ status: "ok" as const, channel: channel.name }))
      .handleRaw("convertEmailResult", ({ params }) =>
        Effect.gen(function* () {
          const found = yield* intake.result(params.token)
          if (found === undefined) {
            return problemResponse(problem("NOT_FOUND", "There is no such result, or its link has expired"))
          }
          return yield* resultResponse(objects, found.key)
        }).pipe(
          Effect.catch((cause) =>
            Effect.logWarning("a result cannot be read", cause).pipe(
              Effect.as(problemResponse(problem("UNAVAILABLE", "The result cannot be read now")))
            )
          )
        )
      )
  })
)

/** `GET /api/v1/mail-results`. */
export const mailResultsHandlers = HttpApiBuilder.group(
  Api,
  "mailResults",
  Effect.fnUntraced(function* (handlers) {
    const intake = yield* ConvertByEmail
    return handlers.handle("listMailResults", () =>
      Effect.gen(function* () {
        const { customerId } = yield* CurrentOwner
        const results = yield* intake.keptResults(customerId)
        return {
          results: results.map((result) => ({
            ...result,
            expiresAt: new Date(result.expiresAt).toISOString()
          }))
        }
      }).pipe(
        Effect.catchTag("IntakeUnavailable", (cause) =>
          Effect.andThen(
            Effect.logWarning("results of mails cannot be listed", cause),
            Effect.fail(problem("UNAVAILABLE", "Your results cannot be listed now"))
          )
        )
      )
    )
  })
)

/** `POST /convert-email/test-send`. */
export const convertEmailTestHandlers = HttpApiBuilder.group(
  Api,
  "convertEmailTest",
  Effect.fnUntraced(function* (handlers) {
    const channel = yield* ReplyChannel
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("convertEmailTestSend", ({ request }) =>
      Effect.flatMap(bodies.read(request, MAX_TEST_BODY), (body) => sendTestMessage(channel, body)).pipe(
        Effect.catch((failure) => Effect.succeed(problemResponse(failure)))
      )
    )
  })
)
