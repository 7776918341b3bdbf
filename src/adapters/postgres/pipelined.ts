import { PgClient, PgPool } from "@effect/sql-pg"
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"

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

/** A connection of the driver as Effect's SQL modules use one; `rows` are as the driver gives them. */
const asSqlConnection = (connection: PgConnection.PgConnection): Connection => {
  const rowsOf =
    (prepare: boolean): Connection["execute"] =>
    (sql, parameters, transform) =>
      Effect.map(connection.query(sql, parameters, prepare), ({ rows }) =>
        transform === undefined ? rows : transform(rows)
      )
  return {
    execute: rowsOf(true),
    executeUnprepared: rowsOf(false),
    executeRaw: (sql, parameters) => connection.query(sql, parameters),
    executeValues: (sql, parameters) => connection.queryValues(sql, parameters),
    executeValuesUnprepared: (sql, parameters) => connection.queryValues(sql, parameters, false),
    executeStream: (sql, parameters, transform) => {
      const rows = connection.stream(sql, parameters)
      return transform === undefined ? rows : Stream.map(rows, (row) => transform([row])[0])
    }
  }
}

/** A client that runs its statements on a few shared connections, many on each at once, in flat memory. */
export const makePipelined = Effect.fnUntraced(function* (options: PgPool.Config) {
  const pool = yield* PgPool.make({ ...options, multiplex: true })
  const adopted = new WeakMap<PgConnection.PgConnection, Connection>()
  const adopt = (connection: PgConnection.PgConnection): Connection => {
    const known = adopted.get(connection)
    if (known !== undefined) return known
    dropAnswered(connection)
    const made = asSqlConnection(connection)
    adopted.set(connection, made)
    return made
  }
  return yield* SqlClient.make({
    acquirer: Effect.map(pool.get, adopt),
    borrower: (run) => pool.use((connection) => run(adopt(connection))),
    // A transaction has its connection to itself.
    transactionAcquirer: Effect.map(pool.reserve, asSqlConnection),
    compiler: PgClient.makeCompiler(),
    driver: "pg",
    spanAttributes: [
      ["db.system.name", "postgresql"],
      ["db.namespace", options.database ?? options.username ?? "postgres"],
      ["server.address", options.host ?? "localhost"],
      ["server.port", options.port ?? 5432]
    ]
  })
})
