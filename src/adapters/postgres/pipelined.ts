import { PgClient, PgPool } from "@effect/sql-pg"
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { SqlError, UnknownError } from "effect/sql/SqlError"

import { sqlState } from "./statement.ts"

/** What the driver keeps of the statements on one of its shared connections; not part of its interface. */
interface Pipeline {
  /** Sent, oldest first, with the rows of their answers. */
  readonly pipelineInFlight: Array<unknown>
  /** How many of them are answered. */
  pipelineHead: number
  finishPipelineEntry: (entry: unknown, result: unknown) => void
}

const isPipeline = (connection: object): connection is Pipeline =>
  "pipelineInFlight" in connection &&
  Array.isArray(connection.pipelineInFlight) &&
  "pipelineHead" in connection &&
  typeof connection.pipelineHead === "number" &&
  "finishPipelineEntry" in connection &&
  typeof connection.finishPipelineEntry === "function"

/**
 * The driver lets go of answered statements when none is under way: reads that overlap for long are all kept, with their rows
 * (`docs/explanation/decisions.md`, 16). Here each is dropped with its answer.
 */
const dropAnswered = (connection: object): void => {
  if (!isPipeline(connection)) return
  const { finishPipelineEntry } = connection
  connection.finishPipelineEntry = (entry, result) => {
    finishPipelineEntry(entry, result)
    connection.pipelineInFlight.splice(0, connection.pipelineHead)
    connection.pipelineHead = 0
  }
}

/** The session takes no writes (`read_only_sql_transaction`). */
const READ_ONLY = "25006"

/**
 * A connection of the driver as Effect's SQL modules use one; `rows` are as the driver gives them. One that takes no writes is replaced:
 * its session stays as it is where the address leads to another server by now, after a fail-over, and where the database was read-only
 * for a while.
 */
const asSqlConnection =
  ({ invalidate }: PgPool.PgPool) =>
  (connection: PgConnection.PgConnection): Connection => {
    const replace = (error: SqlError) =>
      sqlState(error) === READ_ONLY ? Effect.forkDetach(invalidate(connection)) : Effect.void
    const query = (...statement: Parameters<typeof connection.query>) =>
      Effect.tapError(connection.query(...statement), replace)
    const values = (...statement: Parameters<typeof connection.queryValues>) =>
      Effect.tapError(connection.queryValues(...statement), replace)
    const rowsOf =
      (prepare: boolean): Connection["execute"] =>
      (sql, parameters, transform) =>
        Effect.map(query(sql, parameters, prepare), ({ rows }) =>
          transform === undefined ? rows : transform(rows)
        )
    return {
      execute: rowsOf(true),
      executeUnprepared: rowsOf(false),
      executeRaw: (sql, parameters) => query(sql, parameters),
      executeValues: (sql, parameters) => values(sql, parameters),
      executeValuesUnprepared: (sql, parameters) => values(sql, parameters, false),
      executeStream: (sql, parameters, transform) => {
        const rows = connection.stream(sql, parameters)
        return transform === undefined ? rows : Stream.map(rows, (row) => transform([row])[0])
      }
    }
  }

/** PostgreSQL answers a commit of a failed transaction with `ROLLBACK`. */
const commit = (connection: Connection): Effect.Effect<void, SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) => {
    const { command } = Object(result) as { readonly command?: unknown }
    if (command !== "ROLLBACK") return Effect.void
    const message = "the transaction had failed: it was rolled back"
    return new SqlError({
      reason: new UnknownError({ cause: new Error(message), message, operation: "commit" })
    })
  })

/** A client on a pool of connections, each of which `prepare` sees first. */
const clientOn = (pool: PgPool.PgPool, prepare: (connection: PgConnection.PgConnection) => void) => {
  const adopted = new WeakMap<PgConnection.PgConnection, Connection>()
  const adopt = (connection: PgConnection.PgConnection): Connection => {
    const known = adopted.get(connection)
    if (known !== undefined) return known
    prepare(connection)
    const made = asSqlConnection(pool)(connection)
    adopted.set(connection, made)
    return made
  }
  return SqlClient.make({
    acquirer: Effect.map(pool.get, adopt),
    borrower: (run) => pool.use((connection) => run(adopt(connection))),
    // A transaction has its connection to itself.
    transactionAcquirer: Effect.map(pool.reserve, asSqlConnection(pool)),
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    compiler: PgClient.makeCompiler(),
    driver: "pg",
    spanAttributes: [
      ["db.system.name", "postgresql"],
      ["db.namespace", pool.config.database ?? pool.config.username ?? "postgres"],
      ["server.address", pool.config.host ?? "localhost"],
      ["server.port", pool.config.port ?? 5432]
    ]
  })
}

/** A client that runs one statement at a time on a connection. */
export const makeExclusive = (options: PgPool.Config) =>
  Effect.flatMap(PgPool.make(options), (pool) => clientOn(pool, () => {}))

/** A client that runs its statements on a few shared connections, many on each at once, in flat memory. */
export const makePipelined = (options: PgPool.Config) =>
  Effect.flatMap(PgPool.make({ ...options, multiplex: true }), (pool) => clientOn(pool, dropAnswered))
