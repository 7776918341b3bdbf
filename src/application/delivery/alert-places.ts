import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import {
  ALERT_CHANNELS,
  type AlertChannel,
  perChannel,
  type PerChannel
} from "../../domain/delivery/alert-policy.ts"
import { pathTo } from "../../domain/pages.ts"
import { Chat } from "../../ports/delivery/alert-channels.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { Mailer } from "../mail/mailer.ts"
import { makeSendOnce } from "../mail/send-once.ts"
import { AlertConfig, type Answered, answerOfMail, notBegunAnswer, postTo } from "./alerts.ts"

/** Where a channel leads. */
interface AlertPlace {
  readonly configured: boolean
  /** The address, or what the chat calls itself; undefined where that is not known. */
  readonly where: string | undefined
  /** The settings that configure it. */
  readonly settings: string
}

/** Where the alerts go, for the admins that choose among the channels. */
export class AlertPlaces extends Context.Service<
  AlertPlaces,
  {
    readonly places: PerChannel<AlertPlace>
    /** Sends a test; undefined where the channel is not configured. */
    readonly test: (channel: AlertChannel, actor: string) => Effect.Effect<Answered | undefined>
  }
>()("postlane/application/AlertPlaces") {}

/** `source` of the mails that try a channel. */
const TEST_SOURCE = "api:alert-test"

/** On the settings of the alerts, and on their chat. */
export const layer: Layer.Layer<
  AlertPlaces,
  never,
  AlertConfig | Chat | Deferrals | Mailer | MailTemplates | SecureRandom
> = Layer.effect(
  AlertPlaces,
  Effect.gen(function* () {
    const { baseUrl, email } = yield* AlertConfig
    const chat = yield* Chat
    const sendOnce = yield* makeSendOnce
    const random = yield* SecureRandom
    const { render } = yield* MailTemplates

    const found: PerChannel<Omit<AlertPlace, "settings">> = {
      email: { configured: email !== undefined, where: email },
      chat: { configured: chat.configured, where: chat.where }
    }
    const testMail = (actor: string) =>
      render({ kind: "alert-test", actor, url: `${baseUrl}${pathTo.adminScreen("notifications")}` })

    const ways: PerChannel<(actor: string) => Effect.Effect<Answered>> = {
      email: (actor) =>
        Effect.flatMap(random.uuidV7(), (id) =>
          sendOnce(
            `${TEST_SOURCE}/${id}`,
            Effect.map(testMail(actor), (mail) => ({
              to: email ?? "",
              ...mail,
              category: "alert" as const,
              source: TEST_SOURCE
            }))
          )
        ).pipe(Effect.map(answerOfMail), Effect.catch(notBegunAnswer)),
      chat: (actor) => Effect.flatMap(testMail(actor), ({ text }) => postTo(chat, text))
    }
    return AlertPlaces.of({
      places: perChannel((channel) => ({ ...found[channel], settings: ALERT_CHANNELS[channel].settings })),
      test: (channel, actor) => (found[channel].configured ? ways[channel](actor) : Effect.undefined)
    })
  })
)
