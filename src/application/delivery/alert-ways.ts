import { Context, Effect } from "effect"

import { type ChannelAnswer, perChannel, type PerChannel } from "../../domain/delivery/alert-policy.ts"
import type { RenderedMail } from "../../domain/mail/templates/template.ts"
import { Chats } from "../../ports/delivery/alert-channels.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import type { Mailer } from "../mail/mailer.ts"
import { makeSendOnce, notSent, type SentOnce } from "../mail/send-once.ts"

/** The settings that alerts depend on. */
export class AlertConfig extends Context.Service<
  AlertConfig,
  {
    /** `ALERT_EMAIL`, bare; absent: no alert goes by email. */
    readonly email: string | undefined
    /** `BASE_URL`, under which the pages are that alerts lead to. */
    readonly baseUrl: string
  }
>()("postlane/application/AlertConfig") {}

/** How a channel answered, and why where it did not take the alert. */
export interface Answered {
  readonly answer: ChannelAnswer
  readonly error?: string
}

/** What goes to the admins: a mail once a key, to a chat its text. */
interface Letter {
  readonly key: string
  readonly source: string
  readonly mail: RenderedMail
  /** The key where another text was sent under `key` before; without one that is a fault. */
  readonly keyOfText?: Effect.Effect<string>
}

/** A channel: where it leads, and how it takes a letter. */
interface AlertWay {
  readonly configured: boolean
  /** The address, or what the chat calls itself; undefined where that is not known. */
  readonly where: string | undefined
  readonly send: (letter: Letter) => Effect.Effect<Answered>
}

/** How a mail counts that carries an alert. */
const answerOfMail = (sent: SentOnce): Answered => {
  const error = notSent(sent)
  if (error === undefined) return { answer: "took" }
  return { answer: sent._tag === "Unsent" && sent.refused ? "refused" : "failed", error }
}

/** Every channel, by its name. */
export const makeWays: Effect.Effect<
  PerChannel<AlertWay>,
  never,
  AlertConfig | Chats | Deferrals | Mailer
> = Effect.gen(function* () {
  const { email } = yield* AlertConfig
  const chats = yield* Chats
  const sendOnce = yield* makeSendOnce

  const byEmail: AlertWay = {
    configured: email !== undefined,
    where: email,
    send: ({ key, keyOfText, mail, source }) => {
      const request = Effect.succeed({ to: email ?? "", ...mail, category: "alert", source } as const)
      return sendOnce(key, request).pipe(
        Effect.catchTag("IdempotencyConflict", (conflict) =>
          keyOfText === undefined
            ? Effect.fail(conflict)
            : Effect.flatMap(keyOfText, (other) => sendOnce(other, request))
        ),
        Effect.map(answerOfMail),
        Effect.catch(({ _tag, message }) =>
          Effect.succeed<Answered>({ answer: "failed", error: message || _tag })
        )
      )
    }
  }
  return perChannel((channel): AlertWay => {
    if (channel === "email") return byEmail
    const { configured, post, where } = chats[channel]
    const send = ({ mail }: Letter) =>
      post(mail.text).pipe(
        Effect.as<Answered>({ answer: "took" }),
        Effect.catch(({ message }) => Effect.succeed<Answered>({ answer: "failed", error: message }))
      )
    return { configured, where, send }
  })
})
