import { existsSync } from "node:fs"
import { join, resolve } from "node:path"

import { Effect, Layer, Redacted, Result } from "effect"

import { findLocalInstance, type LocalInstance } from "../../adapters/embedded-postgres/cluster-place.ts"
import * as Postgres from "../../adapters/postgres/client.ts"
import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import { requireMigrated } from "../compose/database/database-start.ts"
import { nodeCredentials } from "../compose/node-credentials.ts"
import { typed } from "../process/package.ts"
import { withGeneratedSecrets } from "../settings/generated-secrets.ts"
import {
  decodeSettings,
  type Env,
  formatProblems,
  type SettingProblem,
  type Settings
} from "../settings/settings.ts"
import { CommandFailed, Shell } from "./shell.ts"

/** A command makes few calls at once. */
const CONNECTIONS = {
  maxSendConnections: 1,
  maxReadConnections: 1,
  maxSlowConnections: 1,
  maxWriteConnections: 2
}

/** What the commands work on: the configured installation, or the local one of a data folder. */
export interface Installation {
  readonly settings: Settings
  /** The environment that the settings were read from, completed where the installation is a local one. */
  readonly env: Env
  /** The embedded server of the data folder; `None` too where a database is configured. */
  readonly local: LocalInstance
  /** Signs calls to the cloud. */
  readonly credentials: CredentialSource
}

const isUnset = (env: Env, name: string) => (env[name] ?? "").trim() === ""

const withSecrets = (env: Env, dataDir: string) =>
  existsSync(join(dataDir, "secrets.json"))
    ? withGeneratedSecrets(env, dataDir).pipe(
        Effect.mapError(({ message }) => new CommandFailed({ message }))
      )
    : Effect.succeed(env)

const decode = (env: Env, embedded: boolean) => decodeSettings(env, { embedded, library: true })

/**
 * Reads the settings as a server would. Where no database is configured and a local instance has run on the data folder,
 * it is the installation: its database, its secrets, simulated what is not configured.
 */
export const readInstallation = Effect.fnUntraced(function* (
  given: Env
): Effect.fn.Return<Result.Result<Installation, ReadonlyArray<SettingProblem>>, CommandFailed> {
  const first = decode(given, isUnset(given, "DB_URL"))
  if (Result.isFailure(first)) return Result.fail(first.failure)
  const { dataDir, embedded } = first.success
  const local: LocalInstance =
    embedded && isUnset(given, "DB_URL")
      ? yield* findLocalInstance(dataDir).pipe(
          Effect.mapError(({ message }) => new CommandFailed({ message }))
        )
      : { _tag: "None" }
  const isLocal = embedded && (local._tag !== "None" || !isUnset(given, "DB_URL"))
  const env: Env = {
    ...(isLocal ? yield* withSecrets(given, resolve(dataDir)) : given),
    ...(local._tag === "Running" ? { DB_URL: Redacted.value(local.url) } : {})
  }
  return Result.map(decode(env, isLocal), (settings) => ({
    settings,
    env,
    local,
    credentials: nodeCredentials(settings)
  }))
})

/** The installation, or all problems of its settings at once. */
export const installation = Effect.gen(function* () {
  const found = yield* readInstallation((yield* Shell).env)
  return Result.isSuccess(found)
    ? found.success
    : yield* new CommandFailed({
        message: `These settings are wrong:\n${formatProblems(found.failure)}\nAll settings: ${typed("settings")}`
      })
})

/** What to do where there is no database to work on; `undefined` where there is one. */
export const missingDatabase = ({ local, settings }: Installation): string | undefined => {
  if (settings.database !== undefined) return undefined
  return local._tag === "Stopped"
    ? `The local instance in ${resolve(settings.dataDir)} is not running. Start it with: ${typed("start")}`
    : `There is no database: set DB_URL to your installation's, or start a local one with ${typed("start")} (none has run in ${resolve(settings.dataDir)})`
}

/** The clients on the installation's database, which is asked for nothing yet. */
export const clients = ({ settings }: Installation) =>
  settings.database === undefined
    ? undefined
    : Postgres.layer({ ...settings.database, ...CONNECTIONS }).pipe(Layer.orDie)

/** Runs on the installation's database, which must be there and migrated. */
export const onDatabase = <A, E, R>(use: (installation: Installation) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const here = yield* installation
    const layer = clients(here)
    const { database } = here.settings
    if (layer === undefined || database === undefined) {
      return yield* new CommandFailed({ message: missingDatabase(here) ?? "There is no database" })
    }
    yield* requireMigrated(database).pipe(Effect.mapError(({ message }) => new CommandFailed({ message })))
    return yield* Effect.provide(use(here), layer)
  })
