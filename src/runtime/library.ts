import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Exit, Layer, RcMap, Scope } from "effect"

import { UndiciResend } from "../adapters/resend/undici-resend.ts"
import { withDeadline } from "../domain/deadline.ts"
import { Mailer } from "../domain/mail/mailer.ts"
import {
  envOf,
  type MailRuntime,
  makeSendEmail,
  type OpenMailer,
  openMailer,
  type SendEmail,
  type SendOptions,
  type SettingsRefused
} from "./edge/plain-send-email.ts"
import { realProviders } from "./layers/mail-providers.ts"
import { mailDatabase, mailer } from "./layers/mail.ts"
import { nodeCredentials } from "./layers/node-credentials.ts"
import type { LogSink } from "./process/log-lines.ts"
import type { Env, Settings } from "./settings/settings.ts"

export { Mailer } from "../domain/mail/mailer.ts"
export {
  ClaimUnavailable,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest
} from "../domain/mail/send-result.ts"
export type { SendRequest } from "../domain/mail/message.ts"
export type { SendResult } from "../domain/mail/send-result.ts"
export { type SendEmail, type SendOptions, SettingsRefused } from "./edge/plain-send-email.ts"

/**
 * How long an unused mailer keeps its connections. They keep a process alive, so this is also how long a script runs on after its
 * last send; {@link close} spares it the wait.
 */
const IDLE_TIME_TO_LIVE = "1 second"

/** How long {@link close} waits for what is in progress; a drain takes 9 seconds at most. */
const CLOSE_TIME_LIMIT = "10 seconds"

/** Few connections of a kind: the process belongs to somebody else. */
const MAX_CONNECTIONS = 2

/** Stdout is the host's. */
const logSink: LogSink = { write: (line) => process.stderr.write(line) }

const layerOf = (settings: Settings): Layer.Layer<Mailer> => {
  const credentials = nodeCredentials(settings)
  const database = mailDatabase(settings, (postgres, options) =>
    postgres.layer({ ...options, maxSendConnections: MAX_CONNECTIONS, maxWriteConnections: MAX_CONNECTIONS })
  )
  const providers = realProviders(settings, credentials, UndiciResend)
  return mailer(settings, { providers, credentials, crypto: NodeCrypto.layer }, database)
}

/** One mailer per environment, shared by all calls and closed when it has been idle for a while. */
interface Shared {
  readonly scope: Scope.Closeable
  readonly mailers: RcMap.RcMap<Env, OpenMailer, SettingsRefused>
}

let shared: Shared | undefined

const acquire = (): Shared => {
  if (shared !== undefined) return shared
  const scope = Scope.makeUnsafe()
  const make = RcMap.make({
    lookup: (env: Env) => openMailer(env, { edge: false, layer: layerOf, logSink }),
    idleTimeToLive: IDLE_TIME_TO_LIVE
  })
  return (shared = { scope, mailers: Effect.runSync(Scope.provide(make, scope)) })
}

const runtime: MailRuntime = {
  ambientEnv: () => process.env,
  withMailer: (env, use) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { mailers } = acquire()
        const ready = yield* RcMap.get(mailers, env).pipe(
          Effect.tapCause(() => RcMap.invalidate(mailers, env))
        )
        return yield* use(ready)
      })
    ),
  logSink
}

/** `sendEmail` on Node: without `env` it reads `process.env`. */
export const sendEmail: SendEmail = makeSendEmail(runtime)

/**
 * Finishes what is in progress and closes all connections. Calling it is optional: they close by themselves once they are idle.
 * `sendEmail` can be called again afterwards.
 */
export const close = (): Promise<void> => {
  if (shared === undefined) return Promise.resolve()
  const { scope } = shared
  shared = undefined
  return Effect.runPromise(
    withDeadline(Scope.close(scope, Exit.void), {
      duration: CLOSE_TIME_LIMIT,
      onTimeout: () => Effect.void
    })
  )
}

/** The `Mailer` of Effect code, made of the same settings as `sendEmail`'s; it lives as long as the layer. */
export const layer = (options?: SendOptions): Layer.Layer<Mailer, SettingsRefused> =>
  Layer.effect(
    Mailer,
    Effect.suspend(() =>
      Effect.map(
        openMailer(envOf(options, process.env), { edge: false, layer: layerOf }),
        (ready) => ready.mailer
      )
    )
  )
