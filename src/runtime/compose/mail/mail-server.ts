import { Effect, Layer } from "effect"

import * as Deferrals from "../../../adapters/postgres/mail/deferrals.ts"
import * as SuppressionList from "../../../adapters/postgres/mail/suppression-list.ts"
import { RETRIES_AT_ONCE } from "../../../application/mail/function-sizes.ts"
import * as Mailer from "../../../application/mail/mailer.ts"
import * as Retry from "../../../application/mail/retry.ts"
import { DeferQueue } from "../../../ports/mail/defer-queue.ts"
import { background } from "../../process/supervisor.ts"
import type { MailSettings } from "../../settings/settings.ts"
import { mailPorts, type MailParts } from "./mail.ts"

/** The mail of a server: the mailer and the handler of its retries on the same ports, and the suppression list. */
export const mail = (settings: MailSettings, parts: MailParts) =>
  Layer.mergeAll(Mailer.layer, Retry.layer, SuppressionList.layer, Deferrals.layer).pipe(
    Layer.provideMerge(mailPorts(settings, parts))
  )

/** Consumes the retry queue, where there is one. */
export const retryWorker = Layer.unwrap(
  Effect.gen(function* () {
    const queue = yield* DeferQueue
    const { handle } = yield* Retry.RetryHandler
    return queue.configured
      ? background("retry", queue.consume(handle, { concurrency: RETRIES_AT_ONCE }))
      : Layer.empty
  })
)
