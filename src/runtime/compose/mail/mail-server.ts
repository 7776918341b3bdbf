import { Effect, Layer } from "effect"

import * as Deferrals from "../../../adapters/postgres/mail/deferrals.ts"
import * as Preferences from "../../../adapters/postgres/mail/preferences.ts"
import * as PostgresSendQueue from "../../../adapters/postgres/mail/send-queue.ts"
import * as SuppressionList from "../../../adapters/postgres/mail/suppression-list.ts"
import * as Mailer from "../../../application/mail/mailer.ts"
import * as Retry from "../../../application/mail/retry.ts"
import * as Enqueue from "../../../application/send-queue/enqueue.ts"
import * as Pace from "../../../application/send-queue/pace.ts"
import { QueueConfig } from "../../../application/send-queue/queue-config.ts"
import * as SendLater from "../../../application/send-queue/send-later.ts"
import * as Sender from "../../../application/send-queue/sender.ts"
import { background } from "../../process/supervisor.ts"
import type { MailSettings } from "../../settings/settings.ts"
import { nodeCredentials } from "../node-credentials.ts"
import { learnRate } from "./mail-providers.ts"
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
    Layer.provideMerge(SendLater.layer, Enqueue.layer),
    SuppressionList.layer,
    Preferences.layer,
    Deferrals.layer
  ).pipe(Layer.provideMerge(queue(settings)), Layer.provideMerge(mailPorts(settings, parts)))

/** Sends what is in the send queue, at the rate of the account at Amazon SES as soon as that is known. */
export const queueSender = (settings: MailSettings) =>
  Layer.merge(
    Layer.unwrap(Effect.map(Sender.QueueSender, ({ run }) => background("send", run))),
    Layer.effectDiscard(Effect.forkScoped(learnRate(settings, nodeCredentials(settings))))
  )
