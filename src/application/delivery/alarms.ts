import { Context, Effect, Layer, Metric } from "effect"

import {
  ALARMS,
  type AlarmName,
  evaluate,
  isShown,
  type Measures
} from "../../domain/delivery/alarm-rules.ts"
import { alarmMail } from "../../domain/delivery/alarm-texts.ts"
import { CHANNEL_NAMES, CHANNEL_SETTINGS, type Spread, spreadOf } from "../../domain/delivery/alert-policy.ts"
import { type AlarmNotice, AlarmBoard } from "../../ports/delivery/alarm-board.ts"
import type { Chats } from "../../ports/delivery/alert-channels.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { ConfiguredProviders } from "../configured-providers.ts"
import { withDeadline } from "../deadline.ts"
import type { Mailer } from "../mail/mailer.ts"
import { AlertConfig, makeWays } from "./alert-ways.ts"
import { ALERT_TIME_LIMIT } from "./alerts.ts"

/** `source` of the mails that carry notices. The alarms do not look at mails of this source, so that none feeds itself. */
export const ALARM_SOURCE = "api:email-alarm"

/** Sends alarm notices to admins. */
class AlarmNotices extends Context.Service<
  AlarmNotices,
  {
    /** Sends a notice by mail and chat, each where it is configured and does not have it yet. */
    readonly send: (notice: AlarmNotice) => Effect.Effect<Spread>
  }
>()("postlane/application/AlarmNotices") {}

const make = Effect.gen(function* () {
  const { baseUrl } = yield* AlertConfig
  const ways = yield* makeWays
  const templates = yield* MailTemplates
  const all = CHANNEL_NAMES.filter((channel) => ways[channel].configured)

  const send = Effect.fnUntraced(function* (notice: AlarmNotice): Effect.fn.Return<Spread> {
    const { alarm, at, detail, episode, kind, goesTo, taken: before } = notice
    const mail = yield* templates.render(alarmMail(alarm, kind, detail, baseUrl))
    const letter = { key: `${ALARM_SOURCE}/${alarm}/${episode}/${kind}/${at}`, source: ALARM_SOURCE, mail }
    const about = { alarm, episode, kind, detail }
    if (all.length === 0) {
      yield* Effect.logError(`a notice of an alarm has no channel: set ${CHANNEL_SETTINGS}`, about)
      return { taken: before, missing: [] }
    }
    const left = all.filter((channel) => !before.includes(channel))
    const asked = left.filter((channel) => goesTo === undefined || goesTo.includes(channel))
    const answers = yield* Effect.forEach(
      asked,
      (channel) => Effect.map(ways[channel].send(letter), (answered) => ({ channel, ...answered })),
      { concurrency: "unbounded" }
    )
    const errors = answers.flatMap(({ channel, error }) =>
      error === undefined ? [] : [`${channel}: ${error}`]
    )
    if (errors.length > 0) {
      yield* Effect.logError(
        "a notice of an alarm did not go out on every channel: it is tried again on each that may still take it",
        { ...about, errors }
      )
    }
    const end = spreadOf(new Map(answers.map(({ answer, channel }) => [channel, answer])), before)
    const waiting = left.filter((channel) => !asked.includes(channel))
    return { taken: end.taken, missing: [...end.missing, ...waiting] }
  })

  return AlarmNotices.of({ send })
})

/** Notices on the mailer and the chats. */
export const layer: Layer.Layer<
  AlarmNotices,
  never,
  AlertConfig | Mailer | MailTemplates | Deferrals | Chats
> = Layer.effect(AlarmNotices, make)

/** How often alarms are judged and notices go out. */
export const ALARM_INTERVAL = "1 minute"

/** Most notices of one tick: each alarm can have begun and ended since the last one. */
const MAX_NOTICES = 2 * ALARMS.length

const gauges = ALARMS.map(
  (alarm) =>
    [
      alarm,
      Metric.gauge("postlane_alarm_firing", {
        description: "1 while the alarm fires.",
        attributes: { alarm }
      })
    ] as const
)

/** Reports the state of the alarms as metrics, also in a process that does not lead. */
export const reportAlarms = Effect.gen(function* () {
  const table = yield* (yield* AlarmBoard).read
  const configured = yield* ConfiguredProviders
  for (const [alarm, gauge] of gauges) {
    const state = table[alarm]
    yield* isShown(alarm, state, configured)
      ? Metric.update(gauge, state.firing ? 1 : 0)
      : Metric.remove(gauge)
  }
})

/** Most dead letters that are counted: reading those of SQS hides them from others. */
const MOST_DEAD_LETTERS = 10

const deadLettersFound = Metric.gauge("postlane_dead_letters", {
  description: `Dead letters of the retry queue, ${MOST_DEAD_LETTERS} at most, as of the leader's last look.`
})

const deadLetters = Effect.gen(function* () {
  const queue = yield* DeferQueue
  if (!queue.configured) return false
  return yield* queue.deadLetters({ limit: MOST_DEAD_LETTERS }).pipe(
    Effect.tap((letters) => Metric.update(deadLettersFound, letters.length)),
    Effect.map((letters): boolean | undefined => letters.length > 0),
    Effect.catch((error) =>
      Effect.as(
        Effect.logWarning(
          "the retry queue does not report its dead letters: their alarm stays as it is",
          error
        ),
        undefined
      )
    )
  )
})

const log = (name: AlarmName, notice: "begun" | "ended", detail: string) =>
  (notice === "begun"
    ? Effect.logError(`EMAIL_ALARM ${name}`)
    : Effect.logInfo(`EMAIL_ALARM_OVER ${name}`)
  ).pipe(Effect.annotateLogs({ alarm: name, detail }))

const figure = (name: string, description: string) => Metric.gauge(name, { description })

type Measured = Pick<Measures, "documents" | "hooks">

const FIGURES: ReadonlyArray<readonly [Metric.Gauge<number>, (measures: Measured) => number]> = [
  [
    figure("postlane_conversions_failed_recently", "Conversions that failed in the last half hour."),
    ({ documents }) => documents.failed
  ],
  [
    figure(
      "postlane_conversions_waiting_minutes",
      "Time for which the oldest conversion waits while no worker is busy."
    ),
    ({ documents }) => documents.waitingMinutes
  ],
  [
    figure("postlane_batch_fallback_share", "Share of a day's batch pages that were converted on demand."),
    ({ documents: { batch } }) => (batch.pages === 0 ? 0 : batch.fallback / batch.pages)
  ],
  [
    figure("postlane_intake_unverified_recently", "Mails of the last half hour with an unverified sender."),
    ({ documents }) => documents.mails.unverified
  ],
  [
    figure("postlane_intake_waiting_minutes", "Since when the oldest mail to the convert address is due."),
    ({ documents }) => documents.mailWaitingMinutes
  ],
  [
    figure("postlane_event_hooks_pending", "Events that are to be sent to hooks, 10,000 at most."),
    ({ hooks }) => hooks.pending
  ],
  [
    figure("postlane_event_hooks_dead_recently", "Events for hooks that died in the last half hour."),
    ({ hooks }) => hooks.dead
  ],
  [
    figure("postlane_event_hooks_oldest_seconds", "For how long the oldest event for a hook has been due."),
    ({ hooks }) => hooks.oldestSeconds
  ]
]

/** Updates the alarms from the current measurements. If two processes do it at once, each alarm changes once. */
const judgeAlarms = Effect.gen(function* () {
  const board = yield* AlarmBoard
  const measures = { ...(yield* board.measure), deadLetters: yield* deadLetters }
  for (const [gauge, of] of FIGURES) yield* Metric.update(gauge, of(measures))
  for (const change of evaluate(yield* board.read, measures)) {
    const moved = yield* board.change(change)
    if (moved && change.notice !== undefined) yield* log(change.name, change.notice, change.detail)
  }
})

/**
 * Sends the notices that are due, on each channel for itself (EVENT-41). A notice that a channel lacks is released for it; where none has
 * it, the others wait for the next tick.
 * When the process dies, the notice becomes due again once its claim expires. A notice that went out and could not be confirmed
 * goes out again: by mail under the same key, so that for 24 hours it stays one mail.
 */
const sendNotices = Effect.gen(function* () {
  const board = yield* AlarmBoard
  const notices = yield* AlarmNotices
  for (let count = 0; count < MAX_NOTICES; count++) {
    const notice = yield* board.claimNotice
    if (notice === undefined) return
    const { taken } = yield* withDeadline(notices.send(notice), {
      duration: ALERT_TIME_LIMIT,
      onTimeout: () =>
        Effect.as(Effect.logError(`a notice was not sent within ${ALERT_TIME_LIMIT}: it is tried again`), {
          taken: notice.taken,
          missing: CHANNEL_NAMES
        })
    }).pipe(
      Effect.tap((sent) =>
        sent.taken.length > 0 && sent.missing.length === 0
          ? board.confirmNotice(notice)
          : board.releaseNotice(notice, sent.taken)
      ),
      Effect.uninterruptible
    )
    if (taken.length === 0) return
  }
})

/** One tick of the leader. Notices that are due go out even if the log cannot be measured now. */
export const watchAlarms = Effect.andThen(Effect.exit(judgeAlarms), (judged) =>
  sendNotices.pipe(Effect.andThen(reportAlarms), Effect.andThen(judged))
)
