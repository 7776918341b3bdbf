import { Context, Effect, Layer } from "effect"

import * as InternalAlerts from "../../adapters/http-client/internal-alerts.ts"
import * as NoChat from "../../adapters/memory/delivery/alert-preferences.ts"
import * as AlertPreferences from "../../adapters/postgres/delivery/alert-preferences.ts"
import * as SimulatedChat from "../../adapters/simulated/chat.ts"
import * as Telegram from "../../adapters/telegram/chat.ts"
import * as AlarmNotices from "../../domain/delivery/alarms.ts"
import { AlertConfig, Alerts, layer } from "../../domain/delivery/alerts.ts"
import type { Chat } from "../../ports/delivery/alert-channels.ts"
import type { SimulatedMail } from "../../ports/mail/simulated-mail.ts"
import type { DeliverySettings } from "../settings/settings.ts"

/** The chat of the settings; where it is not set, the outbox of an embedded installation, else none. */
const chat = (settings: DeliverySettings, outbox: Layer.Layer<SimulatedMail>): Layer.Layer<Chat> => {
  const { chatApiBaseUrl, chatBotToken, chatId } = settings.alerts
  if (chatBotToken !== undefined && chatId !== undefined) {
    return Telegram.layer({ token: chatBotToken, chatId, baseUrl: chatApiBaseUrl })
  }
  return settings.embedded ? Layer.provide(SimulatedChat.layer, outbox) : NoChat.layerNone
}

/**
 * The alert dispatcher, the notices of alarms, and the preferences of admins. Where no real provider is configured and
 * `ALERT_EMAIL` is unset, alerts go to `alerts@{SENDER_DOMAIN}`, that is into the outbox.
 */
export const alerts = (
  settings: DeliverySettings,
  options: { readonly outbox: Layer.Layer<SimulatedMail>; readonly onlySimulated: boolean }
) => {
  const fallback = options.onlySimulated ? `alerts@${settings.domains.sender}` : undefined
  return Layer.merge(layer, AlarmNotices.layer).pipe(
    Layer.provide([
      chat(settings, options.outbox),
      Layer.succeed(AlertConfig, { email: settings.alerts.email ?? fallback })
    ]),
    Layer.provideMerge(AlertPreferences.layer)
  )
}

type RecordedAlertSettings = Pick<DeliverySettings, "access" | "events" | "http">

/**
 * The dispatcher of recorded events. Those of `provider_a` come through the functions, which post where `INTERNAL_ALERT_URL`
 * says; where that is this process's own route, and for all other events, the alert is raised here.
 */
export const recordedAlerts = ({
  access,
  events,
  http
}: RecordedAlertSettings): Layer.Layer<Alerts, never, Alerts> =>
  Layer.effect(
    Alerts,
    Effect.gen(function* () {
      const here = yield* Alerts
      const { internalAlertUrl: url } = events
      if (url === `${http.baseUrl}/internal/email-alert`) return here
      const posted = InternalAlerts.layer({ url, proxySecret: access.proxySharedSecret })
      const there = Context.get(yield* Layer.build(posted), Alerts)
      return Alerts.of({
        raise: (failed) => (failed.provider === "provider_a" ? there : here).raise(failed)
      })
    })
  )
