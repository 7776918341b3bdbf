import { Effect, Layer, Schema } from "effect"

import { Deferrals } from "../../../ports/mail/deferrals.ts"
import { SendSql } from "../client.ts"
import { statements } from "../statement.ts"
import { storable } from "../values.ts"

/** As long as a send waits for its look-up. */
const ask = statements({ within: "2500 millis" })

const OpenKeyRow = Schema.Struct({ key: Schema.String, state: Schema.Literals(["new", "deferred", "sent"]) })

/** How deferred sends ended, according to the log in Postgres. */
export const layer: Layer.Layer<Deferrals, never, SendSql> = Layer.effect(
  Deferrals,
  Effect.map(SendSql, (sql) =>
    Deferrals.of({
      openKey: (key) =>
        ask.one("openKey", OpenKeyRow, sql`select key, state from email_open_key(${storable(key)})`)
    })
  )
)
