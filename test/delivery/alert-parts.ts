import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Redacted } from "effect"

import * as MailTemplates from "../../src/adapters/mail-templates/mail-templates.ts"
import * as Clients from "../../src/adapters/postgres/client.ts"
import * as DeliveryLog from "../../src/adapters/postgres/delivery/delivery-log.ts"
import { makeTelegramChat } from "../../src/adapters/telegram/chat.ts"
import { AlertConfig } from "../../src/application/delivery/alert-ways.ts"
import * as Alerts from "../../src/application/delivery/alerts.ts"
import { Mailer } from "../../src/application/mail/mailer.ts"
import { AlertPreferences, Chats, DEFAULT_PREFERENCES } from "../../src/ports/delivery/alert-channels.ts"
import { Deferrals } from "../../src/ports/mail/deferrals.ts"

/** The delivery log of a database, and alerts that go to the chat at `chatUrl` alone. */
export const alertParts = (databaseUrl: string, chatUrl: string) =>
  Layer.merge(
    DeliveryLog.layer.pipe(Layer.provide(Clients.layer({ url: Redacted.make(databaseUrl) })), Layer.orDie),
    Alerts.layer.pipe(
      Layer.provide([
        Layer.succeed(AlertConfig, { email: undefined, baseUrl: "https://postlane.test" }),
        Layer.mock(AlertPreferences, { read: Effect.succeed(DEFAULT_PREFERENCES) }),
        Layer.mock(Mailer, {}),
        Layer.mock(Deferrals, {}),
        MailTemplates.layer,
        Layer.sync(Chats, () => ({
          chat: makeTelegramChat({ token: Redacted.make("token"), chatId: "1", baseUrl: chatUrl })
        })),
        NodeCrypto.layer
      ])
    )
  )
