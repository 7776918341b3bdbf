import { Context, Effect, Layer } from "effect"

import type { AlarmNotice } from "../../ports/alarm-board.ts"
import { Chat } from "../../ports/chat.ts"
import { Mailer } from "../mail/mailer.ts"
import { alarmText } from "./alarm-text.ts"
import { AlertConfig } from "./alerts.ts"

/** `source` of the mails that carry notices. The alarms do not look at mails of this source, so that none feeds itself. */
export const ALARM_SOURCE = "api:email-alarm"

/** Tells people of alarms. */
export class AlarmNotices extends Context.Service<
  AlarmNotices,
  {
    /** Sends a notice by mail and chat, each where it is configured; whether one of them took it. */
    readonly send: (notice: AlarmNotice) => Effect.Effect<boolean>
  }
>()("postlane/domain/AlarmNotices") {}

const make = Effect.gen(function* () {
  const { email } = yield* AlertConfig
  const mailer = yield* Mailer
  const chat = yield* Chat

  const send = Effect.fnUntraced(function* (notice: AlarmNotice) {
    const { alarm, at, detail, episode, kind } = notice
    const text = alarmText(alarm, kind, detail)
    const idempotencyKey = `${ALARM_SOURCE}/${alarm}/${episode}/${kind}/${at}`
    const channels = [
      ...(email === undefined
        ? []
        : [
            mailer.send({ to: email, ...text, category: "alert", source: ALARM_SOURCE, idempotencyKey }).pipe(
              Effect.map((result) => (result.ok ? undefined : result.error)),
              Effect.catch((notBegun) => Effect.succeed(notBegun.message || notBegun._tag))
            )
          ]),
      ...(chat.configured
        ? [
            chat.post(text.text).pipe(
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
      yield* Effect.logError("a notice of an alarm did not go out on every channel", { ...about, errors })
    }
    return errors.length < channels.length
  })

  return AlarmNotices.of({ send })
})

/** Notices on the mailer and the chat. */
export const layer: Layer.Layer<AlarmNotices, never, AlertConfig | Mailer | Chat> = Layer.effect(
  AlarmNotices,
  make
)
