import { Context, Effect, Layer } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import {
  type AlertChannel,
  type AlertEnd,
  alertMail,
  CHANNEL_NAMES,
  CHANNEL_SETTINGS,
  endOf,
  perChannel,
  planAlert
} from "../../domain/delivery/alert-policy.ts"
import type { FailedSend } from "../../domain/delivery/delivery-event.ts"
import type { LogRowId } from "../../domain/ids.ts"
import { writtenKey } from "../../domain/mail/address.ts"
import type { RenderedMail } from "../../domain/mail/templates/template.ts"
import { AlertPreferences, type Chats, DEFAULT_PREFERENCES } from "../../ports/delivery/alert-channels.ts"
import { DeliveryLog } from "../../ports/delivery/delivery-log.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { withDeadline } from "../deadline.ts"
import type { Mailer } from "../mail/mailer.ts"
import { AlertConfig, makeWays } from "./alert-ways.ts"

/**
 * The outcome of an alert (EVENT-21, EVENT-22). `escalated` names the chat that accepted an alert about the alert inbox
 * itself; only with `delivered`.
 */
export type AlertOutcome = AlertEnd

/** The admin-alert dispatcher. */
export class Alerts extends Context.Service<
  Alerts,
  {
    /**
     * Raises one alert on every wanted channel that does not have it yet. The holder of its claim releases it on `unconfigured`, on
     * `failed`, and where some channel lacks it (`lacks`).
     */
    readonly raise: (failed: FailedSend) => Effect.Effect<AlertOutcome>
  }
>()("postlane/application/Alerts") {}

/** `source` of the mails that carry alerts. */
const ALERT_SOURCE = "api:email-alert"

/** Time limit of the preferences, milliseconds; past it the default holds. */
const PREFERENCES_TIMEOUT_MS = 2_500

/** What every alert is raised with. */
const makeChannels = Effect.gen(function* () {
  return {
    ...(yield* AlertConfig),
    preferences: yield* AlertPreferences,
    templates: yield* MailTemplates,
    ways: yield* makeWays,
    digest: yield* Digest
  }
})
type Channels = Effect.Success<typeof makeChannels>

/** Where the preferences cannot be read, every alert goes out: an unwanted alert is better than a missed one. */
const wantedChannels = ({ preferences }: Channels) =>
  withDeadline(preferences.read, {
    duration: PREFERENCES_TIMEOUT_MS,
    onTimeout: () => Effect.fail({ cause: `no answer within ${PREFERENCES_TIMEOUT_MS} ms` })
  }).pipe(
    Effect.catch(({ cause }) =>
      Effect.logWarning("the alert preferences do not answer: every channel counts as wanted", cause).pipe(
        Effect.as(DEFAULT_PREFERENCES)
      )
    ),
    Effect.map((table) => table.email_delivery_failure)
  )

const aboutOf = ({ event, provider, sendId }: FailedSend) => ({ sendId, provider, event })

/**
 * The channel's answer. One mail for each failed send, however often its alert is raised; a deferred one has not gone out yet. An alert
 * with another text (the poll may give another reason than the webhook) would conflict with the key of an attempt that may still succeed:
 * it gets another key.
 */
const deliver = Effect.fnUntraced(function* (
  { digest, ways }: Channels,
  channel: AlertChannel,
  failed: FailedSend,
  mail: RenderedMail
) {
  const key = `${ALERT_SOURCE}/${failed.sendId}`
  const keyOfText = Effect.map(
    digest.digestHex(sha256, new TextEncoder().encode(mail.text)),
    (hash) => `${key}/${hash}`
  )
  const { answer, error } = yield* ways[channel].send({ key, source: ALERT_SOURCE, mail, keyOfText })
  if (answer !== "took")
    yield* Effect.logError("an alert did not go out on one channel", { ...aboutOf(failed), channel, error })
  return [channel, answer] as const
})

const raiseAlert = Effect.fnUntraced(function* (
  channels: Channels,
  failed: FailedSend
): Effect.fn.Return<AlertOutcome> {
  const { email, ways } = channels
  const { taken = [] } = failed
  const inbox = email === undefined ? undefined : writtenKey(email)
  const aboutAlertInbox = inbox !== undefined && failed.recipients.some((one) => writtenKey(one) === inbox)
  const plan = planAlert({
    wanted: aboutAlertInbox ? DEFAULT_PREFERENCES.email_delivery_failure : yield* wantedChannels(channels),
    configured: perChannel((channel) => ways[channel].configured),
    aboutAlertInbox,
    taken
  })
  const mail = yield* channels.templates.render(alertMail(failed, channels.baseUrl))
  const answers =
    plan._tag === "Send"
      ? yield* Effect.forEach(plan.channels, (channel) => deliver(channels, channel, failed, mail), {
          concurrency: "unbounded"
        })
      : []
  const end = endOf(plan, new Map(answers), taken)
  if (aboutAlertInbox && (end.delivery === "failed" || end.delivery === "unconfigured")) {
    yield* Effect.logFatal("mail to the alert inbox fails, and the chat did not take the alert", {
      ...aboutOf(failed),
      chat: end.delivery
    })
  } else if (end.delivery === "unconfigured") {
    yield* Effect.logError(`an alert has no channel: set ${CHANNEL_SETTINGS}`, aboutOf(failed))
  }
  return end
})

/** The dispatcher on the mailer and the chats. */
export const layer: Layer.Layer<
  Alerts,
  never,
  AlertConfig | AlertPreferences | Mailer | MailTemplates | Deferrals | Chats | Digest
> = Layer.effect(
  Alerts,
  Effect.map(makeChannels, (channels) => Alerts.of({ raise: (failed) => raiseAlert(channels, failed) }))
)

/**
 * Time limit of raising one alert. Shorter than a claim's lease (`email_alert_lease()`, three minutes), so that no alert is
 * raised again while it is still being raised.
 */
export const ALERT_TIME_LIMIT = "2 minutes"

/**
 * Raises an alert that was claimed and settles the claim: confirmed where it went out or is not wanted, released where some channel
 * has not accepted it, with those that have. If that cannot be written, it is logged; the claim's lease expires, and the alert goes out
 * again.
 */
export const makeAlertRaiser = (log: DeliveryLog["Service"], alerts: Alerts["Service"]) => {
  const settle = (sendId: LogRowId, { delivery, lacks }: AlertOutcome) => {
    const released = delivery === "failed" || delivery === "unconfigured" || lacks !== undefined
    return (released ? log.releaseAlert(sendId, lacks?.taken) : log.confirmAlert(sendId)).pipe(
      Effect.catch((error) =>
        Effect.logError(
          released
            ? "the claim of an alert that did not go out cannot be released"
            : "an alert that went out cannot be confirmed: it may go out again",
          error
        ).pipe(Effect.annotateLogs({ sendId }))
      )
    )
  }

  return (failed: FailedSend): Effect.Effect<AlertOutcome> => {
    const { taken } = failed
    const again: AlertOutcome = {
      delivery: "failed",
      escalated: undefined,
      ...(taken === undefined ? {} : { lacks: { taken, missing: CHANNEL_NAMES } })
    }
    return withDeadline(alerts.raise(failed), {
      duration: ALERT_TIME_LIMIT,
      onTimeout: () =>
        Effect.as(
          Effect.logError(`an alert was not sent within ${ALERT_TIME_LIMIT}: it is raised again`),
          again
        )
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("an alert could not be sent: it is raised again", cause), again)
      ),
      Effect.tap((outcome) => settle(failed.sendId, outcome))
    )
  }
}

/** How often the sweep runs, in one process at a time. */
export const ALERT_SWEEP_INTERVAL = "1 minute"

/** Most alerts of one sweep; the next sweep continues. */
const MAX_ALERTS = 200

/** Most alerts of one sweep that a channel still lacks afterwards: it is down, and each attempt may take its time. */
const MAX_LACKING = 3

/**
 * Raises the alerts that are due: claimed by a process that died before it confirmed or released them, or released and not
 * raised by another event since (A1), or lacking a channel. One at a time, and no further after one that did not go out, so that
 * channels that are down get few alerts a sweep. Any number of processes may run it at once. Returns how many it raised.
 */
export const sweepAlerts = Effect.gen(function* () {
  const log = yield* DeliveryLog
  const raise = makeAlertRaiser(log, yield* Alerts)
  let raised = 0
  let lacking = 0
  while (raised < MAX_ALERTS && lacking < MAX_LACKING) {
    const failed = yield* log.claimDueAlert
    if (failed === undefined) break
    raised += 1
    yield* Effect.logWarning("an alert was left unconfirmed, or lacks a channel: it is raised again").pipe(
      Effect.annotateLogs({ sendId: failed.sendId, taken: failed.taken ?? [] })
    )
    // An interruption waits until the claimed alert is settled.
    const { delivery, lacks } = yield* Effect.uninterruptible(raise(failed))
    if (lacks !== undefined) lacking += 1
    else if (delivery === "failed" || delivery === "unconfigured") break
  }
  return raised
})
