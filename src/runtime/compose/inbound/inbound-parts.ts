import { Duration, Layer } from "effect"
import type { Digest } from "effect/crypto/Digest"

import * as Gmail from "../../../adapters/gmail/gmail-replies.ts"
import { IntakeConfig } from "../../../application/inbound/intake-config.ts"
import * as LibraryReplies from "../../../application/inbound/library-replies.ts"
import type { Mailer } from "../../../application/mail/mailer.ts"
import type { AuthenticityRules } from "../../../domain/inbound/sender-authenticity.ts"
import { addressKey, addressOf, formatMailbox } from "../../../domain/mail/address.ts"
import { pathTo } from "../../../domain/pages.ts"
import type { ReplyChannel } from "../../../ports/inbound/mails.ts"
import type { Deferrals } from "../../../ports/mail/deferrals.ts"
import type { InboundSettings } from "../../settings/settings.ts"

/** The mailbox of convert-by-email, on the legacy and on the inbound domain. */
const CONVERT = "convert"

/** Where people write to, and Reply-To of the replies. */
export const convertAddress = ({ domains }: Pick<InboundSettings, "domains">): string =>
  `${CONVERT}@${domains.legacy}`

/** Addresses that mail is taken for. */
export const intakeRecipients = ({ domains }: Pick<InboundSettings, "domains">): ReadonlySet<string> =>
  new Set([`${CONVERT}@${domains.legacy}`, `${CONVERT}@${domains.inbound}`])

/** What convert-by-email takes from the settings. */
export const intakeConfig = (settings: InboundSettings, authenticity: AuthenticityRules) =>
  Layer.succeed(IntakeConfig, {
    convertAddress: convertAddress(settings),
    convertAddresses: intakeRecipients(settings),
    ownAddresses: new Set([
      ...intakeRecipients(settings),
      addressKey(settings.sending.from),
      `noreply@${settings.domains.sender}`,
      ...(settings.intake.sender === undefined ? [] : [addressOf(settings.intake.sender).toLowerCase()])
    ]),
    authenticity,
    registerUrl: settings.intake.registerUrl ?? `${settings.http.baseUrl}${pathTo.register}`,
    buyUrl: settings.intake.buyCreditsUrl ?? `${settings.http.baseUrl}${pathTo.credits}`,
    baseUrl: settings.http.baseUrl,
    heartbeat: Duration.millis(settings.conversion.heartbeatIntervalMs)
  })

/** How replies go out: through the workspace mail API, or through the library. */
export const replyChannel = (
  settings: InboundSettings
): Layer.Layer<ReplyChannel, never, Deferrals | Digest | Mailer> => {
  const { authUrl, mailApiUrl, replyChannel: channel, sender, serviceAccountKey } = settings.intake
  if (channel === "workspace" && serviceAccountKey !== undefined) {
    return Gmail.layer({
      serviceAccountKey,
      mailbox: sender === undefined ? convertAddress(settings) : addressOf(sender),
      name: sender?.name ?? settings.sending.from.name,
      replyTo: convertAddress(settings),
      baseUrl: mailApiUrl,
      authUrl
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
