import type { SqlError } from "effect/sql/SqlError"

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
