import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted, Result } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

import * as Postgres from "../../../adapters/postgres/client.ts"
import { isUnlimited } from "../../../adapters/postgres/database-rights.ts"
import type { MigrationError } from "../../../adapters/postgres/migration-files.ts"
import { migrate, pending } from "../../../adapters/postgres/migrator.ts"
import { isTransient } from "../../../adapters/postgres/statement.ts"
import { connectionsAtOnce, keepsTransactions, whyReadOnly } from "../../../adapters/postgres/usability.ts"
import { withDeadline } from "../../../application/deadline.ts"
import { MIGRATIONS, typed } from "../../process/package.ts"
import { CannotStart } from "../../process/run-program.ts"

/** Host, port and database of a URL: what may be shown of it. */
export const shownUrl = (url: Redacted.Redacted): string => {
  const { host, pathname } = new URL(Redacted.value(url))
  return `${host}${pathname}`
}

/** The system's or the server's message about a failed connection; `undefined` for any other failure. */
const whyNotConnected = (cause: unknown): string | undefined => {
  if (!isSqlError(cause) || cause.reason.operation !== "connect") return undefined
  const said = cause.reason.cause
  if (!(said instanceof Error)) return cause.message
  // Where a name has several addresses, their errors come as one with an empty message.
  return said instanceof AggregateError && said.message === ""
    ? said.errors.map((one) => (one instanceof Error ? one.message : String(one))).join("; ")
    : said.message
}

/** Classes of what a server says that is not ready to answer: out of connections, starting or stopping, a broken connection. */
const NOT_YET = /^(?:08|53|57)/

/** Whether a failed connection says that there is no server yet; one that refuses this user or knows no such database is there. */
const isAway = ({ reason }: SqlError): boolean => {
  const { code } = Object(reason.cause) as { readonly code?: unknown }
  const isState = typeof code === "string" && /^[\dA-Z]{5}$/.test(code)
  return !isState || NOT_YET.test(code)
}

const onDatabase = <A>(
  options: Postgres.PostgresOptions,
  run: Effect.Effect<
    A,
    MigrationError | SqlError | CannotStart,
    Layer.Success<typeof Postgres.layerSqlClient> | NodeServices.NodeServices
  >
): Effect.Effect<A, CannotStart> =>
  run.pipe(
    Effect.provide(Layer.provideMerge(Postgres.layerSqlClient, Postgres.layerSingle(options))),
    Effect.provide(NodeServices.layer),
    Effect.mapError((error) => {
      if (error._tag === "CannotStart") return error
      const cause = error._tag === "SqlError" ? error : error.cause
      const why = whyNotConnected(cause)
      const remedy = error._tag === "MigrationError" && error.remedy !== undefined ? `: ${error.remedy}` : ""
      return why === undefined
        ? new CannotStart({
            message: `${shownUrl(options.url)}: ${error.message}${remedy}`,
            mayPass: isSqlError(cause) && isTransient(cause)
          })
        : new CannotStart({
            message: `The database ${shownUrl(options.url)} cannot be reached: ${why}. Is it running, and is DB_URL right?`,
            mayPass: true,
            isAway: isSqlError(cause) && isAway(cause)
          })
    })
  )

const noteNewer = (newer: ReadonlyArray<string>) =>
  newer.length === 0
    ? Effect.void
    : Effect.logInfo(
        `a newer version of Postlane migrated the database (${newer.join(", ")}): this one works on it`
      )

/** Applies what is pending; returns the names of the files, and "functions" where some were changed. */
export const migrateDatabase = (
  options: Postgres.PostgresOptions
): Effect.Effect<ReadonlyArray<string>, CannotStart> =>
  onDatabase(
    options,
    Effect.gen(function* () {
      const { files, functions } = yield* migrate(MIGRATIONS)
      yield* noteNewer((yield* pending(MIGRATIONS)).newer)
      return [...files.map(({ name }) => name), ...(functions.length === 0 ? [] : ["functions"])]
    })
  )

const warnOfUnlimited = Effect.flatMap(isUnlimited, (found) =>
  found
    ? Effect.logWarning(
        `the role of DB_URL has no statement_timeout: ${typed("migrate")} sets it for the role that it connects as (docs/operate/database.md, Limits)`
      )
    : Effect.void
).pipe(Effect.ignore)

/** Refuses a database that lacks a migration, with the command that applies it. */
export const requireMigrated = (options: Postgres.PostgresOptions): Effect.Effect<void, CannotStart> =>
  Effect.flatMap(
    onDatabase(options, Effect.tap(pending(MIGRATIONS), warnOfUnlimited)),
    ({ functions, missing, newer }) => {
      if (missing.length > 0)
        return new CannotStart({
          message: `The database ${shownUrl(options.url)} lacks ${missing.length} migration(s). Apply them with: ${typed("migrate")}`
        })
      if (functions.length > 0)
        return new CannotStart({
          message: `The database ${shownUrl(options.url)} has ${functions.length} function(s) that are not as in this version (${functions.slice(0, 3).join(", ")}${functions.length > 3 ? ", …" : ""}). Apply them with: ${typed("migrate")}`
        })
      return noteNewer(newer)
    }
  )

/**
 * Minimum size of the pool. With fewer, two concurrent sends and the background work take every connection, and everything else
 * waits in vain.
 */
const FEWEST_CONNECTIONS = 4

const checkConnections = Effect.fnUntraced(function* (options: Postgres.PostgresOptions) {
  const wanted = Postgres.connectionsOf(options)
  const given = yield* connectionsAtOnce(options, wanted)
  if (given >= wanted) return
  const message = `${shownUrl(options.url)} gives this process ${given} connections at once, and it uses up to ${wanted}: raise the pooler's pool size, let it work in transaction mode, or raise max_connections.`
  if (given < FEWEST_CONNECTIONS) return yield* new CannotStart({ message, mayPass: true })
  yield* Effect.logWarning(message)
})

/** Fails where the database does not answer a question. */
export const requireAnswer = (options: Postgres.PostgresOptions): Effect.Effect<void, CannotStart> =>
  onDatabase(options, Effect.asVoid(whyReadOnly))

/** Refuses a database that a server cannot work on, and says why in one line. */
export const requireUsable = (options: Postgres.PostgresOptions): Effect.Effect<void, CannotStart> => {
  const shown = shownUrl(options.url)
  const looks = Effect.gen(function* () {
    const why = yield* whyReadOnly
    if (why !== undefined)
      return yield* new CannotStart({
        message: `The database ${shown} is read-only (${why}): let DB_URL name the primary.`,
        mayPass: true
      })
    if (!(yield* keepsTransactions))
      return yield* new CannotStart({
        message: `The pooler at ${shown} does not keep transactions: let it work in transaction or session mode (PgBouncer: pool_mode).`
      })
  })
  return onDatabase(options, looks).pipe(
    Effect.andThen(requireMigrated(options)),
    Effect.andThen(checkConnections(options))
  )
}

/** How long a process that works without its database, too, waits for the first look at it. */
const FIRST_LOOK = "2500 millis"

/**
 * For a process that also works without its database: compares the migrations once the database answers. Until then this succeeds
 * and retries in the background; from then on it fails when the database's migrations differ from the files.
 */
export const migratedOnceItAnswers = (
  options: Postgres.PostgresOptions
): Effect.Effect<void, CannotStart> => {
  let verdict: Result.Result<void, CannotStart> | undefined
  let looks = 0
  let isLooking = false
  const look = Effect.gen(function* () {
    const result = yield* Effect.result(requireMigrated(options))
    if (Result.isSuccess(result) || result.failure.mayPass !== true) verdict = result
    else if (looks === 1)
      yield* Effect.logWarning(`${result.failure.message} Until it answers, mail goes out without it.`)
  }).pipe(Effect.ensuring(Effect.sync(() => void (isLooking = false))))
  return Effect.gen(function* () {
    if (verdict === undefined && !isLooking) {
      isLooking = true
      looks += 1
      if (looks === 1) yield* withDeadline(look, { duration: FIRST_LOOK, onTimeout: () => Effect.void })
      else yield* Effect.forkDetach(look)
    }
    if (verdict !== undefined) yield* Effect.fromResult(verdict)
  })
}
