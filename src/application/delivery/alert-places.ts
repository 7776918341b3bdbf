import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import {
  ALERT_CHANNELS,
  type AlertChannel,
  perChannel,
  type PerChannel
} from "../../domain/delivery/alert-policy.ts"
import { pathTo } from "../../domain/pages.ts"
import type { Chats } from "../../ports/delivery/alert-channels.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { Mailer } from "../mail/mailer.ts"
import { AlertConfig, type Answered, makeWays } from "./alert-ways.ts"

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

/** On the settings of the alerts, and on their chats. */
export const layer: Layer.Layer<
  AlertPlaces,
  never,
  AlertConfig | Chats | Deferrals | Mailer | MailTemplates | SecureRandom
> = Layer.effect(
  AlertPlaces,
  Effect.gen(function* () {
    const { baseUrl } = yield* AlertConfig
    const ways = yield* makeWays
    const random = yield* SecureRandom
    const { render } = yield* MailTemplates

    const test = Effect.fnUntraced(function* (channel: AlertChannel, actor: string) {
      if (!ways[channel].configured) return undefined
      const url = `${baseUrl}${pathTo.adminScreen("notifications")}`
      const mail = yield* render({ kind: "alert-test", actor, url })
      const key = `${TEST_SOURCE}/${yield* random.uuidV7()}`
      return yield* ways[channel].send({ key, source: TEST_SOURCE, mail })
    })
    return AlertPlaces.of({
      places: perChannel((channel) => {
        const { configured, where } = ways[channel]
        return { configured, where, settings: ALERT_CHANNELS[channel].settings }
      }),
      test
    })
  })
)
