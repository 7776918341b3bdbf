import { Effect, Layer } from "effect"

import { AlertPreferences, DEFAULT_PREFERENCES } from "../../../ports/delivery/alert-channels.ts"
import { boundedBy } from "../answered.ts"
import { ReadSql, WriteSql } from "../client.ts"

/** Time limit of one statement. */
const TIME_LIMIT = "10 seconds"

const TYPE = "email_delivery_failure"

const bounded = boundedBy(TIME_LIMIT, "alertPreferences")

/** Preferences in Postgres. */
export const layer: Layer.Layer<AlertPreferences, never, ReadSql | WriteSql> = Layer.effect(
  AlertPreferences,
  Effect.gen(function* () {
    const readSql = yield* ReadSql
    const writeSql = yield* WriteSql
    return AlertPreferences.of({
      read: bounded(
        readSql<{ readonly channel: string; readonly enabled: boolean }>`
          select channel, enabled from admin_notification_preferences where alert_type = ${TYPE}`
      ).pipe(
        Effect.map((rows) => {
          const chosen = new Map(rows.map(({ channel, enabled }) => [channel, enabled]))
          const fallback = DEFAULT_PREFERENCES[TYPE]
          return {
            [TYPE]: {
              email: chosen.get("email") ?? fallback.email,
              chat: chosen.get("chat") ?? fallback.chat
            }
          }
        })
      ),
      write: ({ [TYPE]: { chat, email } }) =>
        bounded(
          writeSql`
            insert into admin_notification_preferences (alert_type, channel, enabled)
            values (${TYPE}, 'email', ${email}), (${TYPE}, 'chat', ${chat})
            on conflict (alert_type, channel) do update set enabled = excluded.enabled, updated_at = now()`
        ).pipe(Effect.asVoid)
    })
  })
)
