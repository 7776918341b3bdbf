import { Effect, Layer } from "effect"

import * as Deferrals from "../../../adapters/postgres/mail/deferrals.ts"
import * as PostgresSendQueue from "../../../adapters/postgres/mail/send-queue.ts"
import * as SuppressionList from "../../../adapters/postgres/mail/suppression-list.ts"
import { RETRIES_AT_ONCE } from "../../../application/mail/function-sizes.ts"
import * as Mailer from "../../../application/mail/mailer.ts"
import * as Retry from "../../../application/mail/retry.ts"
import * as Enqueue from "../../../application/send-queue/enqueue.ts"
import * as Pace from "../../../application/send-queue/pace.ts"
import { paceOf, QueueConfig } from "../../../application/send-queue/queue-config.ts"
import * as Sender from "../../../application/send-queue/sender.ts"
import { DeferQueue } from "../../../ports/mail/defer-queue.ts"
import { SendQueue } from "../../../ports/mail/send-queue.ts"
import { background } from "../../process/supervisor.ts"
import type { MailSettings } from "../../settings/settings.ts"
import { nodeCredentials } from "../node-credentials.ts"
import { mailPorts, type MailParts } from "./mail.ts"

/** The send queue and its pace. */
const queue = (settings: MailSettings) =>
  Pace.layer.pipe(
    Layer.provideMerge(Layer.merge(PostgresSendQueue.layer, Layer.succeed(QueueConfig, settings.sendQueue)))
  )

/** The mail of a server: the mailer, the handler of its retries and the sender of its queue on the same ports, and the suppression list. */
export const mail = (settings: MailSettings, parts: MailParts) =>
  Layer.mergeAll(
    Layer.provide(Layer.merge(Mailer.layer, Retry.layer), Pace.ofDirectSends),
    Layer.provide(Sender.layer, Pace.ofQueue),
    Enqueue.layer,
    SuppressionList.layer,
    Deferrals.layer
  ).pipe(Layer.provideMerge(queue(settings)), Layer.provideMerge(mailPorts(settings, parts)))

/** Consumes the retry queue, where there is one. */
export const retryWorker = Layer.unwrap(
  Effect.gen(function* () {
    const deferrals = yield* DeferQueue
    const { handle } = yield* Retry.RetryHandler
    return deferrals.configured
      ? background("retry", deferrals.consume(handle, { concurrency: RETRIES_AT_ONCE }))
      : Layer.empty
  })
)

/** How long the start of the sender waits for the account's rate, which is nothing that a send needs. */
const RATE_TIME_LIMIT = "10 seconds"

/** Notes the rate of the account at Amazon SES, where mail goes there and no setting fixes it. One that cannot be read leaves the usual rate. */
const learnRate = Effect.fnUntraced(function* (settings: MailSettings) {
  const pace = paceOf(settings.sendQueue.paces, "provider_b")
  const { fallback, primary } = settings.sending
  if (pace.fixed || pace.rate === 0 || (primary !== "provider_b" && fallback !== "provider_b")) return
  const { readSendRate } = yield* Effect.promise(() => import("../../../adapters/ses/account.ts"))
  const ratePerSecond = yield* readSendRate({
    ...settings.providerB,
    credentials: nodeCredentials(settings)
  }).pipe(Effect.timeout(RATE_TIME_LIMIT))
  yield* (yield* SendQueue).heard(pace, 0, { ratePerSecond })
})

/** Sends what is in the send queue. */
export const queueSender = (settings: MailSettings) =>
  Layer.merge(
    Layer.unwrap(Effect.map(Sender.QueueSender, ({ run }) => background("send", run))),
    Layer.effectDiscard(
      learnRate(settings).pipe(
        Effect.catch((error) =>
          Effect.logInfo(
            "the rate of the account of provider_b is not known: it is asked at its usual one",
            error
          )
        ),
        Effect.forkScoped
      )
    )
  )
