import { Effect, Layer, Schema } from "effect"

import { perChannel } from "../../../domain/delivery/alert-policy.ts"
import { AlertPreferences, DEFAULT_PREFERENCES } from "../../../ports/delivery/alert-channels.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { toJsonText } from "../values.ts"

const TYPE = "email_delivery_failure"

const ask = statements({ within: "10 seconds" })

const Choice = Schema.Struct({ channel: Schema.String, enabled: Schema.Boolean })

/** Preferences in Postgres. */
export const layer: Layer.Layer<AlertPreferences, never, ReadSql | WriteSql> = Layer.effect(
  AlertPreferences,
  Effect.gen(function* () {
    const readSql = yield* ReadSql
    const writeSql = yield* WriteSql
    return AlertPreferences.of({
      read: ask
        .rows(
          "readPreferences",
          Choice,
          readSql`select channel, enabled from admin_notification_preferences where alert_type = ${TYPE}`
        )
        .pipe(
          Effect.map((rows) => {
            const chosen = new Map(rows.map(({ channel, enabled }) => [channel, enabled]))
            const fallback = DEFAULT_PREFERENCES[TYPE]
            return {
              [TYPE]: perChannel((channel) => chosen.get(channel) ?? fallback[channel])
            }
          })
        ),
      write: ({ [TYPE]: wanted }) =>
        ask.done(
          "writePreferences",
          writeSql`
            insert into admin_notification_preferences (alert_type, channel, enabled)
            select ${TYPE}, x.key, x.value::boolean from jsonb_each_text(${toJsonText(wanted)}::text::jsonb) as x
            on conflict (alert_type, channel) do update set enabled = excluded.enabled, updated_at = now()`
        )
    })
  })
)
