import { resolve } from "node:path"

import { Effect, Result } from "effect"

import { choosePort } from "../../adapters/http/server/node-server.ts"
import { withGeneratedSecrets } from "../settings/generated-secrets.ts"
import { decodeSettings, type Env, formatProblems } from "../settings/settings.ts"
import { typed } from "./package.ts"
import { CannotStart } from "./run-program.ts"

const refuse = (problems: Parameters<typeof formatProblems>[0]) =>
  new CannotStart({
    message: `These settings are wrong or missing:\n${formatProblems(problems)}\nAll settings: ${typed("settings")}`
  })

/**
 * The settings of this process: decoded, complete, with every problem reported at once; and the environment they were decoded
 * from.
 */
const readSettings = Effect.fnUntraced(function* (given: Env, embeddedByDefault: boolean) {
  const first = decodeSettings(given, { embedded: embeddedByDefault, server: true })
  if (Result.isFailure(first)) return yield* refuse(first.failure)
  if (!first.success.embedded) return { env: given, settings: first.success }
  const env = yield* withGeneratedSecrets(given, resolve(first.success.dataDir)).pipe(
    Effect.mapError(({ message }) => new CannotStart({ message }))
  )
  const settings = decodeSettings(env, { embedded: embeddedByDefault })
  return Result.isFailure(settings) ? yield* refuse(settings.failure) : { env, settings: settings.success }
})

/**
 * The settings of this process. With `PORT=0` the system chooses the port now, so that `BASE_URL`, where it is unset, is the
 * listener's address; the port is held until `beforeListen` has run.
 */
export const startSettings = Effect.fnUntraced(function* (given: Env, embeddedByDefault: boolean) {
  const { env, settings } = yield* readSettings(given, embeddedByDefault)
  const { baseUrlIsSet, host, port } = settings.http
  const chosen = port === 0 && !baseUrlIsSet ? yield* choosePort(host) : undefined
  if (chosen === undefined) return { settings, beforeListen: Effect.void }
  const again = decodeSettings({ ...env, PORT: String(chosen.port) }, { embedded: settings.embedded })
  return Result.isFailure(again)
    ? yield* refuse(again.failure)
    : { settings: again.success, beforeListen: chosen.release }
})
