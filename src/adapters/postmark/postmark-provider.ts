import { Effect, Option, Redacted } from "effect"

import { answeredWith, asksServer } from "../../application/mail/attempt-span.ts"
import { fieldsOf, idOf, textOf } from "../../domain/delivery/untrusted.ts"
import { formattedKey } from "../../domain/mail/address.ts"
import { type FailureKind, failureText, noAnswer } from "../../domain/mail/failover.ts"
import {
  type Accepted,
  type MailProvider,
  ProviderFailure,
  type ProviderPace
} from "../../ports/mail/mail-provider.ts"
import { addressOfApi, type Answer, ask, isToken, type NoAnswer, type PostmarkOptions } from "./api.ts"
import { classifyAnswer } from "./classify.ts"
import { decodeBody, dropRecipients, payloadOf, prepareRequest, recipientsOf } from "./request.ts"

/** An accepted mail of which some recipients are inactive says so, by their addresses (Email API, "Send a single email"). */
const INACTIVE = /\binactive address(?:es)?\b/i

/** The recipients of the request that the text names. */
const namedIn = (text: string, recipients: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = new Set(
    text
      .toLowerCase()
      .split(/[\s,;:<>"]+/)
      .map((word) => word.replace(/\.$/, ""))
  )
  return [...new Set(recipients.map(formattedKey))].filter((address) => words.has(address))
}

/**
 * `postmark`: its Email API. It has no idempotency key: a request is made once. From Node and every runtime with `fetch`; an interruption
 * aborts the request.
 */
export const makePostmarkProvider = (options: PostmarkOptions): MailProvider => {
  const token = Redacted.value(options.serverToken)
  const address = addressOfApi(options)
  const asks = asksServer(address)

  const failure = (kind: FailureKind, message: string, code?: string, pace?: ProviderPace) =>
    new ProviderFailure({
      provider: "postmark",
      kind,
      message: failureText(message, [token]),
      code,
      ...(pace === undefined ? {} : { pace })
    })

  const unanswered = ({ unsent, why }: NoAnswer): ProviderFailure =>
    failure(
      unsent ? "unavailable" : "ambiguous",
      noAnswer("postmark", { address, cause: why, settings: "POSTMARK_BASE_URL" })
    )

  const accepted = (
    answer: Answer,
    recipients: ReadonlyArray<string>
  ): Effect.Effect<Accepted, ProviderFailure> => {
    const { ErrorCode, Message, MessageID } = fieldsOf(answer.body)
    const messageId = idOf(MessageID)
    if (answer.status === 200 && ErrorCode === 0 && messageId !== undefined) {
      const text = textOf(Message) ?? ""
      if (!INACTIVE.test(text)) return Effect.succeed({ messageId })
      const withheld = namedIn(text, recipients)
      return Effect.as(
        Effect.logWarning("postmark takes the mail and holds it back from some of its recipients", {
          messageId,
          reason: failureText(text, [token])
        }),
        withheld.length === 0 ? { messageId } : { messageId, withheld }
      )
    }
    if (answer.status === 200) {
      return Effect.fail(failure("ambiguous", "the provider answered without a message id"))
    }
    const { code, kind, message, pace } = classifyAnswer(answer)
    return Effect.fail(failure(kind, message, code, pace))
  }

  const send: MailProvider["send"] = (request) =>
    Effect.suspend(() => {
      if (!isToken(token)) {
        return Effect.fail(failure("unavailable", "the server token is missing or malformed"))
      }
      const body = Option.getOrUndefined(decodeBody(request.body))
      if (body === undefined) {
        return Effect.fail(failure("rejected", "the request is not one that this provider prepared"))
      }
      return ask(options, "/email", { body: payloadOf(body) }).pipe(
        Effect.mapError(unanswered),
        Effect.tap(({ status }) => answeredWith(status)),
        Effect.flatMap((answer) => accepted(answer, recipientsOf(body))),
        (asked) => Effect.andThen(asks, asked)
      )
    })

  return {
    provider: "postmark",
    prepare: prepareRequest(options.messageStream),
    withoutRecipients: dropRecipients,
    send
  }
}
