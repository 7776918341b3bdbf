import { Context, Data, Effect, Layer, Redacted } from "effect"

import type { CustomerId } from "../../domain/ids.ts"
import { pathTo } from "../../domain/pages.ts"
import { TeamInvites } from "../../ports/accounts/accounts.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import type { Mailer } from "../mail/mailer.ts"
import { isOk, makeProductMail } from "./product-mail.ts"

/** The invitation's mail is being sent by another call. */
export class InviteUnderWay extends Data.TaggedError("InviteUnderWay")<{ readonly inviteId: string }> {}

/** The customer was deleted in the meantime. */
export class NoSuchTeam extends Data.TaggedError("NoSuchTeam") {}

/** An invitation, and whether its mail went out (MAIL-3: true only on an `ok` send). */
interface Invitation {
  readonly inviteId: string
  readonly inviteSent: boolean
}

/** Invites people into a customer's team (MAIL-3). */
export class TeamInvitations extends Context.Service<
  TeamInvitations,
  {
    /**
     * Invites an address: `email` is its key, `to` the address as it was written. While the invitation is open, a repeated
     * call returns the same one; its mail goes out again only if it did not before, or was deferred and failed in the end.
     */
    readonly invite: (invite: {
      readonly customerId: CustomerId
      readonly email: string
      readonly to: string
    }) => Effect.Effect<Invitation, StoreUnavailable | InviteUnderWay | NoSuchTeam>
  }
>()("postlane/application/TeamInvitations") {}

/** Team invitations. Their links lead to `baseUrl`, which has no slash at its end. */
export const layer = (options: {
  readonly baseUrl: string
}): Layer.Layer<TeamInvitations, never, Deferrals | TeamInvites | MailTemplates | Mailer> =>
  Layer.effect(
    TeamInvitations,
    Effect.gen(function* () {
      const invites = yield* TeamInvites
      const sendMail = yield* makeProductMail

      return TeamInvitations.of({
        invite: Effect.fnUntraced(function* ({ customerId, email, to }) {
          const begun = yield* invites.begin({ customerId, email })
          if (begun === undefined) return yield* new NoSuchTeam()
          const { inviteId } = begun
          if (begun.todo === "Busy") return yield* new InviteUnderWay({ inviteId })
          if (begun.todo === "Sent") return { inviteId, inviteSent: true }
          const sent = yield* sendMail(
            {
              kind: "team-invite",
              inviter: begun.inviter,
              team: `the team of ${begun.inviter}`,
              url: `${options.baseUrl}${pathTo.invite(Redacted.value(begun.token))}`,
              expiresAt: begun.expiresAt
            },
            {
              to,
              category: "transactional",
              source: "api:team-invite",
              idempotencyKey: begun.mailKey,
              mayWait: true
            }
          )
          const inviteSent = isOk(sent)
          yield* invites
            .end(begun.token, inviteSent)
            .pipe(
              Effect.catch(({ cause }) =>
                Effect.logWarning(
                  "the outcome of an invitation's mail could not be recorded: its lease expires, and a repeated call sends a new link",
                  cause
                )
              )
            )
          return { inviteId, inviteSent }
        })
      })
    })
  )
