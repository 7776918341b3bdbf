import { Effect, Scope } from "effect"

import { closeConnections } from "../edge/close-connections.ts"
import { edgeMailer } from "../edge/mailer.ts"
import { type MailRuntime, makeSendEmail, openMailer, type SendEmail } from "../edge/plain-send-email.ts"
import type { LogSink } from "../process/log-lines.ts"

export {
  cancelEmail,
  enqueueEmail,
  type Enqueued,
  type EnqueueRequest,
  type TransactionClient,
  type TransactionOptions
} from "../../adapters/postgres/mail/own-transaction.ts"
export type { QueueState } from "../../domain/mail/queue.ts"
export { IdempotencyConflict, IdempotencyInProgress, InvalidRequest } from "../../domain/mail/send-result.ts"
export type { SendRequest } from "../../domain/mail/message.ts"
export type { SendResult } from "../../domain/mail/send-result.ts"
export type { SendEmail, SendOptions } from "../edge/plain-send-email.ts"

// oxlint-disable-next-line no-console -- a worker's console is its log
const logSink: LogSink = { write: (line) => console.log(line.trimEnd()) }

/** One mailer per call: what was opened for one request cannot be used in another. */
const runtime: MailRuntime = {
  ambientEnv: () => undefined,
  withMailer: (env, use) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      return yield* openMailer(env, { edge: true, layer: edgeMailer, logSink }).pipe(
        Scope.provide(scope),
        Effect.flatMap(use),
        Effect.ensuring(closeConnections(scope))
      )
    }),
  logSink
}

/**
 * `sendEmail` where there is no process environment (Cloudflare Workers, and whatever else has `fetch` and Web Crypto): pass the
 * bindings as `env`; a database in them needs Node's modules (on Workers the flag `nodejs_compat`). Without `env` it sends with the
 * `apiKey` it is given, writes no row and checks no suppression (MAIL-8).
 */
export const sendEmail: SendEmail = makeSendEmail(runtime)
