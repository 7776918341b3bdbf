import { Context, Data } from "effect"
import type { Effect } from "effect"

/** Accounts cannot be changed now. */
export class AccountsUnavailable extends Data.TaggedError("AccountsUnavailable")<{
  readonly cause: unknown
}> {}

/** Ends of accounts. */
export class Accounts extends Context.Service<
  Accounts,
  {
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
