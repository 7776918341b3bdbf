import { Context } from "effect"
import type { Effect, Redacted } from "effect"

import type { AccessUnavailable, BegunSession } from "./access.ts"

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
