import { Context, Effect } from "effect"

import type { SendRequest } from "../../domain/mail/message.ts"
import type { NotBegun, SendResult } from "../../domain/mail/send-result.ts"
import { Mailer } from "./mailer.ts"

/**
 * Puts a mail into the send queue, under its own key if it has one. True where the queue has it, or has sent it; false where there is no queue, or it does not take
 * the mail.
 */
export const SendLater = Context.Reference<(request: SendRequest) => Effect.Effect<boolean>>(
  "postlane/application/SendLater",
  { defaultValue: () => () => Effect.succeed(false) }
)

/**
 * Makes the sending of mails that may wait: now, or, where a mail certainly was not accepted, because it came faster than its providers take mail or they are away, from the send
 * queue. `undefined`: it waits there. The queue uses the same key, so that a later call and the queue send it once.
 */
export const makeSendNowOrLater: Effect.Effect<
  (request: SendRequest) => Effect.Effect<SendResult | undefined, NotBegun>,
  never,
  Mailer
> = Effect.gen(function* () {
  const { send } = yield* Mailer
  const later = yield* SendLater
  return Effect.fnUntraced(function* (request) {
    const result = yield* send(request)
    if (result.status !== "failed" || result.kind !== "unavailable") return result
    return (yield* later(request)) ? undefined : result
  })
})
