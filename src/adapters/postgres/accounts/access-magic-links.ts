import { Effect, Layer, Schema } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import { MAGIC_LINK_LIFETIME_SECONDS, SESSION_LIFETIME_SECONDS } from "../../../domain/accounts/session.ts"
import { makeSecretTokens } from "../../../domain/accounts/tokens.ts"
import { CustomerId } from "../../../domain/ids.ts"
import { MagicLinks } from "../../../ports/accounts/access.ts"
import { WriteSql } from "../client.ts"
import { Millis } from "../values.ts"
import { ask } from "./access.ts"

const Claimed = Schema.Struct({ customerId: CustomerId })
const SessionRow = Schema.Struct({ customerId: CustomerId, actor: Schema.String, expiresAt: Millis })

/** Promotions and magic links in Postgres. `anyPromo`: a promotion that the table does not name counts as running. */
export const layer = (options: {
  readonly anyPromo: boolean
}): Layer.Layer<MagicLinks, never, WriteSql | Digest | SecureRandom> =>
  Layer.effect(
    MagicLinks,
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const secrets = yield* makeSecretTokens
      return MagicLinks.of({
        claim: Effect.fnUntraced(function* ({ email, promo }) {
          const { hash, token } = yield* secrets.mint
          const claimed = yield* ask.first(
            "claimPromo",
            Claimed,
            sql`select customer_id from claim_promo(${promo}, ${options.anyPromo}, ${email}, decode(${hash}, 'hex'),
              ${MAGIC_LINK_LIFETIME_SECONDS})`
          )
          return claimed && token
        }),
        redeem: Effect.fnUntraced(function* (text) {
          const hash = yield* secrets.hash(text)
          if (hash === undefined) return undefined
          const session = yield* secrets.mint
          const row = yield* ask.first(
            "redeemMagicLink",
            SessionRow,
            sql`select customer_id, actor, expires_at from redeem_magic_link(decode(${hash}, 'hex'),
              decode(${session.hash}, 'hex'), ${SESSION_LIFETIME_SECONDS})`
          )
          if (row === undefined) return undefined
          const { actor, customerId, expiresAt } = row
          return {
            principal: { actor, customerId, rights: ["owner"], via: "session" },
            cookie: session.token,
            expiresAt
          }
        })
      })
    })
  )
