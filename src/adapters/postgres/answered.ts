import { Effect, type Duration } from "effect"
import { ConnectionError, isSqlError, SqlError } from "effect/sql/SqlError"

import { withDeadline } from "../../domain/deadline.ts"
import { StoreUnavailable, noAnswer } from "../../ports/store-unavailable.ts"

/** Longer than any caller and any lock waits, shorter than the server's own limit of a statement. */
const ANSWER_TIME_LIMIT = "8 seconds"

/**
 * The statement; without an answer in time it fails as a lost connection. The operating system notices a silently dead
 * peer (a fail-over, a firewall that dropped the connection) only after some fifteen minutes, and every caller waiting
 * for that connection would wait as long. A connection that is given up is replaced.
 */
export const answered = <A, R>(statement: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError, R> =>
  withDeadline(statement, {
    duration: ANSWER_TIME_LIMIT,
    onTimeout: () =>
      Effect.fail(
        new SqlError({
          reason: new ConnectionError({
            cause: new Error(`no answer within ${ANSWER_TIME_LIMIT}`),
            message: `The database gave no answer within ${ANSWER_TIME_LIMIT}`
          })
        })
      )
  })

/** Bounds statements in time. */
export const boundedBy =
  (duration: Duration.Input & string, operation: string) =>
  <A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, StoreUnavailable> =>
    withDeadline(Effect.mapError(statement, storeUnavailable(operation)), {
      duration,
      onTimeout: () => Effect.fail(noAnswer(operation, duration))
    })

/** SQLSTATE classes of a statement's own values: bad data, a broken constraint, an exception that a function raised. */
const DATA_CLASSES = new Set(["21", "22", "23", "P0"])
/** No resources, operator intervention (restart, start-up), system error (disk), internal error. */
const OUTAGE_CLASSES = new Set(["53", "57", "58", "XX"])
/** The server is a standby: a fail-over is under way. */
const READ_ONLY = "25006"

const sqlState = (error: SqlError): string => {
  const { cause } = error.reason
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
}

/** Whether the same statement with other values could have succeeded. */
export const isAboutData = (error: SqlError): boolean => DATA_CLASSES.has(sqlState(error).slice(0, 2))

/** Whether the same statement can succeed later. */
export const isTransient = (error: SqlError): boolean => {
  const state = sqlState(error)
  return error.isRetryable || state === READ_ONLY || OUTAGE_CLASSES.has(state.slice(0, 2))
}

/** Why a statement failed, in the words of the driver or of the server. */
export const reasonOf = (cause: unknown): string => {
  if (!isSqlError(cause)) return cause instanceof Error ? cause.message : String(cause)
  const said = cause.reason.cause
  if (said instanceof AggregateError && said.message === "") return said.errors.map(reasonOf).join("; ")
  return said instanceof Error ? said.message : cause.message
}

/** The error of an operation whose statement failed, or whose answer cannot be read. */
export const storeUnavailable =
  (operation: string) =>
  (cause: unknown): StoreUnavailable =>
    new StoreUnavailable({
      operation,
      reason: reasonOf(cause),
      isRetryable: isSqlError(cause) && isTransient(cause),
      cause
    })
