import { Context, Effect, Layer } from "effect"

import type { AdminRight } from "../../domain/accounts/principal.ts"
import { pathTo } from "../../domain/pages.ts"
import { Admins } from "../../ports/accounts/access.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import type { Mailer } from "../mail/mailer.ts"
import { isOk, makeProductMail } from "./product-mail.ts"

/** Admins invite admins (DOC-54). */
export class AdminInvitations extends Context.Service<
  AdminInvitations,
  {
    /**
     * Lets an address sign in as an admin, and mails that it may. The mail holds no secret: the sign-in proves that the address is
     * theirs. `email` is the key of the address, `to` the address as it was written.
     */
    readonly invite: (invitation: {
      readonly email: string
      readonly to: string
      readonly right: AdminRight
      readonly actor: string
    }) => Effect.Effect<
      { readonly answer: "invited" | "changed" | "exists"; readonly inviteSent: boolean },
      StoreUnavailable
    >
  }
>()("postlane/application/AdminInvitations") {}

/** Invitations that lead to `baseUrl`, which has no slash at its end. */
export const layer = (options: {
  readonly baseUrl: string
}): Layer.Layer<AdminInvitations, never, Admins | Deferrals | MailTemplates | Mailer> =>
  Layer.effect(
    AdminInvitations,
    Effect.gen(function* () {
      const admins = yield* Admins
      const sendMail = yield* makeProductMail
      return AdminInvitations.of({
        invite: Effect.fnUntraced(function* ({ actor, email, right, to }) {
          const answer = yield* admins.invite({ email, right, actor })
          const sent = yield* sendMail(
            {
              kind: "admin-invite",
              inviter: actor,
              readOnly: right === "admin:read",
              url: `${options.baseUrl}${pathTo.signIn({ reason: "admin" })}`
            },
            { to, category: "transactional", source: "api:admin-invite", mayWait: true }
          )
          return { answer, inviteSent: isOk(sent) }
        })
      })
    })
  )
