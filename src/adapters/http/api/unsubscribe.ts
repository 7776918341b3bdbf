import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { PAGE_MEDIA_TYPE } from "../html-page.ts"
import { problemSchema } from "../problem.ts"
import { RateLimited, RequestsPerMinute } from "./rate-limit.ts"

const Html = Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE }))

/** A mail service unsubscribes all of its people from a few addresses of its own. */
const A_MINUTE = 600

const PATH = "/unsubscribe/:token"

const answers = {
  params: { token: Schema.String },
  success: Html,
  error: [problemSchema("NOT_FOUND", {}), problemSchema("UNAVAILABLE", {})]
} as const

/** One-click unsubscribing (RFC 8058): the link of outreach mail. Nobody signs in; the token is what lets a caller pass. */
export class UnsubscribeGroup extends HttpApiGroup.make("unsubscribe")
  .add(
    HttpApiEndpoint.get("show", PATH, answers)
      .annotate(RequestsPerMinute, A_MINUTE)
      .annotateMerge(
        OpenApi.annotations({
          summary: "A page with one button; changes nothing",
          description:
            "Mail scanners follow links: only the button, or a mail service's own POST, unsubscribes."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("unsubscribe", PATH, answers)
      .annotate(RequestsPerMinute, A_MINUTE)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Takes the address off all outreach",
          description:
            "The body is ignored; again, it changes nothing. A token that is none of ours is a 404, and nothing is recorded."
        })
      )
  )
  .middleware(RateLimited) {}
