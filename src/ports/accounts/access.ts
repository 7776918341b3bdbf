import { Context, Data, type Effect, type Redacted } from "effect"

import type { AdminRight, Principal, Right } from "../../domain/accounts/principal.ts"
import type { CustomerId } from "../../domain/ids.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A token cannot be made like this: without a right, without a name, or `owner` without its customer. */
export class InvalidToken extends Data.TaggedError("InvalidToken")<{ readonly message: string }> {}

/** The properties of a new token. */
export interface NewToken {
  /** The actor in audit rows. */
  readonly name: string
  /** At least one; `owner` needs a `customerId`. */
  readonly rights: ReadonlyArray<Right>
  readonly customerId?: CustomerId | undefined
  /** Milliseconds of the epoch; never where it is missing. */
  readonly expiresAt?: number | undefined
}

/** A valid token, without its text. Times are milliseconds of the epoch. */
export interface ListedToken {
  readonly id: string
  readonly name: string
  readonly rights: ReadonlyArray<Right>
  readonly customerId: CustomerId | undefined
  readonly createdAt: number
  /** To the minute; `undefined` for never. */
  readonly lastUsedAt: number | undefined
  readonly expiresAt: number | undefined
}

/** A session that has begun, and its first cookie. */
export interface BegunSession {
  readonly principal: Principal
  readonly cookie: Redacted.Redacted
  /** Milliseconds of the epoch. */
  readonly expiresAt: number
}

/** A session that has not ended. Times are milliseconds of the epoch. */
export interface ListedSession {
  readonly actor: string
  /** `token`: it was begun with a token, and ends with it; `mail`: with a link. */
  readonly by: "token" | "mail"
  readonly createdAt: number
  readonly expiresAt: number
}

/** The principal of a cookie, and the next cookie where it is time to rotate. */
interface SessionUse {
  readonly principal: Principal
  readonly renewed: Redacted.Redacted | undefined
  /** Milliseconds of the epoch. */
  readonly expiresAt: number
}

/**
 * Authenticates callers by bearer token or session cookie. Only hashes are stored. Nothing is cached: a revocation takes
 * effect at once, in all processes.
 */
export class Access extends Context.Service<
  Access,
  {
    /** The principal of a bearer token; `undefined` when it is unknown, revoked or expired, or its customer is gone. */
    readonly byToken: (token: string) => Effect.Effect<Principal | undefined, StoreUnavailable>
    /** The principal of a session cookie. */
    readonly bySession: (cookie: string) => Effect.Effect<SessionUse | undefined, StoreUnavailable>
    /** Begins a session with the rights of a bearer token, which ends with the token; `undefined` as `byToken`. */
    readonly beginSession: (token: string) => Effect.Effect<BegunSession | undefined, StoreUnavailable>
    /** Ends the session of a cookie; false without such a session. */
    readonly endSession: (cookie: string) => Effect.Effect<boolean, StoreUnavailable>
    /** Where a customer is signed in: the sessions that have not ended, newest first. */
    readonly sessionsOf: (
      customerId: CustomerId
    ) => Effect.Effect<ReadonlyArray<ListedSession>, StoreUnavailable>
    /** Makes a token. Its text is returned only here and stored nowhere. Writes one audit row, both or neither. */
    readonly createToken: (
      token: NewToken,
      /** The admin; `cli` where it is missing. */
      actor?: string
    ) => Effect.Effect<
      { readonly id: string; readonly token: Redacted.Redacted },
      StoreUnavailable | InvalidToken
    >
    /** The tokens that are valid here, newest first. */
    readonly listTokens: Effect.Effect<ReadonlyArray<ListedToken>, StoreUnavailable>
    /** The tokens of one customer. */
    readonly tokensOf: (customerId: CustomerId) => Effect.Effect<ReadonlyArray<ListedToken>, StoreUnavailable>
    /**
     * Revokes a token and the sessions begun with it; false where no valid token has this id. Writes one audit row where it revokes one,
     * both or neither.
     */
    readonly revokeToken: (id: string, actor?: string) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Stores a dev token from the settings, replacing the one of this name; it is valid for embedded processes only. A dev
     * owner is a paid customer, created with `credits` where missing.
     */
    readonly keepDevToken: (token: {
      readonly name: string
      readonly token: Redacted.Redacted
      readonly rights: ReadonlyArray<Right>
      readonly owner?: { readonly email: string; readonly name: string; readonly credits: number } | undefined
    }) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/ports/Access") {}

/** A sign-in link was opened in another browser than the one that asked for it; it is not used up. */
export class OtherBrowser extends Data.TaggedError("OtherBrowser") {}

/** The magic links that promotions and sign-ins mail (DOC-52, DOC-54). */
export class MagicLinks extends Context.Service<
  MagicLinks,
  {
    /**
     * Records a claim: creates the customer on the first one (free plan) and a link's token. `undefined`: no such
     * promotion. `email` is the key of an address, lower-case.
     */
    readonly claim: (claim: {
      readonly promo: string
      readonly email: string
    }) => Effect.Effect<Redacted.Redacted | undefined, StoreUnavailable>
    /**
     * A link that signs in where the cookie `browser` is. `undefined`: the address belongs to no admin and no customer with an
     * open account, or has asked for {@link MOST_SIGN_INS} within an hour. A browser in which this person has signed in by a link
     * before has a separate allowance of the same size: requests by others in the person's name do not use it up.
     */
    readonly request: (person: {
      readonly email: string
      readonly browser: string
    }) => Effect.Effect<
      { readonly id: string; readonly token: Redacted.Redacted } | undefined,
      StoreUnavailable
    >
    /**
     * Redeems a link, once even under races, and begins a session; `undefined`: unknown, used or expired. `browser`: the
     * cookie of the browser that opened it.
     */
    readonly redeem: (
      token: string,
      browser?: string
    ) => Effect.Effect<BegunSession | undefined, StoreUnavailable | OtherBrowser>
  }
>()("postlane/ports/MagicLinks") {}

/**
 * Sign-in links that are mailed to one person within an hour. More than one client may ask for (9): it takes two to use them up,
 * and the allowance of a browser that has signed in before stays untouched.
 */
export const MOST_SIGN_INS = 20

/** Somebody who may sign in as an admin. */
export interface AdminRow {
  readonly email: string
  readonly rights: ReadonlyArray<AdminRight>
  /** The actor who invited them. */
  readonly invitedBy: string
  /** Milliseconds of the epoch. */
  readonly createdAt: number
}

/** The people who sign in as admins by mail (DOC-54). Each change is an entry of the audit log. */
export class Admins extends Context.Service<
  Admins,
  {
    /** By address. */
    readonly list: Effect.Effect<ReadonlyArray<AdminRow>, StoreUnavailable>
    /** `email` is the key of an address. `changed`: they had another right, and their sessions end. */
    readonly invite: (admin: {
      readonly email: string
      readonly right: AdminRight
      readonly actor: string
    }) => Effect.Effect<"invited" | "changed" | "exists", StoreUnavailable>
    /** Removes an admin and ends their sessions and links at once; false without such an admin. */
    readonly remove: (admin: {
      readonly email: string
      readonly actor: string
    }) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("postlane/ports/Admins") {}
