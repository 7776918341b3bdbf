import { Effect, Layer, Schema } from "effect"

import { Deferrals } from "../../../ports/mail/deferrals.ts"
import { boundedBy } from "../answered.ts"
import { ReadSql } from "../client.ts"
import { storable } from "../values.ts"

/** As long as a send waits for its look-up. */
const TIME_LIMIT = "2500 millis"

const bounded = boundedBy(TIME_LIMIT, "openKey")

const decode = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ key: Schema.String, state: Schema.Literals(["new", "deferred", "sent"]) })])
)

/** How deferred sends ended, according to the log in Postgres. */
export const layer: Layer.Layer<Deferrals, never, ReadSql> = Layer.effect(
  Deferrals,
  Effect.map(ReadSql, (sql) =>
    Deferrals.of({
      openKey: (key) =>
        bounded(
          sql`select key, state from email_open_key(${storable(key)})`.pipe(
            Effect.flatMap(decode),
            Effect.map(([row]) => row)
          )
        )
    })
  )
)
