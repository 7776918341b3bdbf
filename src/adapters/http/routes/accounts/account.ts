import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { AccountClosing } from "../../../../domain/accounts/account-closing.ts"
import { Accounts } from "../../../../ports/accounts/accounts.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { apiOf } from "../../server/endpoint.ts"
import { problem, unavailable } from "../../server/problem.ts"

const AccountAnswer = Schema.Struct({
  account: Schema.Struct({
    id: Schema.String,
    email: Schema.String,
    name: Schema.NullOr(Schema.String),
    planType: Schema.Literals(["free", "paid"]),
    creditsRemaining: Schema.NullOr(Schema.Int),
    freePagesLeft: Schema.NullOr(Schema.Int),
    heldCredits: Schema.Int
  })
}).annotate({ identifier: "Account" })

/** The caller's account. */
export class AccountGroup extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("showAccount", "/api/v1/account", { success: AccountAnswer }).annotateMerge(
      OpenApi.annotations({
        summary: "The account and what is left on it",
        description:
          "`creditsRemaining` (paid plan) and `freePagesLeft` (free plan) are what can be spent now; the other one is null. " +
          "`heldCredits` is set aside for work under way, and not part of them: it is charged when a result is there, and " +
          "comes back where none is. On the free plan it counts pages."
      })
    )
  )
  .add(
    HttpApiEndpoint.delete("closeAccount", "/api/v1/account", {
      success: Schema.Struct({ deleted: Schema.Literal(true), confirmationSent: Schema.Boolean })
        .annotate({ identifier: "AccountClosed" })
        .pipe(HttpApiSchema.status(202))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Deletes the account",
        description:
          "Its tokens, sessions, links and open invitations end at once. A confirmation is mailed; `confirmationSent` says " +
          "whether it went out."
      })
    )
  )
  .middleware(OwnerAccess) {}

const accountClosed = problem("UNAUTHENTICATED", "This account was deleted")
const away = unavailable("accounts cannot be reached", "Accounts cannot be reached now")

/** `/api/v1/account`. */
export const accountHandlers = HttpApiBuilder.group(
  apiOf(AccountGroup),
  "account",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const closing = yield* AccountClosing
    return handlers.handleAll({
      showAccount: Effect.fnUntraced(function* () {
        const { customerId } = yield* CurrentOwner
        const account = yield* accounts.funds(customerId).pipe(Effect.catch(away))
        return account === undefined ? yield* Effect.fail(accountClosed) : { account }
      }),
      closeAccount: () =>
        CurrentOwner.use(({ customerId }) => closing.close(customerId)).pipe(Effect.catch(away))
    })
  })
)
