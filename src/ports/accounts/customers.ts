import { Context, type Effect } from "effect"

import type { CustomerId } from "../../domain/ids.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"
import type { AccountFunds } from "./accounts.ts"

/** Most rows of one page. */
export const MAX_CUSTOMER_PAGE = 200

/** Most credits of one grant. */
export const MAX_GRANT = 1_000_000

/** Longest name, reference and note, characters. */
export const MAX_CUSTOMER_NAME = 200
export const MAX_REFERENCE = 200
export const MAX_GRANT_NOTE = 1000

/** A customer as admins see it: what can be spent now, and since when the account exists. Times are ISO 8601 in UTC. */
export interface CustomerRow extends AccountFunds {
  readonly createdAt: string
  /** Null while the account is open. */
  readonly closedAt: string | null
}

/** `exists`: nothing was changed. */
type Added = "added" | "reopened" | "exists"

/**
 * `repeated`: the customer was given these credits under this reference before, and nothing was changed. `reference_taken`: the
 * reference was used for another number. `too_many`: no account holds so many. `not_found`: no open account.
 */
export type Granted = "granted" | "repeated" | "reference_taken" | "too_many" | "not_found"

/** `insufficient`: fewer would be left than are set aside for work under way. The others as for {@link Granted}. */
export type Debited = "debited" | "repeated" | "reference_taken" | "insufficient" | "not_found"

/** Credits that an admin gives or takes back. */
export interface CreditMove {
  readonly customerId: CustomerId
  /** 1 to {@link MAX_GRANT}. */
  readonly credits: number
  /** What they are for: the number of an invoice, of a ticket. */
  readonly reference: string
  readonly note: string | undefined
  readonly actor: string
}

/** What admins do with customers; each change is an entry of the audit log, in the same transaction. */
export class Customers extends Context.Service<
  Customers,
  {
    /** `email` is the key of an address. A closed account is opened again. */
    readonly add: (customer: {
      readonly email: string
      readonly name: string | undefined
      readonly actor: string
    }) => Effect.Effect<Added, StoreUnavailable>
    /** By the key of an address; closed accounts too. */
    readonly find: (email: string) => Effect.Effect<CustomerRow | undefined, StoreUnavailable>
    /** Newest first; new rows cause neither repeated nor skipped ones. An erased person is in no page. */
    readonly page: (filter: {
      /** A part of the address or the name, in any case. */
      readonly search?: string | undefined
      /** 1 to {@link MAX_CUSTOMER_PAGE}. */
      readonly limit: number
      readonly cursor?: string | undefined
    }) => Effect.Effect<
      { readonly rows: ReadonlyArray<CustomerRow>; readonly nextCursor: string | null },
      StoreUnavailable | InvalidCursor
    >
    /** Gives credits, once for each reference (DOC-33). The customer is on the paid plan from then on. */
    readonly grant: (grant: CreditMove) => Effect.Effect<Granted, StoreUnavailable>
    /** Takes credits back, once for each reference, which no grant has; never what is set aside. */
    readonly debit: (debit: CreditMove) => Effect.Effect<Debited, StoreUnavailable>
  }
>()("postlane/ports/Customers") {}
