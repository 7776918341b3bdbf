import { Context, Data } from "effect"
import type { Effect } from "effect"

/** Accounts cannot be changed now. */
export class AccountsUnavailable extends Data.TaggedError("AccountsUnavailable")<{
  readonly cause: unknown
}> {}

/** An account and what can be spent on it now: what live holds set aside is taken off already. */
export interface AccountFunds {
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly planType: "free" | "paid"
  /** Credits of a paid plan; null on the free plan. */
  readonly creditsRemaining: number | null
  /** Pages left of the free plan's lifetime; null on a paid plan. */
  readonly freePagesLeft: number | null
  /** What live holds set aside: credits, or pages of the free plan (1 credit each). */
  readonly heldCredits: number
}

/** Accounts: what is left on them, and their ends. */
export class Accounts extends Context.Service<
  Accounts,
  {
    /** The account and its funds; `undefined` where it is closed. */
    readonly funds: (customerId: string) => Effect.Effect<AccountFunds | undefined, AccountsUnavailable>
    /**
     * Closes the account: sign-ins, tokens, links and open invitations end with it, at once and together. `undefined` where
     * it is closed already.
     */
    readonly close: (
      customerId: string
    ) => Effect.Effect<
      { readonly email: string; /** ISO 8601. */ readonly deletedAt: string } | undefined,
      AccountsUnavailable
    >
    /**
     * Erases a person: takes the address (its key) from the account, the forms and the send log. A suppression of it stays,
     * as a hash that still blocks (P3). False where nothing was known of it.
     */
    readonly erase: (person: {
      readonly email: string
      readonly actor: string
    }) => Effect.Effect<boolean, AccountsUnavailable>
  }
>()("postlane/ports/Accounts") {}
