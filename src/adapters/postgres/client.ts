import type { PgPool } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

import { makeExclusive, makePipelined } from "./pipelined.ts"

/** Where and how to connect. */
export interface PostgresOptions {
  /** `postgres://user@host:port/database`. */
  readonly url: Redacted.Redacted
  /** Used where the URL holds no password: `DB_SECRET_KEY`, else `DB_SERVICE_ROLE_KEY`. */
  readonly password?: Redacted.Redacted | undefined
  readonly maxSendConnections?: number | undefined
  /** Shared by many reads at once. */
  readonly maxReadConnections?: number | undefined
  readonly maxSlowConnections?: number | undefined
  readonly maxWriteConnections?: number | undefined
  /** False behind a pooler that loses named prepared statements. */
  readonly prepare?: boolean | undefined
}

/** Look-ups and claims go out in two statements each at most. */
const MAX_SEND_CONNECTIONS = 4
const MAX_READ_CONNECTIONS = 2
/** One principal uses one at a time (`server/slow-reads.ts`). */
const MAX_SLOW_CONNECTIONS = 3
const MAX_WRITE_CONNECTIONS = 6

/** How many connections all clients together may open. */
export const connectionsOf = (options: PostgresOptions): number =>
  (options.maxSendConnections ?? MAX_SEND_CONNECTIONS) +
  (options.maxReadConnections ?? MAX_READ_CONNECTIONS) +
  (options.maxSlowConnections ?? MAX_SLOW_CONNECTIONS) +
  (options.maxWriteConnections ?? MAX_WRITE_CONNECTIONS)

/**
 * A shared connection is not replaced when a statement on it gets no answer: without this limit, one with a silently dead
 * peer would swallow every read until the operating system noticed, some fifteen minutes later.
 */
const READ_CONNECTION_TTL = "20 seconds"

/**
 * The client for the queries that a send waits for: suppressions, its claim, its evidence. Nothing else runs here: a send gives up
 * its look-up after a time limit and goes out without it, and no other query may cause that.
 */
export class SendSql extends Context.Service<SendSql, SqlClient.SqlClient>()(
  "postlane/adapters/postgres/SendSql"
) {}

/**
 * For reads of one statement that an index answers: many fibers' statements are pipelined on a few connections (three times the
 * rate of a plain pool). An interrupted statement runs on to the server's own time limit, and holds up those behind it.
 */
export class ReadSql extends Context.Service<ReadSql, SqlClient.SqlClient>()(
  "postlane/adapters/postgres/ReadSql"
) {}

/**
 * For reads that may take long: searches, counts, exports, statistics, whatever admins read. Each is planned for its own values. An
 * interrupted statement is cancelled on the server.
 */
export class SlowSql extends Context.Service<SlowSql, SqlClient.SqlClient>()(
  "postlane/adapters/postgres/SlowSql"
) {}

/** For writes and transactions: each has a connection to itself, or every commit would wait for the one before it. */
export class WriteSql extends Context.Service<WriteSql, SqlClient.SqlClient>()(
  "postlane/adapters/postgres/WriteSql"
) {}

const holdsPassword = (url: string): boolean => {
  const parsed = URL.parse(url)
  return parsed !== null && (parsed.password !== "" || parsed.searchParams.has("password"))
}

/** Parts of the address: spans report them with their statements, and the driver uses them as defaults. */
const placeOf = (text: string) => {
  const url = URL.parse(text)
  if (url === null) return {}
  const host = (url.searchParams.get("host") ?? url.hostname).replace(/^\[(.*)\]$/, "$1")
  const port = url.searchParams.get("port") ?? url.port
  const database = url.searchParams.get("dbname") ?? url.pathname.slice(1)
  // What is escaped the driver reads by itself.
  const isPlain = (part: string) => part !== "" && !part.includes("%")
  return {
    ...(isPlain(host) ? { host } : {}),
    ...(/^\d+$/.test(port) ? { port: Number(port) } : {}),
    ...(isPlain(database) ? { database } : {})
  }
}

const config = (options: PostgresOptions): PgPool.Config => ({
  url: options.url,
  ...placeOf(Redacted.value(options.url)),
  password: holdsPassword(Redacted.value(options.url)) ? undefined : options.password,
  applicationName: "postlane",
  // The retry queue's table has times without a zone. Poolers in transaction mode take this parameter and refuse others: the limits of
  // statements are the role's own (`migrator.ts`).
  startupParameters: { timezone: "UTC" },
  prepare: options.prepare ?? true,
  keepAlive: "30 seconds"
})

/** Every client. */
export type Clients = SendSql | ReadSql | SlowSql | WriteSql

/** All clients, each with its own pool. Connections open on first use: a server that is down fails calls, not the start. */
export const layer = (options: PostgresOptions): Layer.Layer<Clients, SqlError> => {
  const plain = (maxConnections: number) => makeExclusive({ ...config(options), maxConnections })
  return Layer.mergeAll(
    Layer.effect(SendSql, plain(options.maxSendConnections ?? MAX_SEND_CONNECTIONS)),
    Layer.effect(
      ReadSql,
      makePipelined({
        ...config(options),
        connectionTTL: READ_CONNECTION_TTL,
        maxConnections: options.maxReadConnections ?? MAX_READ_CONNECTIONS
      })
    ),
    Layer.effect(
      SlowSql,
      makeExclusive({
        ...config(options),
        // A prepared statement is soon planned for no value: a rare status would be looked for in all rows, as a common one is.
        prepare: false,
        maxConnections: options.maxSlowConnections ?? MAX_SLOW_CONNECTIONS
      })
    ),
    Layer.effect(WriteSql, plain(options.maxWriteConnections ?? MAX_WRITE_CONNECTIONS))
  ).pipe(Layer.provide(Reactivity.layer))
}

/** All tags on one connection: for a request on the edge, or a command that runs once. */
export const layerSingle = (options: PostgresOptions): Layer.Layer<Clients, SqlError> =>
  Layer.effectContext(
    Effect.map(makeExclusive({ ...config(options), maxConnections: 1 }), (client) =>
      Context.make(SendSql, client).pipe(
        Context.add(ReadSql, client),
        Context.add(SlowSql, client),
        Context.add(WriteSql, client)
      )
    )
  ).pipe(Layer.provide(Reactivity.layer))

/** The write client under the tag that the migrator and Effect's own SQL modules require. */
export const layerSqlClient: Layer.Layer<SqlClient.SqlClient, never, WriteSql> = Layer.effect(
  SqlClient.SqlClient,
  WriteSql
)
