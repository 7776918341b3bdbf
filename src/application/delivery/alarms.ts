import { Context, Effect, Layer, Metric } from "effect"

import { ALARMS, type AlarmName, evaluate } from "../../domain/delivery/alarm-rules.ts"
import { alarmMail } from "../../domain/delivery/alarm-texts.ts"
import type { DocumentMeasures } from "../../domain/delivery/document-alarms.ts"
import { type AlarmNotice, AlarmBoard } from "../../ports/delivery/alarm-board.ts"
import { Chat } from "../../ports/delivery/alert-channels.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { withDeadline } from "../deadline.ts"
import type { Mailer } from "../mail/mailer.ts"
import { makeSendOnce, notSent } from "../mail/send-once.ts"
import { AlertConfig, ALERT_TIME_LIMIT } from "./alerts.ts"

/** `source` of the mails that carry notices. The alarms do not look at mails of this source, so that none feeds itself. */
export const ALARM_SOURCE = "api:email-alarm"

/** Sends alarm notices to admins. */
class AlarmNotices extends Context.Service<
  AlarmNotices,
  {
    /** Sends a notice by mail and chat, each where it is configured; returns whether one of them accepted it. */
    readonly send: (notice: AlarmNotice) => Effect.Effect<boolean>
  }
>()("postlane/application/AlarmNotices") {}

const make = Effect.gen(function* () {
  const { email } = yield* AlertConfig
  const sendOnce = yield* makeSendOnce
  const chat = yield* Chat
  const templates = yield* MailTemplates

  const send = Effect.fnUntraced(function* (notice: AlarmNotice) {
    const { alarm, at, detail, episode, kind } = notice
    const mail = yield* templates.render(alarmMail(alarm, kind, detail))
    const key = `${ALARM_SOURCE}/${alarm}/${episode}/${kind}/${at}`
    const channels = [
      ...(email === undefined
        ? []
        : [
            sendOnce(
              key,
              Effect.succeed({ to: email, ...mail, category: "alert", source: ALARM_SOURCE } as const)
            ).pipe(
              Effect.map(notSent),
              Effect.catch((notBegun) => Effect.succeed(notBegun.message || notBegun._tag))
            )
          ]),
      ...(chat.configured
        ? [
            chat.post(mail.text).pipe(
              Effect.as(undefined),
              Effect.catch(({ message }) => Effect.succeed(message))
            )
          ]
        : [])
    ]
    const about = { alarm, episode, kind, detail }
    if (channels.length === 0) {
      yield* Effect.logError(
        "a notice of an alarm has no channel: set ALERT_EMAIL, or CHAT_BOT_TOKEN and CHAT_ID",
        about
      )
      return false
    }
    const errors = (yield* Effect.all(channels, { concurrency: "unbounded" })).filter(
      (error) => error !== undefined
    )
    if (errors.length > 0) {
      yield* Effect.logError(
        "a notice of an alarm did not go out on every channel: where none took it, it is tried again",
        { ...about, errors }
      )
    }
    return errors.length < channels.length
  })

  return AlarmNotices.of({ send })
})

/** Notices on the mailer and the chat. */
export const layer: Layer.Layer<
  AlarmNotices,
  never,
  AlertConfig | Mailer | MailTemplates | Deferrals | Chat
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
  for (const [alarm, gauge] of gauges) yield* Metric.update(gauge, table[alarm].firing ? 1 : 0)
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

const FIGURES: ReadonlyArray<readonly [Metric.Gauge<number>, (documents: DocumentMeasures) => number]> = [
  [
    figure("postlane_conversions_failed_recently", "Conversions that failed in the last half hour."),
    ({ failed }) => failed
  ],
  [
    figure(
      "postlane_conversions_waiting_minutes",
      "Time for which the oldest conversion waits while no worker is busy."
    ),
    ({ waitingMinutes }) => waitingMinutes
  ],
  [
    figure("postlane_batch_fallback_share", "Share of a day's batch pages that were converted on demand."),
    ({ batch }) => (batch.pages === 0 ? 0 : batch.fallback / batch.pages)
  ],
  [
    figure("postlane_intake_unverified_recently", "Mails of the last half hour with an unverified sender."),
    ({ mails }) => mails.unverified
  ],
  [
    figure("postlane_intake_waiting_minutes", "Since when the oldest mail to the convert address is due."),
    ({ mailWaitingMinutes }) => mailWaitingMinutes
  ]
]

/** Updates the alarms from the current measurements. If two processes do it at once, each alarm changes once. */
const judgeAlarms = Effect.gen(function* () {
  const board = yield* AlarmBoard
  const measures = { ...(yield* board.measure), deadLetters: yield* deadLetters }
  for (const [gauge, of] of FIGURES) yield* Metric.update(gauge, of(measures.documents))
  for (const change of evaluate(yield* board.read, measures)) {
    const moved = yield* board.change(change)
    if (moved && change.notice !== undefined) yield* log(change.name, change.notice, change.detail)
  }
})

/**
 * Sends the notices that are due. A notice that no channel accepts is released, and the others wait for the next tick (EVENT-41).
 * When the process dies, the notice becomes due again once its claim expires. A notice that went out and could not be confirmed
 * goes out again: by mail under the same key, so that for 24 hours it stays one mail.
 */
const sendNotices = Effect.gen(function* () {
  const board = yield* AlarmBoard
  const notices = yield* AlarmNotices
  for (let count = 0; count < MAX_NOTICES; count++) {
    const notice = yield* board.claimNotice
    if (notice === undefined) return
    const sent = yield* withDeadline(notices.send(notice), {
      duration: ALERT_TIME_LIMIT,
      onTimeout: () =>
        Effect.as(
          Effect.logError(`a notice was not sent within ${ALERT_TIME_LIMIT}: it is tried again`),
          false
        )
    }).pipe(
      Effect.tap((ok) => (ok ? board.confirmNotice(notice) : board.releaseNotice(notice))),
      Effect.uninterruptible
    )
    if (!sent) return
  }
})

/** One tick of the leader. Notices that are due go out even if the log cannot be measured now. */
export const watchAlarms = Effect.andThen(Effect.exit(judgeAlarms), (judged) =>
  sendNotices.pipe(Effect.andThen(reportAlarms), Effect.andThen(judged))
)
