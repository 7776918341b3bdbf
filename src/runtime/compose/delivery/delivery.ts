import { Context, Effect, Layer } from "effect"
import * as Mac from "effect/crypto/Mac"
import { layerWebCrypto } from "effect/crypto/SecureRandom"

import * as InternalAlerts from "../../../adapters/http-client/internal-alerts.ts"
import * as MailTemplates from "../../../adapters/mail-templates/mail-templates.ts"
import { noChat } from "../../../adapters/memory/delivery/alert-preferences.ts"
import * as ReturnReader from "../../../adapters/postal-mime/process-return-reader.ts"
import * as AuditLog from "../../../adapters/postgres/accounts/audit-log.ts"
import * as AlarmBoard from "../../../adapters/postgres/delivery/alarm-board.ts"
import * as AlertPreferences from "../../../adapters/postgres/delivery/alert-preferences.ts"
import * as DeliveryLog from "../../../adapters/postgres/delivery/delivery-log.ts"
import * as EmailLogQuery from "../../../adapters/postgres/delivery/email-log-query.ts"
import * as EmailStats from "../../../adapters/postgres/delivery/email-stats.ts"
import * as EventHooks from "../../../adapters/postgres/delivery/event-hooks.ts"
import * as HealthBoard from "../../../adapters/postgres/delivery/health-board.ts"
import * as MailStories from "../../../adapters/postgres/delivery/mail-stories.ts"
import * as CampaignBook from "../../../adapters/postgres/outreach/campaign-book.ts"
import * as ReaderProcess from "../../../adapters/reader-process/reader-process.ts"
import { simulatedChat } from "../../../adapters/simulated/chat.ts"
import { makeTelegramChat } from "../../../adapters/telegram/chat.ts"
import * as Alarms from "../../../application/delivery/alarms.ts"
import * as AlertPlaces from "../../../application/delivery/alert-places.ts"
import { AlertConfig } from "../../../application/delivery/alert-ways.ts"
import * as Alerts from "../../../application/delivery/alerts.ts"
import { HOOK_UPKEEP_INTERVAL, tendEventHooks } from "../../../application/delivery/event-hooks.ts"
import * as EventRecording from "../../../application/delivery/event-recording.ts"
import * as MailLinks from "../../../application/delivery/mail-links.ts"
import * as ReturnedMails from "../../../application/delivery/returned-mail.ts"
import { PROVIDERS } from "../../../domain/mail/provider.ts"
import { type Chat, Chats } from "../../../ports/delivery/alert-channels.ts"
import type { SimulatedMail } from "../../../ports/mail/simulated-mail.ts"
import { leaderTicking } from "../../process/leadership.ts"
import { ticking } from "../../process/supervisor.ts"
import { layerTracedEvents } from "../../process/traced.ts"
import type { DeliverySettings, Settings } from "../../settings/settings.ts"
import * as AuditDigest from "./audit-digest.ts"
import * as DeliveryIntake from "./delivery-intake.ts"
import * as EventHookDispatch from "./event-hooks.ts"
import * as EventPoll from "./event-poll.ts"

/** Telegram's; where it is not set up, the outbox of an embedded installation, else none. */
const chat = (
  { chatApiBaseUrl, chatBotToken, chatId }: DeliverySettings["events"],
  outbox: Layer.Layer<SimulatedMail> | undefined
): Effect.Effect<Chat> => {
  if (chatBotToken !== undefined && chatId !== undefined)
    return Effect.sync(() => makeTelegramChat({ token: chatBotToken, chatId, baseUrl: chatApiBaseUrl }))
  return outbox === undefined ? Effect.succeed(noChat) : Effect.provide(simulatedChat, outbox)
}

/**
 * The alert dispatcher, the notices of alarms, and the preferences of admins. Where no real provider is configured and
 * `ALERT_EMAIL` is unset, alerts go to `alerts@{SENDER_DOMAIN}`, that is into the outbox.
 */
const alerts = (
  settings: DeliverySettings,
  options: { readonly outbox: Layer.Layer<SimulatedMail> | undefined; readonly onlySimulated: boolean }
) => {
  const fallback = options.onlySimulated ? `alerts@${settings.domains.sender}` : undefined
  return Layer.mergeAll(Alerts.layer, Alarms.layer, Layer.provide(AlertPlaces.layer, layerWebCrypto)).pipe(
    Layer.provide([
      Layer.effect(Chats, Effect.all({ chat: chat(settings.events, options.outbox) })),
      MailTemplates.layer,
      Layer.succeed(AlertConfig, {
        email: settings.alerts.email ?? fallback,
        baseUrl: settings.http.baseUrl
      })
    ]),
    Layer.provideMerge(AlertPreferences.layer)
  )
}

interface RecordedAlertSettings extends Pick<DeliverySettings, "access" | "http"> {
  readonly events: Pick<DeliverySettings["events"], "internalAlertUrl">
}

/**
 * The dispatcher of recorded events. Those that come through the functions are posted where `INTERNAL_ALERT_URL` says; where that is this process's own route, and for all other events, the alert is raised here.
 */
export const recordedAlerts = ({
  access,
  events,
  http
}: RecordedAlertSettings): Layer.Layer<Alerts.Alerts, never, Alerts.Alerts> =>
  Layer.effect(
    Alerts.Alerts,
    Effect.gen(function* () {
      const here = yield* Alerts.Alerts
      const { internalAlertUrl: url } = events
      if (url === `${http.baseUrl}/internal/email-alert`) return here
      const posted = InternalAlerts.layer({ url, proxySecret: access.proxySharedSecret })
      const there = Context.get(yield* Layer.build(posted), Alerts.Alerts)
      return Alerts.Alerts.of({
        raise: (failed) => (PROVIDERS[failed.provider].throughFunctions ? there : here).raise(failed)
      })
    })
  )

/** The state of the installation. */
export const health = ({ conversion }: Pick<Settings, "conversion">) =>
  HealthBoard.layer(conversion.dailyBudgetUsd)

const mailLinks = MailLinks.layer.pipe(
  Layer.provide([AuditLog.layerNotes, CampaignBook.layerUnsubscribes, Mac.layerWebCrypto])
)

/** What is recorded of mail, what is made of it, and who is notified. */
export const delivery = (
  settings: DeliverySettings,
  options: {
    readonly outbox: Layer.Layer<SimulatedMail> | undefined
    readonly onlySimulated: boolean
    readonly traced: boolean
  }
) => {
  const recording = Layer.provide(EventRecording.layer, recordedAlerts(settings))
  return Layer.mergeAll(
    EventPoll.layer(settings),
    EventPoll.layerRecent(settings),
    AuditDigest.layerHere(settings),
    ReturnedMails.layer(settings.bounceAddress)
  ).pipe(
    Layer.provide(Layer.provide(ReturnReader.layerInProcess, ReaderProcess.layer)),
    Layer.provideMerge(options.traced ? Layer.provide(layerTracedEvents, recording) : recording),
    Layer.provideMerge(
      Layer.mergeAll(
        DeliveryLog.layer,
        EmailLogQuery.layer,
        EmailStats.layer,
        EventHooks.layer,
        MailStories.layer,
        mailLinks
      )
    ),
    Layer.provideMerge(DeliveryIntake.layer(settings)),
    Layer.provideMerge(alerts(settings, options))
  )
}

/** How often days that are over are closed, and late changes folded into them. */
const STATS_INTERVAL = "1 minute"

/** How often rows that were kept long enough are looked for. */
const RETENTION_INTERVAL = "1 hour"

/** The leader polls, sends digests, resends unconfirmed alerts and watches the alarms. */
export const deliveryDuties = (settings: DeliverySettings) =>
  Layer.mergeAll(
    EventPoll.ticks(settings),
    AuditDigest.ticks,
    EventHookDispatch.layer(settings),
    Layer.mergeAll(
      leaderTicking("alert-sweep", Alerts.ALERT_SWEEP_INTERVAL, Alerts.sweepAlerts),
      leaderTicking("email-stats", STATS_INTERVAL, EmailStats.closeStatsDays),
      leaderTicking(
        "email-log-retention",
        RETENTION_INTERVAL,
        EmailStats.pruneLog(settings.events.logKeepDays)
      ),
      leaderTicking("event-hooks-upkeep", HOOK_UPKEEP_INTERVAL, tendEventHooks),
      leaderTicking("alarms", Alarms.ALARM_INTERVAL, Alarms.watchAlarms),
      // Every process that could lead shows the state of the alarms.
      ticking("alarm-metrics", Alarms.ALARM_INTERVAL, Alarms.reportAlarms)
    ).pipe(Layer.provide([AlarmBoard.layer, recordedAlerts(settings)]))
  )
