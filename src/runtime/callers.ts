import { NodeCrypto } from "@effect/platform-node"
import { Layer } from "effect"

import * as MailTemplates from "../adapters/parse5/mail-templates.ts"
import * as Accounts from "../adapters/postgres/accounts.ts"
import * as ContactMessages from "../adapters/postgres/contact-messages.ts"
import * as TeamInvites from "../adapters/postgres/team-invites.ts"
import * as AccountClosing from "../domain/callers/account-closing.ts"
import * as ContactForms from "../domain/callers/contact-forms.ts"
import * as Receipts from "../domain/callers/receipts.ts"
import * as TeamInvitations from "../domain/callers/team-invitations.ts"
import { leaderTicking } from "./leadership.ts"
import type { Settings } from "./settings.ts"

/**
 * Who sends the product's own mail (document 1), and the mails themselves. Where no real provider could carry a mail away
 * and `ALERT_EMAIL` is unset, messages of the forms go to `alerts@{SENDER_DOMAIN}`, that is into the outbox.
 */
export const callers = (settings: Settings, options: { readonly onlySimulated: boolean }) => {
  const fallback = options.onlySimulated ? `alerts@${settings.domains.sender}` : undefined
  return Layer.mergeAll(
    ContactForms.layer({ alertEmail: settings.alerts.email ?? fallback }),
    TeamInvitations.layer({ baseUrl: settings.http.baseUrl }),
    AccountClosing.layer,
    Receipts.layer
  ).pipe(
    Layer.provideMerge(ContactMessages.layer),
    Layer.provideMerge(Accounts.layer),
    Layer.provideMerge(Layer.merge(Layer.provide(TeamInvites.layer, NodeCrypto.layer), MailTemplates.layer))
  )
}

/** The leader sees to notifications of the forms that did not go out. */
export const contactSweepTicks = leaderTicking(
  "contact-sweep",
  ContactForms.CONTACT_SWEEP_INTERVAL,
  ContactForms.ContactForms.use(({ sweep }) => sweep)
)
