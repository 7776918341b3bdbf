import { Effect, Layer } from "effect"

import { Unsubscribes } from "../../../ports/outreach/campaign-book.ts"
import { WriteSql } from "../client.ts"
import { readLinkKey } from "../link-key.ts"
import { statements } from "../statement.ts"
import { storable } from "../values.ts"

const ask = statements()

/** The table `unsubscribes` and the key of its links, in Postgres. */
export const layer: Layer.Layer<Unsubscribes, never, WriteSql> = Layer.effect(
  Unsubscribes,
  Effect.map(WriteSql, (sql) =>
    Unsubscribes.of({
      key: readLinkKey(sql, "unsubscribe_keys"),
      add: ({ campaign, email }) =>
        ask.done("addUnsubscribe", sql`select record_unsubscribe(${storable(email)}, ${storable(campaign)})`)
    })
  )
)
