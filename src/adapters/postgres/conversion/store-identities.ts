import { Effect, Layer, Schema } from "effect"

import { StoreIdentities } from "../../../ports/store-identities.ts"
import { WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { Absent } from "../values.ts"

const ask = statements({ repeatable: true })

const Known = Schema.Struct({ identity: Schema.String, place: Absent(Schema.String) })

const RecentFile = Schema.Struct({ key: Schema.String })

/** The known object stores: one row each, set by the first who comes. */
export const layer: Layer.Layer<StoreIdentities, never, WriteSql> = Layer.effect(
  StoreIdentities,
  Effect.map(WriteSql, (sql) =>
    StoreIdentities.of({
      known: (name) =>
        ask.first("known", Known, sql`select identity, place from object_stores where name = ${name}`),
      // The update that changes nothing waits for a first comer at the same time, and returns that one's row.
      claim: (name, { identity, place }) =>
        ask.one(
          "claim",
          Known,
          sql`insert into object_stores as s (name, identity, place) values (${name}, ${identity}, ${place ?? null})
            on conflict (name) do update set identity = s.identity
            returning identity, place`
        ),
      adopt: (name, { identity, place }) =>
        ask.done(
          "adopt",
          sql`insert into object_stores (name, identity, place) values (${name}, ${identity}, ${place ?? null})
            on conflict (name) do update set
              identity = excluded.identity, place = excluded.place, known_since = clock_timestamp()`
        ),
      // Ids are in the order of time; what was deleted may be gone already.
      recentFile: Effect.map(
        ask.first(
          "recentFile",
          RecentFile,
          sql`select f.object_key as key
            from (select object_key, deleted_at from files order by id desc limit 100) f
            where f.deleted_at is null
            limit 1`
        ),
        (file) => file?.key
      )
    })
  )
)
