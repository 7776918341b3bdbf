import { Context, Effect, Layer } from "effect"

import type { CustomerId } from "../../domain/ids.ts"
import { Accounts } from "../../ports/accounts/accounts.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import type { Mailer } from "../mail/mailer.ts"
import { isOk, makeProductMail } from "./product-mail.ts"

/** Closes accounts, confirmed by a mail of category `auth` (MAIL-6). */
export class AccountClosing extends Context.Service<
  AccountClosing,
  {
    /** Closes it and confirms that by mail, once; the account is closed even if the mail does not go out. */
    readonly close: (
      customerId: CustomerId
    ) => Effect.Effect<{ readonly deleted: true; readonly confirmationSent: boolean }, StoreUnavailable>
  }
>()("postlane/application/AccountClosing") {}

/** The service, on the ports in its context. */
export const layer: Layer.Layer<AccountClosing, never, Accounts | Deferrals | MailTemplates | Mailer> =
  Layer.effect(
    AccountClosing,
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const sendMail = yield* makeProductMail
      return AccountClosing.of({
        close: Effect.fnUntraced(function* (customerId) {
          const closed = yield* accounts.close(customerId)
          if (closed === undefined) return { deleted: true, confirmationSent: false }
          const { deletedAt, email } = closed
          const sent = yield* sendMail(
            { kind: "account-deleted", email, deletedAt },
            {
              to: email,
              category: "auth",
              source: "api:account",
              idempotencyKey: `account-deleted:${customerId}:${deletedAt}`
            }
          )
          return { deleted: true, confirmationSent: isOk(sent) }
        })
      })
    })
  )
