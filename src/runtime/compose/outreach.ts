import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import * as MailTemplates from "../../adapters/mail-templates/mail-templates.ts"
import type { WriteSql } from "../../adapters/postgres/client.ts"
import * as Preferences from "../../adapters/postgres/mail/preferences.ts"
import * as CampaignBook from "../../adapters/postgres/outreach/campaign-book.ts"
import type { Mailer } from "../../application/mail/mailer.ts"
import * as CampaignEvents from "../../application/outreach/campaign-events.ts"
import * as Outreach from "../../application/outreach/outreach.ts"
import * as Unsubscribe from "../../application/outreach/unsubscribe.ts"
import { formatMailbox } from "../../domain/mail/address.ts"
import { CampaignBook as Book } from "../../ports/outreach/campaign-book.ts"
import { leaderTicking } from "../process/leadership.ts"
import type { OutreachSettings } from "../settings/settings.ts"

/** The outreach mailbox on the sender domain. */
const MAILBOX = "outreach"

/** How often deferred sends get the final status from the log. */
const SETTLE_INTERVAL = "1 minute"

/** Outreach, its bookkeeping and its unsubscribe links. */
export const outreach = (
  settings: OutreachSettings
): Layer.Layer<
  Outreach.Outreach | CampaignEvents.CampaignEvents | Unsubscribe.Unsubscribing | Book,
  never,
  Mailer | WriteSql
> => {
  const config = Layer.succeed(Outreach.OutreachConfig, {
    from: formatMailbox({
      name: settings.sending.from.name,
      local: MAILBOX,
      domain: settings.domains.sender
    }),
    configurationSet: settings.providerB.outreachConfigurationSet,
    baseUrl: settings.http.baseUrl,
    footer: settings.providerB.outreachFooter
  })
  return Layer.mergeAll(Outreach.layer, CampaignEvents.layer).pipe(
    Layer.provideMerge(Unsubscribe.layer),
    Layer.provideMerge(CampaignBook.layer),
    Layer.provide([
      config,
      CampaignBook.layerUnsubscribes,
      Preferences.layer,
      MailTemplates.layer,
      Mac.layerWebCrypto
    ]),
    Layer.provide(NodeCrypto.layer)
  )
}

/** The leader notes how deferred outreach sends ended. */
export const outreachDuties = leaderTicking(
  "outreach-ends",
  SETTLE_INTERVAL,
  Book.use(({ settle }) => settle)
)
