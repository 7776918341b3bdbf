import { Effect, Layer, Schema } from "effect"

import { LeaseStore } from "../../ports/leadership.ts"
import { WriteSql } from "./client.ts"
import { statements } from "./statement.ts"
import { Absent } from "./values.ts"

const ask = statements()

/** Leases on PostgreSQL: one guarded statement per operation, on the database's clock. */
export const layer: Layer.Layer<LeaseStore, never, WriteSql> = Layer.effect(
  LeaseStore,
  Effect.map(WriteSql, (sql) =>
    LeaseStore.of({
      take: ({ holder, name }, ttlMs) =>
        ask.answer(
          "take",
          Absent(Schema.Int),
          sql`select take_lease(${name}, ${holder}, ${ttlMs})::int as answer`
        ),
      renew: ({ holder, name }, term, ttlMs) =>
        ask.answer(
          "renew",
          Schema.Boolean,
          sql`select renew_lease(${name}, ${holder}, ${term}, ${ttlMs}) as answer`
        ),
      release: ({ holder, name }) =>
        ask.answer("release", Schema.Boolean, sql`select release_lease(${name}, ${holder}) as answer`)
    })
  )
)
