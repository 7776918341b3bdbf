import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, type Redacted } from "effect"

import * as MailTemplates from "../../adapters/mail-templates/mail-templates.ts"
import * as Allowances from "../../adapters/memory/allowances.ts"
import * as PostgresMagicLinks from "../../adapters/postgres/accounts/access-magic-links.ts"
import * as PostgresAccess from "../../adapters/postgres/accounts/access.ts"
import * as Accounts from "../../adapters/postgres/accounts/accounts.ts"
import * as PostgresAdmins from "../../adapters/postgres/accounts/admins.ts"
import * as AuditLog from "../../adapters/postgres/accounts/audit-log.ts"
import * as ContactMessages from "../../adapters/postgres/accounts/contact-messages.ts"
import * as Customers from "../../adapters/postgres/accounts/customers.ts"
import * as RequestKeys from "../../adapters/postgres/accounts/request-keys.ts"
import * as SharedAllowances from "../../adapters/postgres/accounts/shared-allowances.ts"
import * as TeamInvites from "../../adapters/postgres/accounts/team-invites.ts"
import * as SenderTokens from "../../adapters/postgres/mail/sender-tokens.ts"
import * as RedisAllowances from "../../adapters/redis/shared-allowances.ts"
import * as AccountClosing from "../../application/accounts/account-closing.ts"
import * as AdminInvitations from "../../application/accounts/admin-invitations.ts"
import * as ContactForms from "../../application/accounts/contact-forms.ts"
import * as PromoClaims from "../../application/accounts/promo-claims.ts"
import * as Receipts from "../../application/accounts/receipts.ts"
import * as RepeatableCalls from "../../application/accounts/repeatable-calls.ts"
import * as SignIn from "../../application/accounts/sign-in.ts"
import * as TeamInvitations from "../../application/accounts/team-invitations.ts"
import * as SenderAccess from "../../application/send-queue/sender-access.ts"
import type { Right } from "../../domain/accounts/principal.ts"
import { Access } from "../../ports/accounts/access.ts"
import { leaderTicking } from "../process/leadership.ts"
import { CannotStart } from "../process/run-program.ts"
import type { AccountSettings } from "../settings/settings.ts"

/** Credits that the dev owner starts with. */
const DEV_OWNER_CREDITS = 100_000

/**
 * Access by the tables. In an embedded run dev tokens are valid, and every promotion that `promos` does not name is
 * active.
 */
const stored = (settings: AccountSettings) =>
  Layer.mergeAll(
    PostgresAccess.layer({ embedded: settings.embedded }),
    PostgresMagicLinks.layer({ anyPromo: settings.embedded }),
    PostgresAdmins.layer,
    SenderTokens.layer
  ).pipe(Layer.provide(NodeCrypto.layer))

/** Stores the two dev tokens of an embedded run. */
const devTokens = ({ access, domains, embedded }: AccountSettings) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      if (!embedded) return
      const { keepDevToken } = yield* Access
      const keep = (
        name: string,
        token: Redacted.Redacted | undefined,
        rights: ReadonlyArray<Right>,
        owner?: string
      ) =>
        token === undefined
          ? Effect.void
          : keepDevToken({
              name,
              token,
              rights,
              owner:
                owner === undefined
                  ? undefined
                  : { email: owner, name: "Dev Owner", credits: DEV_OWNER_CREDITS }
            })
      yield* keep("dev admin", access.adminToken, ["admin"])
      yield* keep("dev owner", access.ownerToken, ["owner"], `owner@${domains.sender}`)
    }).pipe(
      Effect.mapError(
        ({ reason }) => new CannotStart({ message: `The dev tokens cannot be stored: ${reason}` })
      )
    )
  )

/** Access: tokens, sessions, magic links. */
export const access = (settings: AccountSettings) => Layer.provideMerge(devTokens(settings), stored(settings))

/** Claims of promotions, sign-ins and invitations of admins. Their links lead to this server's address. */
const linkMails = ({ http: { baseUrl } }: AccountSettings) =>
  Layer.provide(
    Layer.mergeAll(
      PromoClaims.layer({ baseUrl }),
      SignIn.layer({ baseUrl }),
      AdminInvitations.layer({ baseUrl })
    ),
    MailTemplates.layer
  )

/**
 * The sender of the product's own mail, and the mails themselves. Where no real provider is configured and `ALERT_EMAIL` is
 * unset, messages of the forms go to `alerts@{SENDER_DOMAIN}`, that is into the outbox.
 */
const callers = (settings: AccountSettings, options: { readonly onlySimulated: boolean }) => {
  const fallback = options.onlySimulated ? `alerts@${settings.domains.sender}` : undefined
  return Layer.mergeAll(
    ContactForms.layer({ alertEmail: settings.alerts.email ?? fallback }),
    TeamInvitations.layer({ baseUrl: settings.http.baseUrl }),
    AccountClosing.layer,
    Receipts.layer,
    Layer.provide(RepeatableCalls.layer, [RequestKeys.layer, NodeCrypto.layer])
  ).pipe(
    Layer.provideMerge(ContactMessages.layer),
    Layer.provideMerge(Layer.merge(Accounts.layer, Customers.layer)),
    Layer.provideMerge(Layer.merge(Layer.provide(TeamInvites.layer, NodeCrypto.layer), MailTemplates.layer))
  )
}

/** The leader resends notifications of the forms that did not go out. */
export const accountDuties = leaderTicking(
  "contact-sweep",
  ContactForms.CONTACT_SWEEP_INTERVAL,
  ContactForms.ContactForms.use(({ sweep }) => sweep)
)

/** What limits of all processes are counted in. */
const allowances = ({ access: { redisUrl } }: AccountSettings) =>
  Layer.provideMerge(
    Allowances.layer,
    redisUrl === undefined ? SharedAllowances.layer : RedisAllowances.layer(redisUrl)
  )

/** Access, the product's own mail to its users, forms, teams, receipts and promotions. */
export const accounts = (settings: AccountSettings, options: { readonly onlySimulated: boolean }) =>
  Layer.mergeAll(linkMails(settings), callers(settings, options), SenderAccess.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(access(settings), AuditLog.layer, AuditLog.layerNotes, allowances(settings))
    )
  )
