import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { PromoClaims } from "../../../../application/accounts/promo-claims.ts"
import { addressKey, addressOf } from "../../../../domain/mail/address.ts"
import { apiOf, mailboxIn } from "../../server/endpoint.ts"
import { readJson } from "../../server/json-body.ts"
import { bodyDecoder, InvalidRequest, problem, problemSchema, unavailable } from "../../server/problem.ts"
import { RateLimited, RequestLimits, takeOrRefuse } from "../../server/rate-limit.ts"

/** The body of a claim. */
const PromoClaimRequest = Schema.Struct({
  email: Schema.String.check(Schema.isMaxLength(320))
}).annotate({ identifier: "PromoClaimRequest" })

/** Claims of promotions (MAIL-3). */
export class PromoGroup extends HttpApiGroup.make("promo")
  .add(
    HttpApiEndpoint.post("claimPromo", "/api/promo/:promo/claim", {
      params: { promo: Schema.String },
      payload: PromoClaimRequest,
      success: Schema.Struct({
        claimed: Schema.Literal(true),
        emailSent: Schema.Boolean,
        message: Schema.String
      }).annotate({ identifier: "PromoClaim" }),
      error: [
        InvalidRequest,
        problemSchema("NOT_FOUND", {}),
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
        problemSchema("UNAVAILABLE", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Claims a promotion and mails a magic link",
        description:
          "The answer is the same whether or not the address is known. `emailSent` is true only where a provider took the " +
          "mail or its retry is queued; otherwise `message` says how to request a link. One address gets 20 links an hour."
      })
    )
  )
  .middleware(RateLimited) {}

/** Largest body of a claim, bytes. */
const MAX_BODY = 4096

/** How many links one address gets: a stranger must not fill somebody's inbox. */
const LINKS_OF_AN_ADDRESS = { limit: 20, window: "1 hour" } as const

/** The form of a promotion's name; callers may write it in any case. */
const PROMO_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

const unknownPromo = problem("NOT_FOUND", "There is no such promotion")

const decodeClaim = bodyDecoder(PromoClaimRequest)

/** `POST /api/promo/<promo_name>/claim`. Raw: an unknown promotion is a 404 whatever the body is. */
export const promoHandlers = HttpApiBuilder.group(
  apiOf(PromoGroup),
  "promo",
  Effect.fnUntraced(function* (handlers) {
    const claims = yield* PromoClaims
    const limits = yield* RequestLimits
    return handlers.handleRaw(
      "claimPromo",
      Effect.fnUntraced(
        function* ({ params, request }) {
          const promo = params.promo.toLowerCase()
          if (!PROMO_NAME.test(promo)) return yield* Effect.fail(unknownPromo)
          const body = yield* Effect.flatMap(readJson(request, MAX_BODY), decodeClaim)
          const mailbox = yield* mailboxIn("email", body.email)
          const email = addressKey(mailbox)
          yield* takeOrRefuse(limits, { key: `link ${email}`, ...LINKS_OF_AN_ADDRESS })
          const claim = yield* claims.claim({ promo, email, to: addressOf(mailbox) })
          return claim === undefined ? yield* Effect.fail(unknownPromo) : { claimed: true as const, ...claim }
        },
        Effect.catchTag(
          "StoreUnavailable",
          unavailable("a promotion cannot be claimed", "Promotions cannot be claimed now")
        )
      )
    )
  })
)
