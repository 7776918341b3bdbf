import { Schema, Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { PromoClaims } from "../../../../domain/accounts/promo-claims.ts"
import { addressKey, addressOf, parseMailbox } from "../../../../domain/mail/address.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, invalidRequest, problem, problemResponse } from "../../server/problem.ts"
import { RequestLimits, tooManyResponse } from "../../server/rate-limit.ts"
import { InvalidRequest } from "../mail/relay.ts"
import { RateLimited } from "../query.ts"

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

/** `POST /api/promo/<promo_name>/claim`. */
export const promoHandlers = HttpApiBuilder.group(
  apiOf(PromoGroup),
  "promo",
  Effect.fnUntraced(function* (handlers) {
    const claims = yield* PromoClaims
    const limits = yield* RequestLimits
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("claimPromo", ({ params, request }) =>
      Effect.gen(function* () {
        const promo = params.promo.toLowerCase()
        if (!PROMO_NAME.test(promo)) return problemResponse(unknownPromo)
        const body = yield* bodies.read(request, MAX_BODY).pipe(Effect.flatMap(decodeClaim))
        const parsed = parseMailbox(body.email.trim())
        if (Result.isFailure(parsed)) {
          return problemResponse(invalidRequest([{ path: "email", message: parsed.failure }]))
        }
        const email = addressKey(parsed.success)
        const taken = yield* Effect.result(limits.take({ key: `link ${email}`, ...LINKS_OF_AN_ADDRESS }))
        if (Result.isFailure(taken)) return tooManyResponse(taken.failure)
        const claim = yield* claims.claim({ promo, email, to: addressOf(parsed.success) })
        if (claim === undefined) return problemResponse(unknownPromo)
        return HttpServerResponse.text(JSON.stringify({ claimed: true, ...claim }), {
          contentType: "application/json"
        })
      }).pipe(
        Effect.catchTag("StoreUnavailable", (error) =>
          Effect.logWarning("a promotion cannot be claimed", error).pipe(
            Effect.as(problemResponse(problem("UNAVAILABLE", "Promotions cannot be claimed now")))
          )
        ),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )
    )
  })
)
