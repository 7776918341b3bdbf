import { Effect, Layer, Result } from "effect"
import * as Mac from "effect/crypto/Mac"

import {
  type Bucket,
  isBucket,
  isServiceBinding,
  type ServiceBinding
} from "../../adapters/cloudflare/bindings.ts"
import { ROUTING_SERVICE } from "../../adapters/cloudflare/email-delivery.ts"
import { makeR2Objects } from "../../adapters/cloudflare/r2-objects.ts"
import * as ServicePipeline from "../../adapters/cloudflare/service-pipeline.ts"
import * as InternalAlerts from "../../adapters/http-client/internal-alerts.ts"
import * as MailTemplates from "../../adapters/mail-templates/mail-templates.ts"
import * as MailReader from "../../adapters/postal-mime/mail-reader.ts"
import * as ReturnReader from "../../adapters/postal-mime/return-reader.ts"
import * as DeliveryLog from "../../adapters/postgres/delivery/delivery-log.ts"
import * as PostgresIntake from "../../adapters/postgres/inbound/intake-store.ts"
import * as PostgresDeferrals from "../../adapters/postgres/mail/deferrals.ts"
import * as EventRecording from "../../application/delivery/event-recording.ts"
import * as ReturnedMails from "../../application/delivery/returned-mail.ts"
import * as ConvertByEmail from "../../application/inbound/convert-by-email.ts"
import { MailHome } from "../../application/inbound/mail-home.ts"
import type { AuthenticityRules } from "../../domain/inbound/sender-authenticity.ts"
import { ReplyChannel } from "../../ports/inbound/mails.ts"
import { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailObjects } from "../../ports/object-store.ts"
import { intakeConfig, replyChannel } from "../compose/inbound/inbound-parts.ts"
import { type Database, edgeDatabase } from "../compose/mail/mail.ts"
import { PROVIDER_AREAS } from "../settings/providers.ts"
import type { Settings } from "../settings/settings.ts"
import type { Bindings } from "./bindings.ts"
import { edgeCrypto, edgeMailerOn } from "./mailer.ts"

/** Groups of settings that the worker reads. */
export const MAIL_WORKER_GROUPS: ReadonlySet<string> = new Set([
  "access",
  "cloud",
  "conversion",
  "database",
  "domains",
  "events",
  "intake",
  ...PROVIDER_AREAS,
  "retryQueue",
  "sending",
  "service"
])

/** What the worker works with. */
interface MailWorkerParts {
  readonly settings: Settings
  readonly database: Layer.Layer<Database>
  readonly bucket: Bucket
  readonly pipeline: ServiceBinding
}

/** Whether replies can be sent. */
const canReply = ({ intake, sending: { fallback, isConfigured, primary } }: Settings): boolean =>
  intake.replyChannel === "workspace" ||
  // A relay is spoken to over TCP, which the edge has not.
  [primary, fallback].some((one) => one !== undefined && one !== "smtp" && isConfigured[one])

/** The parts; a failure names every one that is missing and says what to do about it. */
export const mailWorkerParts = (
  settings: Settings,
  env: Bindings
): Result.Result<MailWorkerParts, ReadonlyArray<string>> => {
  const database = edgeDatabase(settings)
  const { CONVERT_EMAIL_BUCKET: bucket, PIPELINE: pipeline } = env
  const hasBucket = isBucket(bucket)
  const hasPipeline = isServiceBinding(pipeline)
  const replies = canReply(settings)
  if (database !== undefined && hasBucket && hasPipeline && replies) {
    return Result.succeed({ settings, database, bucket, pipeline })
  }
  return Result.fail([
    ...(database === undefined ? ["DB_URL or its password (DB_SECRET_KEY) is not set"] : []),
    ...(hasBucket ? [] : ["CONVERT_EMAIL_BUCKET is not bound to an R2 bucket"]),
    ...(hasPipeline ? [] : ["PIPELINE is not bound to a service"]),
    ...(replies ? [] : ["no way for replies: set MAILAPI_SERVICE_ACCOUNT_KEY or PROVIDERA_API_KEY"])
  ])
}

/**
 * The hop with trusted verdicts on senders: the routing service, unless `TRUSTED_MAIL_HOPS` names another. No other is
 * allowed, since a client that mails the inbound domain directly can forge any header but the service's own.
 */
const authenticity = ({ intake }: Settings): AuthenticityRules => ({
  trustedHops:
    intake.trustedHops.length === 0 ? [ROUTING_SERVICE] : intake.trustedHops.map((hop) => hop.toLowerCase()),
  trustsLoopback: false,
  hopSecret: intake.hopSecret
})

/**
 * Most bytes of a result that is attached, where a mail is put together within 128 MB: the workspace API's takes some ten
 * times its attachment. Larger results go as links.
 */
const MAX_ATTACHED_BYTES = 6 * 1024 * 1024

/** Without a send log nothing is known to have been deferred. */
const noDeferrals = Layer.succeed(Deferrals, { openKey: (key) => Effect.succeed({ key, state: "new" }) })

/** How replies go out, without the rest. */
export const edgeReplies = (
  settings: Settings,
  database: Layer.Layer<Database> | undefined
): Layer.Layer<ReplyChannel> =>
  Layer.effect(
    ReplyChannel,
    Effect.map(ReplyChannel, (channel) => ({
      ...channel,
      maxAttachmentBytes: Math.min(channel.maxAttachmentBytes, MAX_ATTACHED_BYTES)
    }))
  ).pipe(
    Layer.provide(replyChannel(settings)),
    Layer.provide(database === undefined ? noDeferrals : Layer.provide(PostgresDeferrals.layer, database)),
    Layer.provide(edgeMailerOn(settings, database)),
    Layer.provide(edgeCrypto)
  )

/** Convert-by-email on these parts, for one invocation. */
export const edgeConvertByEmail = ({
  bucket,
  database,
  pipeline,
  settings
}: MailWorkerParts): Layer.Layer<ConvertByEmail.ConvertByEmail> =>
  ConvertByEmail.layer.pipe(
    Layer.provide([
      edgeReplies(settings, database),
      ServicePipeline.layer({ binding: pipeline, proxySecret: settings.access.proxySharedSecret }),
      intakeConfig(settings, authenticity(settings)),
      Layer.provide(PostgresIntake.layer, database),
      MailReader.layer,
      MailTemplates.layer,
      Mac.layerWebCrypto,
      Layer.succeed(MailHome, Effect.succeed(`r2:${settings.intake.bucket}`))
    ]),
    Layer.provide(Layer.succeed(MailObjects, makeR2Objects(bucket))),
    Layer.provide(edgeCrypto)
  )

/** Delivery reports to the bounce address; their alerts go out through the API. */
const edgeReturnedMails = ({
  database,
  settings
}: MailWorkerParts): Layer.Layer<ReturnedMails.ReturnedMails> =>
  ReturnedMails.layer(settings.bounceAddress).pipe(
    Layer.provide(ReturnReader.layer),
    Layer.provide(EventRecording.layer),
    Layer.provide([
      Layer.provide(DeliveryLog.layer, database),
      InternalAlerts.layer({
        url: settings.events.internalAlertUrl,
        proxySecret: settings.access.proxySharedSecret
      })
    ])
  )

/** All that the worker takes mail with. */
export const edgeMailIntake = (parts: MailWorkerParts) =>
  Layer.merge(edgeConvertByEmail(parts), edgeReturnedMails(parts))
