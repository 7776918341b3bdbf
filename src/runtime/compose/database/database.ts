import { resolve } from "node:path"

import { Context, Effect, Layer } from "effect"

import * as EmbeddedPostgres from "../../../adapters/embedded-postgres/embedded-postgres.ts"
import * as Postgres from "../../../adapters/postgres/client.ts"
import { uptime } from "../../../application/uptime.ts"
import { PROCESS } from "../../process/process-name.ts"
import type { Settings } from "../../settings/settings.ts"
import { migrateDatabase, requireUsable, shownUrl } from "./database-start.ts"

/** Where the database is, for the banner and for readiness. */
export class DatabasePlace extends Context.Service<
  DatabasePlace,
  {
    readonly shown: string
    /** Why an embedded server is not up, as far as its supervisor knows. */
    readonly whyDown: Effect.Effect<string | undefined>
  }
>()("postlane/runtime/DatabasePlace") {}

/** The database at this address, which is asked for nothing yet: for a process that works without it, too. */
export const databaseAt = (configured: Postgres.PostgresOptions) =>
  Layer.merge(
    Postgres.layer(configured),
    Layer.succeed(DatabasePlace, { shown: shownUrl(configured.url), whyDown: Effect.succeed(undefined) })
  )

/** The database that is configured, or the embedded one; migrated either way. */
export const database = (settings: Pick<Settings, "dataDir" | "database">) => {
  const { database: configured } = settings
  if (configured !== undefined) {
    return Layer.unwrap(Effect.as(requireUsable(configured), databaseAt(configured)))
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

/** How long a readiness check's answer holds, milliseconds: probes may ask as often as they like. */
const CHECK_HOLDS_MS = 1_000

/** Whether the database takes what a send writes, for readiness. */
export const databaseCheck = Effect.gen(function* () {
  const sql = yield* Postgres.WriteSql
  let writtenAt = Number.NEGATIVE_INFINITY
  const { whyDown } = yield* DatabasePlace
  const run = Effect.gen(function* () {
    const down = yield* whyDown
    if (down !== undefined) return yield* Effect.fail(new Error(down))
    if ((yield* uptime) - writtenAt < CHECK_HOLDS_MS) return
    yield* sql`select check_that_mail_can_be_written(${PROCESS})`
    writtenAt = yield* uptime
  })
  return { name: "database", run }
})
