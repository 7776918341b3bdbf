import { Context, Effect, Layer, Redacted } from "effect"
import { inject } from "vitest"

import {
  type Clients,
  layer,
  layerSingle,
  type PostgresOptions,
  WriteSql
} from "../../../src/adapters/postgres/client.ts"

/** A database of the shared test server that nobody else uses. */
export class TestDatabase extends Context.Service<TestDatabase, { readonly url: string }>()(
  "postlane/test/TestDatabase"
) {}

let made = 0

const onServer = (statement: string) =>
  WriteSql.use((sql) => sql.unsafe(statement).unprepared).pipe(
    Effect.provide(layerSingle({ url: Redacted.make(inject("postgresUrl")) })),
    Effect.orDie
  )

const database = (template: string, off: ReadonlyArray<string> = []) =>
  Layer.effect(
    TestDatabase,
    Effect.acquireRelease(
      Effect.gen(function* () {
        made += 1
        const name = `test_${process.pid}_${process.env["VITEST_WORKER_ID"] ?? "0"}_${made}`
        // Copying the files takes a quarter of the processor time that logging every block does.
        yield* onServer(`create database ${name} template ${template} strategy file_copy`)
        for (const setting of off) yield* onServer(`alter database ${name} set ${setting} = off`)
        const url = new URL(inject("postgresUrl"))
        url.pathname = `/${name}`
        return { url: url.href, name }
      }),
      ({ name }) => onServer(`drop database if exists ${name} with (force)`)
    )
  )

/** A migrated database, made by copying the template, dropped when the scope closes. */
export const layerDatabase: Layer.Layer<TestDatabase> = database("postlane_template")

/** An empty database: for tests of the migrations. */
export const layerEmptyDatabase: Layer.Layer<TestDatabase> = Layer.fresh(database("template1"))

/** An empty database of another language or encoding. */
export const layerForeignDatabase = (options: string): Layer.Layer<TestDatabase> =>
  Layer.fresh(database(`template0 ${options}`))

/** The clients of the application on the test database. */
export const layerClients = (
  options?: Omit<PostgresOptions, "url">
): Layer.Layer<Clients, never, TestDatabase> =>
  Layer.unwrap(
    TestDatabase.use(({ url }) => Effect.succeed(layer({ ...options, url: Redacted.make(url) })))
  ).pipe(Layer.orDie)

/** A migrated database of its own and the clients on it. */
export const layerPostgres: Layer.Layer<TestDatabase | Clients> = layerClients().pipe(
  Layer.provideMerge(layerDatabase)
)

/** As `layerPostgres`; no index gives its plans an order by chance. */
export const layerWithoutIndexes: Layer.Layer<TestDatabase | Clients> = layerClients().pipe(
  Layer.provideMerge(
    Layer.fresh(
      database("postlane_template", ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"])
    )
  )
)
