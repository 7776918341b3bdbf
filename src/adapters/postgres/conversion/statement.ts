import { Duration, Effect, Schedule, Schema } from "effect"
import type { Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

import type { CostEntry } from "../../../domain/conversion/cascade/cost.ts"
import { withDeadline } from "../../../domain/deadline.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { isTransient, storeUnavailable } from "../answered.ts"
import { toJsonText } from "../values.ts"

/** Time limit of one statement. */
const TIME_LIMIT = "10 seconds"

/** Every function is idempotent by its ids: a lost connection or a deadlock is retried at once. */
const QUICK_RETRIES = Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 2 }))

const failed = (cause: unknown) => storeUnavailable("conversions")(cause)

/** Runs a statement within its time limit and decodes its rows. */
export const rowsOf = <A>(
  row: Schema.ConstraintDecoder<A>,
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<ReadonlyArray<A>, StoreUnavailable> => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(row))
  return withDeadline(statement.pipe(Effect.retry({ schedule: QUICK_RETRIES, while: isTransient })), {
    duration: TIME_LIMIT,
    onTimeout: () => Effect.fail(`no answer within ${TIME_LIMIT}`)
  }).pipe(Effect.flatMap(decode), Effect.mapError(failed))
}

/** The first row, if any. */
export const firstOf = <A>(
  row: Schema.ConstraintDecoder<A>,
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<A | undefined, StoreUnavailable> => Effect.map(rowsOf(row, statement), (rows) => rows[0])

/** The one value, called `answer`, of a statement that always has a row. */
export const answerOf = <A>(
  value: Schema.ConstraintDecoder<A>,
  statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<A, StoreUnavailable> =>
  Effect.flatMap(firstOf(Schema.Struct({ answer: value }), statement), (row) =>
    row === undefined ? Effect.fail(failed("the statement gave no row")) : Effect.succeed(row.answer)
  )

/** A statement whose rows do not matter. */
export const done = (statement: Statement.Statement<object>): Effect.Effect<void, StoreUnavailable> =>
  Effect.asVoid(rowsOf(Schema.Unknown, statement))

/** A duration as the functions take it: seconds, multiplied by `interval '1 second'` there. */
export const seconds = (duration: Duration.Duration): number => Duration.toMillis(duration) / 1000

/** The parameter of `book_costs`. */
export const costsText = (costs: ReadonlyArray<CostEntry>): string =>
  toJsonText(
    costs.map((cost) => ({
      id: cost.id,
      job_id: cost.jobId,
      chunk_id: cost.chunkId,
      source: cost.source,
      backend: cost.backend,
      model: cost.model,
      input_tokens: cost.usage.inputTokens,
      output_tokens: cost.usage.outputTokens,
      cost_usd: cost.costUsd,
      metadata: cost.metadata
    }))
  )
