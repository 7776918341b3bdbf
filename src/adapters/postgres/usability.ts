import { Effect, Exit, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

import { withDeadline } from "../../application/deadline.ts"
import { layerSingle, layerSqlClient, type PostgresOptions } from "./client.ts"

/** How long connections are waited for. */
const GIVEN_WITHIN = "5 seconds"

/** Why this database takes no writes; undefined where it does. */
export const whyReadOnly: Effect.Effect<string | undefined, SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly standby: boolean; readonly refuses: boolean }>`select
      pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as refuses`.unprepared
    if (row?.standby === true) return "it is a standby"
    return row?.refuses === true ? "default_transaction_read_only is on" : undefined
  }
)

/**
 * Whether two statements of a transaction are one: a pooler in statement mode refuses them, or has each done by another session. Only
 * asked of a database that has answered.
 */
export const keepsTransactions: Effect.Effect<boolean, never, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = sql<{ readonly id: string }>`select txid_current()::text as id`.unprepared
  // Where the connection is gone, taking the transaction back dies.
  const both = yield* Effect.exit(sql.withTransaction(Effect.all([id, id])))
  return Exit.isSuccess(both) && both.value[0][0]?.id === both.value[1][0]?.id
})

/** How many connections are given at once, of so many that are asked for. */
export const connectionsAtOnce = (options: PostgresOptions, wanted: number): Effect.Effect<number> =>
  Effect.suspend(() => {
    let given = 0
    const all = Latch.makeUnsafe(false)
    const one = SqlClient.SqlClient.use((sql) => sql`select 1`.unprepared).pipe(
      Effect.andThen(() => {
        given += 1
        if (given === wanted) all.openUnsafe()
        return all.await
      }),
      Effect.provide(Layer.fresh(Layer.provideMerge(layerSqlClient, layerSingle(options))))
    )
    const asked = Effect.forEach(Array.from({ length: wanted }), () => Effect.exit(one), {
      concurrency: "unbounded",
      discard: true
    })
    return Effect.map(
      withDeadline(asked, { duration: GIVEN_WITHIN, onTimeout: () => Effect.void }),
      () => given
    )
  })
