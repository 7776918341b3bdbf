import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { PromoClaims } from "../../../domain/access/promo-claims.ts"
import { addressKey, addressOf, parseMailbox } from "../../../domain/mail/address.ts"
import { Api } from "../api/api.ts"
import { PromoClaimRequest } from "../api/promo.ts"
import { bodyDecoder } from "../decode-body.ts"
import { makeJsonBodies } from "../json-body.ts"
import { invalidRequest, problem, problemResponse } from "../problem.ts"
import { RequestLimits, tooManyResponse } from "../rate-limit.ts"

/** Largest body of a claim, bytes. */
const MAX_BODY = 4096

/** How many links one address gets: a stranger must not fill somebody's inbox. */
const LINKS_OF_AN_ADDRESS = { limit: 20, window: "1 hour" } as const

/** What a promotion is called; callers may write it in any case. */
const PROMO_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

const unknownPromo = problem("NOT_FOUND", "There is no such promotion")

const decodeClaim = bodyDecoder(PromoClaimRequest)

/** `POST /api/promo/<promo_name>/claim`. */
export const promoHandlers = HttpApiBuilder.group(
  Api,
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
        Effect.catchTag("AccessUnavailable", ({ cause }) =>
          Effect.logWarning("a promotion cannot be claimed", cause).pipe(
            Effect.as(problemResponse(problem("UNAVAILABLE", "Promotions cannot be claimed now")))
          )
        ),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )
    )
  })
)
