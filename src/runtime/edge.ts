import { Effect, Exit, Scope } from "effect"

import { withDeadline } from "../domain/deadline.ts"
import { edgeMailer } from "./edge/mailer.ts"
import { type MailRuntime, makeSendEmail, openMailer, type SendEmail } from "./edge/plain-send-email.ts"
import type { LogSink } from "./process/log-lines.ts"

export type { SendRequest } from "../domain/mail/message.ts"
export type { SendResult } from "../domain/mail/send-result.ts"
export type { SendEmail, SendOptions } from "./edge/plain-send-email.ts"

/** How long a finished send waits for its connection to close before it answers. */
const CLOSE_TIME_LIMIT = "1 second"

// oxlint-disable-next-line no-console -- a worker's console is its log
const logSink: LogSink = { write: (line) => console.log(line.trimEnd()) }

/** One mailer per call: what was opened for one request cannot be used in another. */
const runtime: MailRuntime = {
  ambientEnv: () => undefined,
  withMailer: (env, use) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const close = withDeadline(Scope.close(scope, Exit.void), {
        duration: CLOSE_TIME_LIMIT,
        onTimeout: () => Effect.void
      }).pipe(
        Effect.catchCause((cause) =>
          Effect.logWarning(
            "a send's connections were not closed: the runtime ends them with the invocation",
            cause
          )
        )
      )
      return yield* openMailer(env, { edge: true, layer: edgeMailer, logSink }).pipe(
        Scope.provide(scope),
        Effect.flatMap(use),
        Effect.ensuring(close)
      )
    }),
  logSink
}

/**
 * `sendEmail` where there is no process environment (Cloudflare Workers, with the flag `nodejs_compat`): pass the bindings as
 * `env`. Without `env` it sends with the `apiKey` it is given, writes no row and checks no suppression (MAIL-8).
 */
export const sendEmail: SendEmail = makeSendEmail(runtime)
