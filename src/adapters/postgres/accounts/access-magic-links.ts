import { Effect, Layer, Schema } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type { SecureRandom } from "effect/crypto/SecureRandom"

import { makeSecretTokens } from "../../../application/accounts/tokens.ts"
import { Right } from "../../../domain/accounts/principal.ts"
import { MAGIC_LINK_LIFETIME_SECONDS, SESSION_LIFETIME_SECONDS } from "../../../domain/accounts/session.ts"
import { CustomerId } from "../../../domain/ids.ts"
import { MagicLinks, MOST_SIGN_INS, OtherBrowser } from "../../../ports/accounts/access.ts"
import { WriteSql } from "../client.ts"
import { Absent, Millis, storable } from "../values.ts"
import { ask } from "./access.ts"

const Claimed = Schema.Struct({ customerId: CustomerId })
const Begun = Schema.Struct({ linkId: Schema.String })
const Redeemed = Schema.Union([
  Schema.Struct({
    otherBrowser: Schema.Literal(false),
    customerId: Absent(CustomerId),
    actor: Schema.String,
    rights: Schema.Array(Right),
    expiresAt: Millis
  }),
  Schema.Struct({ otherBrowser: Schema.Literal(true) })
])

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
        request: Effect.fnUntraced(function* ({ browser, email }) {
          const { hash, token } = yield* secrets.mint
          const browserHash = yield* secrets.hash(browser)
          if (browserHash === undefined) return undefined
          const begun = yield* ask.first(
            "beginSignIn",
            Begun,
            sql`select link_id from begin_sign_in(${storable(email)}, decode(${hash}, 'hex'), decode(${browserHash}, 'hex'),
              ${MAGIC_LINK_LIFETIME_SECONDS}, ${MOST_SIGN_INS})`
          )
          return begun && { id: begun.linkId, token }
        }),
        redeem: Effect.fnUntraced(function* (text, browser) {
          const hash = yield* secrets.hash(text)
          if (hash === undefined) return undefined
          const browserHash = browser === undefined ? undefined : yield* secrets.hash(browser)
          const session = yield* secrets.mint
          const row = yield* ask.first(
            "redeemMagicLink",
            Redeemed,
            sql`select customer_id, actor, rights, expires_at, other_browser from redeem_magic_link(decode(${hash}, 'hex'),
              decode(${browserHash ?? null}, 'hex'), decode(${session.hash}, 'hex'), ${SESSION_LIFETIME_SECONDS})`
          )
          if (row === undefined) return undefined
          if (row.otherBrowser) return yield* new OtherBrowser()
          const { actor, customerId, expiresAt, rights } = row
          return {
            principal: { actor, customerId, rights, via: "session" },
            cookie: session.token,
            expiresAt
          }
        })
      })
    })
  )
