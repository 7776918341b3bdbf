import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { problemSchema } from "../problem.ts"
import { RateLimited } from "./rate-limit.ts"
import { InvalidRequest } from "./relay.ts"

/** The body of a claim. */
export const PromoClaimRequest = Schema.Struct({
  email: Schema.String.check(Schema.isMaxLength(320))
}).annotate({ identifier: "PromoClaimRequest" })

/** Claims of promotions (document 1, "Endpoints"; contract, "Files and conversions"). */
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
