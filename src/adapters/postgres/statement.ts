import { type Duration, Effect, Result, Schedule, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

import { withDeadline } from "../../application/deadline.ts"
import { noAnswer, StoreUnavailable } from "../../ports/store-unavailable.ts"
import { inCamelCase } from "./column-names.ts"

/** Longer than any caller and any lock waits, shorter than the server's own limit of a statement. */
const ANSWER_TIME_LIMIT = "8 seconds"

/** A lost connection or a deadlock is retried at once: somebody waits for the answer. */
const QUICK_RETRIES = Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 2 }))

/**
 * SQLSTATE classes of a statement's own values: bad data, a broken constraint, a limit of the server (a value that is too long
 * for an index), an exception that a function raised.
 */
const DATA_CLASSES = new Set(["21", "22", "23", "54", "P0"])
/** No resources, operator intervention (restart, start-up), system error (disk), internal error. */
const OUTAGE_CLASSES = new Set(["53", "57", "58", "XX"])
/** The server is a standby: a fail-over is under way. An upgrade dropped a function in the middle of a call: the next one runs without it. */
const STATES_OF_CHANGE = new Set(["25006", "42883"])

/** The SQLSTATE of a failed statement; empty where the database gave none. */
export const sqlState = (error: SqlError): string => {
  const { cause } = error.reason
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
}

/** The SQLSTATE of a failed operation; empty where the database gave none. */
export const sqlStateOf = ({ cause }: StoreUnavailable): string => (isSqlError(cause) ? sqlState(cause) : "")

/** Whether the same statement with other values could have succeeded. */
export const isAboutData = ({ cause }: { readonly cause?: unknown }): boolean =>
  isSqlError(cause) && DATA_CLASSES.has(sqlState(cause).slice(0, 2))

/** Whether the same statement can succeed later. */
export const isTransient = (error: SqlError): boolean => {
  const state = sqlState(error)
  return error.isRetryable || STATES_OF_CHANGE.has(state) || OUTAGE_CLASSES.has(state.slice(0, 2))
}

/** Why a statement failed, in the words of the driver or of the server. */
export const reasonOf = (cause: unknown): string => {
  if (!isSqlError(cause)) return cause instanceof Error ? cause.message : String(cause)
  const said = cause.reason.cause
  if (said instanceof AggregateError && said.message === "") return said.errors.map(reasonOf).join("; ")
  return said instanceof Error ? said.message : cause.message
}

/** The error of an operation with a failed statement or an unreadable answer. */
export const storeUnavailable =
  (operation: string) =>
  (cause: unknown): StoreUnavailable =>
    new StoreUnavailable({
      operation,
      reason: reasonOf(cause),
      isRetryable: isSqlError(cause) && isTransient(cause),
      isAboutData: isAboutData({ cause }),
      cause
    })

type Rows = Effect.Effect<ReadonlyArray<object>, SqlError>
type Answer<A> = Effect.Effect<A, StoreUnavailable>

/** Decodes stored rows; the schema names columns in camel case. */
export const decodeRows = <A>(
  operation: string,
  row: Schema.ConstraintDecoder<A>,
  rows: ReadonlyArray<object>
): Result.Result<Array<A>, StoreUnavailable> => {
  const decode = Schema.decodeUnknownResult(row)
  return Result.mapError(
    Result.all(inCamelCase(rows).map((found) => decode(found))),
    storeUnavailable(operation)
  )
}

/** How a store's statements run. */
interface StatementOptions {
  /** Longest wait for an answer, retries included. */
  readonly within?: Duration.Input & string
  /** Statements that change nothing when they are repeated: they are retried where a connection was lost. */
  readonly repeatable?: boolean
}

/**
 * The statements of a store. Without an answer in time a statement fails: the operating system notices a silently dead peer
 * (a fail-over, a firewall that dropped the connection) only after some fifteen minutes, and every caller waiting for that
 * connection would wait as long. A connection that is given up is replaced.
 */
export const statements = ({ repeatable = false, within = ANSWER_TIME_LIMIT }: StatementOptions = {}) => {
  /** The result as it comes: rows keep the names of their columns. */
  const stored = <A>(operation: string, statement: Effect.Effect<A, SqlError>): Answer<A> =>
    withDeadline(
      (repeatable
        ? Effect.retry(statement, { schedule: QUICK_RETRIES, while: isTransient })
        : statement
      ).pipe(Effect.mapError(storeUnavailable(operation))),
      { duration: within, onTimeout: () => Effect.fail(noAnswer(operation, within)) }
    )

  const rows = <A>(operation: string, row: Schema.ConstraintDecoder<A>, statement: Rows): Answer<Array<A>> =>
    Effect.flatMap(stored(operation, statement), (found) =>
      Effect.fromResult(decodeRows(operation, row, found))
    )

  /** Rows that the caller decodes one by one. */
  const unread = (operation: string, statement: Rows): Answer<ReadonlyArray<object>> =>
    Effect.map(stored(operation, statement), inCamelCase)

  /** The first row, if any. */
  const first = <A>(
    operation: string,
    row: Schema.ConstraintDecoder<A>,
    statement: Rows
  ): Answer<A | undefined> => Effect.map(rows(operation, row, statement), ([found]) => found)

  /** The row of a statement that always has one. */
  const one = <A>(operation: string, row: Schema.ConstraintDecoder<A>, statement: Rows): Answer<A> =>
    Effect.flatMap(rows(operation, row, statement), ([found]) =>
      found === undefined
        ? Effect.fail(storeUnavailable(operation)("the statement gave no row"))
        : Effect.succeed(found)
    )

  /** The one value, called `answer`, of a statement that always has a row. */
  const answer = <A>(operation: string, value: Schema.ConstraintDecoder<A>, statement: Rows): Answer<A> =>
    Effect.map(one(operation, Schema.Struct({ answer: value }), statement), (row) => row.answer)

  /** Runs a statement and ignores its result. */
  const done = (operation: string, statement: Effect.Effect<unknown, SqlError>): Answer<void> =>
    Effect.asVoid(stored(operation, statement))

  return { stored, rows, unread, first, one, answer, done }
}

/** The statements of reads that may take long (`SlowSql`): a read that takes too long ends soon, and others get the connection. */
export const slowReads = statements({ within: "5 seconds" })
