import { Effect, Schedule, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { answered, isTransient, storeUnavailable } from "../answered.ts"

/** Every function is idempotent by its ids: a lost connection or a deadlock is retried at once. */
const QUICK_RETRIES = Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 2 }))

const unavailable = (cause: unknown) => storeUnavailable("mails under way")(cause)

/** Runs a statement and decodes its rows. */
export const rowsOf = <A>(
  row: Schema.ConstraintDecoder<A>,
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<ReadonlyArray<A>, StoreUnavailable> =>
  answered(statement.pipe(Effect.retry({ schedule: QUICK_RETRIES, while: isTransient }))).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.Array(row))),
    Effect.mapError(unavailable)
  )

/** The first row, if any. */
export const firstOf = <A>(
  row: Schema.ConstraintDecoder<A>,
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<A | undefined, StoreUnavailable> => Effect.map(rowsOf(row, statement), (rows) => rows[0])

/** The row of a statement that always has one. */
export const rowOf = <A>(
  row: Schema.ConstraintDecoder<A>,
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<A, StoreUnavailable> =>
  Effect.flatMap(firstOf(row, statement), (found) =>
    found === undefined ? Effect.fail(unavailable("the statement gave no row")) : Effect.succeed(found)
  )

/** The one value, called `answer`, of a statement that always has a row. */
export const answerOf = <A>(
  value: Schema.ConstraintDecoder<A>,
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<A, StoreUnavailable> =>
  Effect.map(rowOf(Schema.Struct({ answer: value }), statement), ({ answer }) => answer)

/** A statement whose rows do not matter. */
export const done = (
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<void, StoreUnavailable> => Effect.asVoid(rowsOf(Schema.Unknown, statement))
