import { Effect, Layer, Schema } from "effect"

import { withDeadline } from "../../domain/deadline.ts"
import { Accounts, AccountsUnavailable } from "../../ports/accounts.ts"
import { WriteSql } from "./client.ts"

/** Time limit of one statement; erasing reads the send log. */
const TIME_LIMIT = "10 seconds"

const bounded = <A, E>(statement: Effect.Effect<A, E>) =>
  withDeadline(statement, {
    duration: TIME_LIMIT,
    onTimeout: () => Effect.fail(`no answer within ${TIME_LIMIT}`)
  }).pipe(Effect.mapError((cause) => new AccountsUnavailable({ cause })))

const decodeClosed = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ email: Schema.String, deleted_at: Schema.Date }))
)

/** Ends of accounts in Postgres. */
export const layer: Layer.Layer<Accounts, never, WriteSql> = Layer.effect(
  Accounts,
  Effect.gen(function* () {
    const sql = yield* WriteSql
    return Accounts.of({
      close: (customerId) =>
        bounded(
          sql`select email, deleted_at from close_account(${customerId}::uuid)`.pipe(
            Effect.flatMap(decodeClosed)
          )
        ).pipe(
          Effect.map(([row]) =>
            row === undefined ? undefined : { email: row.email, deletedAt: row.deleted_at.toISOString() }
          )
        ),
      erase: ({ actor, email }) =>
        bounded(sql<{ readonly found: boolean }>`select erase_person(${email}, ${actor}) as found`).pipe(
          Effect.map((rows) => rows[0]?.found === true)
        )
    })
  })
)
