import { Effect, Layer, type Result, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import { LeaseStore } from "../../ports/leadership.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { storeUnavailable } from "./answered.ts"
import { WriteSql } from "./client.ts"

const one = <A, I>(value: Schema.Codec<A, I>) =>
  Schema.decodeUnknownResult(Schema.Tuple([Schema.Struct({ value })]))
const decodeTerm = one(Schema.NullOr(Schema.Int))
const decodeHeld = one(Schema.Boolean)

/** Leases on PostgreSQL: one guarded statement per operation, on the database's clock. */
export const layer: Layer.Layer<LeaseStore, never, WriteSql> = Layer.effect(
  LeaseStore,
  Effect.gen(function* () {
    const sql = yield* WriteSql

    const ask = <A>(
      operation: StoreUnavailable["operation"],
      statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>,
      decode: (
        rows: ReadonlyArray<unknown>
      ) => Result.Result<readonly [{ readonly value: A }], Schema.SchemaError>
    ) =>
      statement.pipe(
        Effect.flatMap((rows) => Effect.fromResult(decode(rows))),
        Effect.map(([{ value }]) => value),
        Effect.mapError(storeUnavailable(operation))
      )

    return LeaseStore.of({
      take: ({ holder, name }, ttlMs) =>
        ask("take", sql`select take_lease(${name}, ${holder}, ${ttlMs})::int as value`, decodeTerm).pipe(
          Effect.map((term) => term ?? undefined)
        ),
      renew: ({ holder, name }, term, ttlMs) =>
        ask("renew", sql`select renew_lease(${name}, ${holder}, ${term}, ${ttlMs}) as value`, decodeHeld),
      release: ({ holder, name }) =>
        ask("release", sql`select release_lease(${name}, ${holder}) as value`, decodeHeld)
    })
  })
)
