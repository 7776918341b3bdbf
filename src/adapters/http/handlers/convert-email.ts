import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { ConvertByEmail } from "../../../domain/intake/convert-by-email.ts"
import { addressOf, parseMailbox } from "../../../domain/mail/address.ts"
import { MailObjects } from "../../../ports/object-store.ts"
import { ReplyChannel, type ReplyFailure } from "../../../ports/reply-channel.ts"
import { Api } from "../api/api.ts"
import { TestSendRequest } from "../api/convert-email.ts"
import { bodyDecoder } from "../decode-body.ts"
import { makeJsonBodies } from "../json-body.ts"
import { invalidRequest, problem, problemResponse } from "../problem.ts"
import { resultResponse } from "../result-response.ts"

/** Largest body of a test message, bytes. */
const MAX_BODY = 512 * 1024

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

const decodeTest = bodyDecoder(TestSendRequest)

const refused = ({ message, reason }: ReplyFailure) =>
  reason === "refused" ? invalidRequest([{ path: "", message }]) : problem("UNAVAILABLE", message)

/** `POST /convert-email/test-send`. */
export const convertEmailTestHandlers = HttpApiBuilder.group(
  Api,
  "convertEmailTest",
  Effect.fnUntraced(function* (handlers) {
    const channel = yield* ReplyChannel
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("convertEmailTestSend", ({ request }) =>
      Effect.gen(function* () {
        const { body, subject, to } = yield* Effect.flatMap(bodies.read(request, MAX_BODY), decodeTest)
        const mailbox = parseMailbox(to)
        if (Result.isFailure(mailbox))
          return yield* Effect.fail(invalidRequest([{ path: "to", message: mailbox.failure }]))
        if (/[\r\n\0]/.test(subject)) {
          return yield* Effect.fail(
            invalidRequest([{ path: "subject", message: "holds a line break or NUL" }])
          )
        }
        yield* Effect.mapError(
          channel.send({
            key: `convert-email-test:${globalThis.crypto.randomUUID()}`,
            to: addressOf(mailbox.success),
            subject,
            html: undefined,
            text: body,
            inReplyTo: undefined,
            references: undefined,
            automatic: false,
            attachment: undefined
          }),
          refused
        )
        return HttpServerResponse.text(JSON.stringify({ ok: true, channel: channel.name }), {
          contentType: "application/json"
        })
      }).pipe(Effect.catch((failure) => Effect.succeed(problemResponse(failure))))
    )
  })
)
