import { Context, Data, type Effect, type Redacted } from "effect"

import type { Principal, Right } from "../../domain/accounts/principal.ts"

/** Who calls cannot be looked up now. */
export class AccessUnavailable extends Data.TaggedError("AccessUnavailable")<{ readonly cause: unknown }> {}

/** A token cannot be made like this: without a right, without a name, or `owner` without its customer. */
export class InvalidToken extends Data.TaggedError("InvalidToken")<{ readonly message: string }> {}

/** What a token is to stand for. */
export interface NewToken {
  /** The actor in audit rows. */
  readonly name: string
  /** At least one; `owner` needs a `customerId`. */
  readonly rights: ReadonlyArray<Right>
  readonly customerId?: string | undefined
  /** Milliseconds of the epoch; never where it is missing. */
  readonly expiresAt?: number | undefined
}

/** A token that is in force, without its text. Times are milliseconds of the epoch. */
export interface ListedToken {
  readonly id: string
  readonly name: string
  readonly rights: ReadonlyArray<Right>
  readonly customerId: string | undefined
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

/** Whom a cookie stands for, and the cookie that follows it, where it is time. */
interface SessionUse {
  readonly principal: Principal
  readonly renewed: Redacted.Redacted | undefined
  /** Milliseconds of the epoch. */
  readonly expiresAt: number
}

/**
 * Who calls, by a bearer token or a session's cookie. Only hashes are stored. Nothing is remembered: what is revoked does
 * not work from then on, in any process.
 */
export class Access extends Context.Service<
  Access,
  {
    /** Whom a bearer token stands for; `undefined` for one that is unknown, revoked or expired, or whose customer is gone. */
    readonly byToken: (token: string) => Effect.Effect<Principal | undefined, AccessUnavailable>
    /** Whom the cookie of a session stands for. */
    readonly bySession: (cookie: string) => Effect.Effect<SessionUse | undefined, AccessUnavailable>
    /** Begins a session with the rights of a bearer token, which ends with the token; `undefined` as `byToken`. */
    readonly beginSession: (token: string) => Effect.Effect<BegunSession | undefined, AccessUnavailable>
    /** Ends the session of a cookie; false where there is none. */
    readonly endSession: (cookie: string) => Effect.Effect<boolean, AccessUnavailable>
    /** Makes a token. Its text is given once, here, and stored nowhere. */
    readonly createToken: (
      token: NewToken
    ) => Effect.Effect<
      { readonly id: string; readonly token: Redacted.Redacted },
      AccessUnavailable | InvalidToken
    >
    /** The tokens that are in force here, newest first. */
    readonly listTokens: Effect.Effect<ReadonlyArray<ListedToken>, AccessUnavailable>
    /** Revokes a token and with it the sessions that it began; false where no token of this id is in force. */
    readonly revokeToken: (id: string) => Effect.Effect<boolean, AccessUnavailable>
    /**
     * Takes a dev token that the settings name, in place of the one of this name before; it is good for embedded processes
     * only. A dev owner is a paid customer, made with `credits` where it is not there yet.
     */
    readonly keepDevToken: (token: {
      readonly name: string
      readonly token: Redacted.Redacted
      readonly rights: ReadonlyArray<Right>
      readonly owner?: { readonly email: string; readonly name: string; readonly credits: number } | undefined
    }) => Effect.Effect<void, AccessUnavailable>
  }
>()("postlane/ports/Access") {}

/** Promotions and the links that they mail (contract, `POST /api/promo/<promo_name>/claim`, `/auth/magic`). */
export class MagicLinks extends Context.Service<
  MagicLinks,
  {
    /**
     * Takes a claim: makes the customer on its first one (free plan) and a link's token. `undefined`: no such promotion.
     * `email` is the key of an address, lower-case.
     */
    readonly claim: (claim: {
      readonly promo: string
      readonly email: string
    }) => Effect.Effect<Redacted.Redacted | undefined, AccessUnavailable>
    /** Uses a link up, once whoever races for it, and begins a session; `undefined`: unknown, used or too old. */
    readonly redeem: (token: string) => Effect.Effect<BegunSession | undefined, AccessUnavailable>
  }
>()("postlane/ports/MagicLinks") {}
