import { Effect, Layer } from "effect"

import type * as Postgres from "../../adapters/postgres/client.ts"
import type { Settings } from "../settings/settings.ts"

/** Services that the database-backed parts need. */
export type Database = Postgres.ReadSql | Postgres.WriteSql

/**
 * The database of the settings; `undefined` where its address or its password is missing (MAIL-5). Connections are opened lazily,
 * so that an unreachable database fails calls, not the start. The driver is loaded here and not before: an installation without a
 * database does not need it.
 */
export const mailDatabase = (
  settings: Pick<Settings, "database">,
  connect: (
    postgres: typeof Postgres,
    url: Postgres.PostgresOptions["url"]
  ) => ReturnType<typeof Postgres.layer>
): Layer.Layer<Database> | undefined => {
  const { database } = settings
  if (database === undefined || !database.hasPassword) return undefined
  return Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("../../adapters/postgres/client.ts")),
      (postgres) => connect(postgres, database.url)
    )
  ).pipe(Layer.orDie)
}

/** For a call on the edge: one connection, closed with it; what was opened for one request cannot be used in another. */
export const edgeDatabase = (settings: Pick<Settings, "database">): Layer.Layer<Database> | undefined =>
  mailDatabase(settings, (postgres, url) => postgres.layerSingle({ url }))
