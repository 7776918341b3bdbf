import { resolve } from "node:path"

import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Effect, Layer, Redacted } from "effect"
import { isSqlError } from "effect/sql/SqlError"

import * as EmbeddedPostgres from "../../adapters/embedded-postgres/embedded-postgres.ts"
import * as Postgres from "../../adapters/postgres/client.ts"
import { isUnlimited, migrate, type MigrationError, pending } from "../../adapters/postgres/migrator.ts"
import { MIGRATIONS, typed } from "../package.ts"
import { CannotStart } from "../process/run-program.ts"
import type { Settings } from "../settings/settings.ts"

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

const onDatabase = <A>(
  options: Postgres.PostgresOptions,
  run: Effect.Effect<
    A,
    MigrationError,
    Layer.Success<typeof Postgres.layerSqlClient> | NodeServices.NodeServices
  >
): Effect.Effect<A, CannotStart> =>
  run.pipe(
    Effect.provide(Layer.provideMerge(Postgres.layerSqlClient, Postgres.layerSingle(options))),
    Effect.provide(NodeServices.layer),
    Effect.mapError((error) => {
      const why = whyNotConnected(error.cause)
      return new CannotStart({
        message:
          why === undefined
            ? `${shownUrl(options.url)}: ${error.message}`
            : `The database ${shownUrl(options.url)} cannot be reached: ${why}. Is it running, and is DB_URL right?`
      })
    })
  )

/** Applies what is pending; returns the names of what it applied. */
export const migrateDatabase = (
  options: Postgres.PostgresOptions
): Effect.Effect<ReadonlyArray<string>, CannotStart> =>
  Effect.map(onDatabase(options, migrate(MIGRATIONS)), (applied) => applied.map(({ name }) => name))

const warnOfUnlimited = Effect.flatMap(isUnlimited, (found) =>
  found
    ? Effect.logWarning(
        `the role of DB_URL has no statement_timeout: ${typed("migrate")} sets it for the role that it connects as (docs/operating.md, Database)`
      )
    : Effect.void
).pipe(Effect.ignore)

/** Refuses a database that lacks a migration, with the command that applies it. */
export const requireMigrated = (options: Postgres.PostgresOptions): Effect.Effect<void, CannotStart> =>
  Effect.flatMap(onDatabase(options, Effect.tap(pending(MIGRATIONS), warnOfUnlimited)), (missing) =>
    missing.length === 0
      ? Effect.void
      : Effect.fail(
          new CannotStart({
            message: `The database ${shownUrl(options.url)} lacks ${missing.length} migration(s). Apply them with: ${typed("migrate")}`
          })
        )
  )

/** Where the database is, for the banner and for readiness. */
export class DatabasePlace extends Context.Service<
  DatabasePlace,
  {
    readonly shown: string
    /** Why an embedded server is not up, as far as its supervisor knows. */
    readonly whyDown: Effect.Effect<string | undefined>
  }
>()("postlane/runtime/DatabasePlace") {}

/** The database that is configured, or the embedded one; migrated either way. */
export const database = (settings: Pick<Settings, "dataDir" | "database">) => {
  const { database: configured } = settings
  if (configured !== undefined) {
    return Layer.unwrap(Effect.as(requireMigrated(configured), Postgres.layer(configured))).pipe(
      Layer.provideMerge(
        Layer.succeed(DatabasePlace, { shown: shownUrl(configured.url), whyDown: Effect.succeed(undefined) })
      )
    )
  }
  const place = Layer.effect(
    DatabasePlace,
    Effect.map(EmbeddedPostgres.EmbeddedPostgres, (embedded) => ({
      shown: `embedded, ${embedded.cluster}`,
      whyDown: Effect.map(embedded.state, (state) =>
        state.status === "up" ? undefined : (state.reason ?? "starting")
      )
    }))
  )
  const clients = Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* EmbeddedPostgres.EmbeddedPostgres
      yield* migrateDatabase({ url })
      return Postgres.layer({ url })
    })
  )
  return Layer.mergeAll(clients, place).pipe(Layer.provide(EmbeddedPostgres.layer(resolve(settings.dataDir))))
}

/** Whether the database answers, for readiness. */
export const databaseCheck = Effect.gen(function* () {
  const sql = yield* Postgres.ReadSql
  const { whyDown } = yield* DatabasePlace
  const run = Effect.gen(function* () {
    const down = yield* whyDown
    if (down !== undefined) return yield* Effect.fail(new Error(down))
    yield* sql`select 1`
  })
  return { name: "database", run }
})
