import { Effect, Layer, Redacted, Schema } from "effect"

import { Unsubscribes } from "../../../ports/outreach/campaign-book.ts"
import { answered, storeUnavailable } from "../answered.ts"
import { WriteSql } from "../client.ts"
import { storable } from "../values.ts"

const Keys = Schema.NonEmptyArray(
  Schema.Struct({ key: Schema.Uint8Array.check(Schema.makeFilter((key) => key.length === 32)) })
)
const decodeKeys = Schema.decodeUnknownEffect(Keys)

const unavailable = storeUnavailable("unsubscribes")

/** The table `unsubscribes` and the key of its links, in Postgres. */
export const layer: Layer.Layer<Unsubscribes, never, WriteSql> = Layer.effect(
  Unsubscribes,
  Effect.map(WriteSql, (sql) =>
    Unsubscribes.of({
      key: answered(sql`select key from unsubscribe_keys`).pipe(
        // The decoder's error is dropped: it would show the key.
        Effect.flatMap((rows) =>
          Effect.mapError(decodeKeys(rows), () => "unsubscribe_keys holds no key of 32 bytes")
        ),
        Effect.map(([{ key }]) => Redacted.make(key)),
        Effect.mapError(unavailable)
      ),
      add: ({ campaign, email }) =>
        answered(sql`select record_unsubscribe(${storable(email)}, ${storable(campaign)})`).pipe(
          Effect.asVoid,
          Effect.mapError(unavailable)
        )
    })
  )
)
