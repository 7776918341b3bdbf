import { Effect, Schema } from "effect"

import { addressOf } from "../../../../domain/mail/address.ts"
import type { ReplyChannel, ReplyFailure } from "../../../../ports/inbound/mails.ts"
import { mailboxIn } from "../../server/endpoint.ts"
import { bodyDecoder, invalidRequest, problem } from "../../server/problem.ts"

/** Largest body of a test message, bytes. */
export const MAX_TEST_BODY = 512 * 1024

/** The body of a test message (INBOUND-16). */
export const TestSendRequest = Schema.Struct({
  to: Schema.NonEmptyString.check(Schema.isMaxLength(320)),
  subject: Schema.NonEmptyString.check(Schema.isMaxLength(900)),
  body: Schema.String.check(Schema.isMaxLength(100_000))
}).annotate({ identifier: "TestSendRequest" })

/** Decodes the parsed body of a test message, where `HttpApi` does not. */
export const decodeTestSend = bodyDecoder(TestSendRequest)

const refused = ({ message, reason }: ReplyFailure) =>
  reason === "refused" ? invalidRequest([{ path: "", message }]) : problem("UNAVAILABLE", message)

/** Sends a test message through the channel of the replies. */
export const sendTestMessage = Effect.fnUntraced(function* (
  channel: ReplyChannel["Service"],
  { body, subject, to }: typeof TestSendRequest.Type
) {
  const mailbox = yield* mailboxIn("to", to)
  if (/[\r\n\0]/.test(subject)) {
    return yield* Effect.fail(invalidRequest([{ path: "subject", message: "holds a line break or NUL" }]))
  }
  yield* Effect.mapError(
    channel.send({
      key: `convert-email-test:${globalThis.crypto.randomUUID()}`,
      to: addressOf(mailbox),
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
  return { ok: true as const, channel: channel.name }
})
