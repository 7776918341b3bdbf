import { NodeCrypto } from "@effect/platform-node"
import { Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import * as MailTemplates from "../adapters/parse5/mail-templates.ts"
import * as CampaignBook from "../adapters/postgres/campaign-book.ts"
import type { WriteSql } from "../adapters/postgres/client.ts"
import * as Unsubscribes from "../adapters/postgres/unsubscribes.ts"
import { formatMailbox } from "../domain/mail/address.ts"
import type { Mailer } from "../domain/mail/mailer.ts"
import * as CampaignEvents from "../domain/outreach/campaign-events.ts"
import * as Outreach from "../domain/outreach/outreach.ts"
import * as Unsubscribe from "../domain/outreach/unsubscribe.ts"
import type { Settings } from "./settings.ts"

/** The outreach mailbox on the sender domain. */
const MAILBOX = "outreach"

/** Outreach, its bookkeeping and its unsubscribe links. */
export const outreach = (
  settings: Pick<Settings, "domains" | "http" | "providerB" | "sending">
): Layer.Layer<
  Outreach.Outreach | CampaignEvents.CampaignEvents | Unsubscribe.Unsubscribing,
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
    Layer.provide([config, CampaignBook.layer, Unsubscribes.layer, MailTemplates.layer, Mac.layerWebCrypto]),
    Layer.provide(NodeCrypto.layer)
  )
}
