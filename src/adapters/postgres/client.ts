import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

/** Where and how to connect. */
export interface PostgresOptions {
  /** `postgres://user@host:port/database`. */
  readonly url: Redacted.Redacted
  /** Used where the URL holds no password: `DB_SECRET_KEY`, else `DB_SERVICE_ROLE_KEY`. */
  readonly password?: Redacted.Redacted | undefined
  /** Shared by many reads at once. */
  readonly maxReadConnections?: number | undefined
  readonly maxWriteConnections?: number | undefined
  /** False behind a pooler that loses named prepared statements. */
  readonly prepare?: boolean | undefined
}

const MAX_READ_CONNECTIONS = 2
const MAX_WRITE_CONNECTIONS = 8

/** How many connections both clients may open. */
export const connectionsOf = ({ maxReadConnections, maxWriteConnections }: PostgresOptions): number =>
  (maxReadConnections ?? MAX_READ_CONNECTIONS) + (maxWriteConnections ?? MAX_WRITE_CONNECTIONS)

/**
 * A shared connection is not replaced when a statement on it gets no answer: without this limit, one with a silently dead
 * peer would swallow every read until the operating system noticed, some fifteen minutes later.
 */
const READ_CONNECTION_TTL = "20 seconds"

/**
 * For reads of one statement: many fibers' statements are pipelined on a few connections (three times the rate of a
 * plain pool). An interrupted statement runs on to the server's own time limit.
 */
export class ReadSql extends Context.Service<ReadSql, PgClient.PgClient>()(
  "postlane/adapters/postgres/ReadSql"
) {}

/** For writes and transactions: each has a connection to itself, or every commit would wait for the one before it. */
export class WriteSql extends Context.Service<WriteSql, PgClient.PgClient>()(
  "postlane/adapters/postgres/WriteSql"
) {}

const holdsPassword = (url: string): boolean => {
  const parsed = URL.parse(url)
  return parsed !== null && (parsed.password !== "" || parsed.searchParams.has("password"))
}

const config = (options: PostgresOptions): PgClient.PgPoolConfig => ({
  url: options.url,
  password: holdsPassword(Redacted.value(options.url)) ? undefined : options.password,
  applicationName: "postlane",
  // The retry queue's table has times without a zone. Poolers in transaction mode take this parameter and refuse others: the limits of
  // statements are the role's own (`migrator.ts`).
  startupParameters: { timezone: "UTC" },
  prepare: options.prepare ?? true,
  keepAlive: "30 seconds"
})

/** Both clients, each with its own pool. Connections open on first use: a server that is down fails calls, not the start. */
export const layer = (options: PostgresOptions): Layer.Layer<ReadSql | WriteSql, SqlError> =>
  Layer.mergeAll(
    Layer.effect(
      ReadSql,
      PgClient.make({
        ...config(options),
        multiplex: true,
        connectionTTL: READ_CONNECTION_TTL,
        maxConnections: options.maxReadConnections ?? MAX_READ_CONNECTIONS
      })
    ),
    Layer.effect(
      WriteSql,
      PgClient.make({
        ...config(options),
        maxConnections: options.maxWriteConnections ?? MAX_WRITE_CONNECTIONS
      })
    )
  ).pipe(Layer.provide(Reactivity.layer))

/** Both tags on one connection: for a request on the edge, or a command that runs once. */
export const layerSingle = (options: PostgresOptions): Layer.Layer<ReadSql | WriteSql, SqlError> =>
  Layer.effectContext(
    Effect.map(PgClient.make({ ...config(options), maxConnections: 1 }), (client) =>
      Context.make(ReadSql, client).pipe(Context.add(WriteSql, client))
    )
  ).pipe(Layer.provide(Reactivity.layer))

/** The write client under the tags that the migrator and Effect's own SQL modules require. */
export const layerSqlClient: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, never, WriteSql> =
  Layer.effectContext(
    Effect.map(WriteSql, (client) =>
      Context.make(PgClient.PgClient, client).pipe(Context.add(SqlClient.SqlClient, client))
    )
  )
