import { Effect, Redacted, Schema } from "effect"
import type { SqlClient } from "effect/sql"

import { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { statements } from "./statement.ts"

const ask = statements({ repeatable: true })

const KeyRow = Schema.Struct({
  key: Schema.Uint8Array.check(Schema.makeFilter((key) => key.length === 32))
})

/** The key that signs links: 32 random bytes that never change. The decoder's error is dropped: it would show the key. */
export const readLinkKey = (
  sql: SqlClient.SqlClient,
  table: "share_keys" | "unsubscribe_keys" | "intake_link_keys"
): Effect.Effect<Redacted.Redacted<Uint8Array>, StoreUnavailable> =>
  ask.first("readLinkKey", Schema.Unknown, sql`select key from ${sql(table)}`).pipe(
    Effect.flatMap((row) =>
      Effect.mapError(
        Schema.decodeUnknownEffect(KeyRow)(row),
        () =>
          new StoreUnavailable({
            operation: "readLinkKey",
            reason: `${table} holds no key of 32 bytes`,
            isRetryable: false
          })
      )
    ),
    Effect.map(({ key }) => Redacted.make(key))
  )
