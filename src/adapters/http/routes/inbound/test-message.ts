import { Effect, Result, Schema } from "effect"
import { HttpServerResponse } from "effect/http"

import { addressOf, parseMailbox } from "../../../../domain/mail/address.ts"
import type { ReplyChannel, ReplyFailure } from "../../../../ports/inbound/mails.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { invalidRequest, problem, type Problem } from "../../server/problem.ts"

/** Largest body of a test message, bytes. */
export const MAX_TEST_BODY = 512 * 1024

/** The body of a test message (INBOUND-16). */
export const TestSendRequest = Schema.Struct({
  to: Schema.NonEmptyString.check(Schema.isMaxLength(320)),
  subject: Schema.NonEmptyString.check(Schema.isMaxLength(900)),
  body: Schema.String.check(Schema.isMaxLength(100_000))
}).annotate({ identifier: "TestSendRequest" })

const decodeTest = bodyDecoder(TestSendRequest)

const refused = ({ message, reason }: ReplyFailure) =>
  reason === "refused" ? invalidRequest([{ path: "", message }]) : problem("UNAVAILABLE", message)

/** Sends the test message of a parsed body through the channel of the replies. */
export const sendTestMessage = Effect.fnUntraced(function* (
  channel: ReplyChannel["Service"],
  parsed: unknown
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, Problem> {
  const { body, subject, to } = yield* decodeTest(parsed)
  const mailbox = parseMailbox(to)
  if (Result.isFailure(mailbox))
    return yield* Effect.fail(invalidRequest([{ path: "to", message: mailbox.failure }]))
  if (/[\r\n\0]/.test(subject)) {
    return yield* Effect.fail(invalidRequest([{ path: "subject", message: "holds a line break or NUL" }]))
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
})
