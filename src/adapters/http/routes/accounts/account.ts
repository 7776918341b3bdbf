import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { AccountClosing } from "../../../../application/accounts/account-closing.ts"
import { Access } from "../../../../ports/accounts/access.ts"
import { Accounts, MAX_MOVES_PAGE } from "../../../../ports/accounts/accounts.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { apiOf, cursor, DEFAULT_PAGE, page } from "../../server/endpoint.ts"
import { invalidCursor, InvalidRequest, problem, Unavailable, unavailable } from "../../server/problem.ts"
import { ListedTokenView, tokenView } from "./tokens.ts"

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

/** What a charge or a hold is for. */
const paidWork = {
  jobId: Schema.NullOr(Schema.String),
  work: Schema.NullOr(Schema.Literals(["conversion", "layout", "mail"])).annotate({
    description: "A conversion, one that keeps the layout, or a mailed document; null where no work was paid."
  }),
  fileId: Schema.NullOr(Schema.String).annotate({
    description: "Null where the file is deleted, or not known any more."
  }),
  name: Schema.NullOr(Schema.String).annotate({ description: "Of the file or the attachment." })
}
const amounts = { credits: Schema.Int, freePages: Schema.Int }

const Move = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["charge", "grant", "debit"]),
  createdAt: Schema.String,
  ...amounts,
  ...paidWork
}).annotate({ identifier: "FundsMove" })

const Hold = Schema.Struct({
  createdAt: Schema.String,
  expiresAt: Schema.String.annotate({ description: "It is renewed while the work goes on." }),
  ...amounts,
  ...paidWork
}).annotate({ identifier: "FundsHold" })

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
    HttpApiEndpoint.get("listCharges", "/api/v1/account/charges", {
      query: { limit: page(DEFAULT_PAGE, MAX_MOVES_PAGE), cursor },
      success: Schema.Struct({
        rows: Schema.Array(Move),
        nextCursor: Schema.NullOr(Schema.String),
        holds: Schema.Array(Hold).annotate({ description: "What is set aside now, newest first." })
      }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "What moved the account's funds, newest first, and what is set aside",
        description:
          "Charges for results, and credits that were added (`grant`) or taken back (`debit`). A conversion that failed or was cancelled " +
          "is not among them: it cost nothing."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("listOwnTokens", "/api/v1/account/tokens", {
      success: Schema.Struct({ tokens: Schema.Array(ListedTokenView) }),
      error: [Unavailable]
    }).annotate(OpenApi.Summary, "The tokens that act for the account, newest first; never their text")
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
    const access = yield* Access
    return handlers.handleAll({
      showAccount: Effect.fnUntraced(function* () {
        const { customerId } = yield* CurrentOwner
        const account = yield* accounts.funds(customerId).pipe(Effect.catch(away))
        return account === undefined ? yield* Effect.fail(accountClosed) : { account }
      }),
      listCharges: Effect.fnUntraced(function* ({ query }) {
        const { customerId } = yield* CurrentOwner
        const holds = yield* accounts.holds(customerId).pipe(Effect.catch(away))
        const { nextCursor, rows } = yield* accounts
          .moves(customerId, { limit: query.limit ?? DEFAULT_PAGE, cursor: query.cursor })
          .pipe(Effect.catchTags({ StoreUnavailable: away, InvalidCursor: () => invalidCursor("list") }))
        return { rows, nextCursor, holds }
      }),
      listOwnTokens: Effect.fnUntraced(function* () {
        const { customerId } = yield* CurrentOwner
        const found = yield* access.tokensOf(customerId).pipe(Effect.catch(away))
        return { tokens: found.map(tokenView) }
      }),
      closeAccount: () =>
        CurrentOwner.use(({ customerId }) => closing.close(customerId)).pipe(Effect.catch(away))
    })
  })
)
