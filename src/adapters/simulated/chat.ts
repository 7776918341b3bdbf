import { Clock, Effect } from "effect"

import { type Chat, ChatFailure } from "../../ports/delivery/alert-channels.ts"
import { SimulatedMail } from "../../ports/mail/simulated-mail.ts"
import { composeMessage, wordsOf } from "../mime/compose-message.ts"

const FROM = "alerts@chat.invalid"
const TO = "chat@chat.invalid"

/** What every mail of the product begins with says nothing of one. */
const BRAND = "Postlane"

/** A chat that shows its messages in the outbox. */
export const simulatedChat: Effect.Effect<Chat, never, SimulatedMail> = Effect.map(
  SimulatedMail,
  ({ outbox }): Chat => ({
    configured: true,
    where: "the outbox",
    post: Effect.fnUntraced(
      function* (text) {
        const now = yield* Clock.currentTimeMillis
        const subject = text.split("\n").find((line) => line !== "" && line !== BRAND) ?? "Alert"
        const body = { html: null, text }
        const raw = yield* Effect.tryPromise(() =>
          composeMessage(
            {
              from: { name: null, address: FROM },
              to: [{ name: null, address: TO }],
              cc: [],
              bcc: [],
              replyTo: [],
              subject,
              ...body,
              configurationSet: null,
              tags: {},
              headers: {},
              attachments: []
            },
            { messageId: `<${now}@chat.invalid>`, date: new Date(now) }
          )
        )
        yield* outbox.put({ via: "telegram", from: FROM, to: [TO], subject, text: wordsOf(body), raw })
      },
      Effect.mapError(() => new ChatFailure({ message: "the outbox did not take the message" }))
    )
  })
)
