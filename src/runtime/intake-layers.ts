import { NodeCrypto } from "@effect/platform-node"
import { Duration, Layer } from "effect"
import type { Digest } from "effect/crypto/Digest"
import * as Mac from "effect/crypto/Mac"

import * as Gmail from "../adapters/gmail/gmail-replies.ts"
import * as MailTemplates from "../adapters/parse5/mail-templates.ts"
import * as MailReader from "../adapters/postal-mime/mail-reader.ts"
import * as PostgresIntake from "../adapters/postgres/intake/intake-store.ts"
import * as ReadPages from "../domain/conversion/read-pages.ts"
import * as ConvertByEmail from "../domain/intake/convert-by-email.ts"
import * as InProcessPipeline from "../domain/intake/in-process-pipeline.ts"
import { IntakeConfig } from "../domain/intake/intake-config.ts"
import * as LibraryReplies from "../domain/intake/library-replies.ts"
import type { AuthenticityRules } from "../domain/intake/sender-authenticity.ts"
import { addressKey, addressOf, formatMailbox } from "../domain/mail/address.ts"
import type { Mailer } from "../domain/mail/mailer.ts"
import { FileObjects, MailObjects } from "../ports/object-store.ts"
import type { ReplyChannel } from "../ports/reply-channel.ts"
import type { Settings } from "./settings.ts"

/** The mailbox of convert-by-email, on the legacy and on the inbound domain. */
const CONVERT = "convert"

/** A reply that is being sent is left alone for so long; longer than one send through the library or the workspace API. */
const REPLY_HOLD = Duration.seconds(60)

/** Where people write to, and Reply-To of the replies. */
export const convertAddress = ({ domains }: Pick<Settings, "domains">): string =>
  `${CONVERT}@${domains.legacy}`

/** Addresses that mail is taken for. */
export const intakeRecipients = ({ domains }: Pick<Settings, "domains">): ReadonlySet<string> =>
  new Set([`${CONVERT}@${domains.legacy}`, `${CONVERT}@${domains.inbound}`])

/** Whose word about senders is taken. */
export const authenticityRules = ({ embedded, intake }: Settings): AuthenticityRules => ({
  trustedHops: intake.trustedHops.map((hop) => hop.toLowerCase()),
  trustsLoopback: embedded && intake.trustedHops.length === 0
})

const config = (settings: Settings) =>
  Layer.succeed(IntakeConfig, {
    convertAddress: convertAddress(settings),
    ownAddresses: new Set([
      ...intakeRecipients(settings),
      addressKey(settings.sending.from),
      `noreply@${settings.domains.sender}`,
      ...(settings.intake.mailApi.sender === undefined
        ? []
        : [addressOf(settings.intake.mailApi.sender).toLowerCase()])
    ]),
    authenticity: authenticityRules(settings),
    registerUrl: `${settings.http.baseUrl}/#register`,
    buyUrl: `${settings.http.baseUrl}/#credits`,
    baseUrl: settings.http.baseUrl,
    heartbeat: Duration.millis(settings.conversion.heartbeatIntervalMs),
    replyHold: REPLY_HOLD
  })

/** How replies go out: through the workspace mail API, or through the library. */
export const replyChannel = (settings: Settings): Layer.Layer<ReplyChannel, never, Mailer | Digest> => {
  const { mailApi, replyChannel: channel } = settings.intake
  if (channel === "workspace" && mailApi.serviceAccountKey !== undefined) {
    return Gmail.layer({
      serviceAccountKey: mailApi.serviceAccountKey,
      mailbox: mailApi.sender === undefined ? convertAddress(settings) : addressOf(mailApi.sender),
      name: mailApi.sender?.name ?? settings.sending.from.name,
      replyTo: convertAddress(settings),
      baseUrl: mailApi.baseUrl,
      authUrl: mailApi.authUrl
    })
  }
  return LibraryReplies.layer({
    from: formatMailbox({
      name: settings.sending.from.name,
      local: "noreply",
      domain: settings.domains.sender
    }),
    replyTo: convertAddress(settings)
  })
}

/** The pipeline in this process, on the store of mails under way. */
const pipeline = InProcessPipeline.layer.pipe(
  Layer.provide(
    // A layer of its own: the files' one reads from another store.
    Layer.fresh(ReadPages.layer).pipe(Layer.provide(Layer.effect(FileObjects, MailObjects)))
  )
)

/** Convert-by-email, its replies beside it. */
export const convertByEmail = (settings: Settings) =>
  ConvertByEmail.layer.pipe(
    Layer.provideMerge(replyChannel(settings)),
    Layer.provide([
      pipeline,
      config(settings),
      PostgresIntake.layer,
      MailReader.layer,
      MailTemplates.layer,
      Mac.layerWebCrypto,
      NodeCrypto.layer
    ])
  )
