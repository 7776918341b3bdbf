import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { PAGE_MEDIA_TYPE } from "../html-page.ts"
import { problemSchema } from "../problem.ts"
import { RateLimited, RequestsPerMinute } from "./rate-limit.ts"
import { Forbidden, InvalidRequest } from "./relay.ts"

const Page = Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE }))
/** What a token is handed over in. */
export const Token = Schema.Struct({ token: Schema.String })
const TokenBody = [Token.pipe(HttpApiSchema.asFormUrlEncoded()), Token] as const

const LinkExpired = problemSchema("LINK_EXPIRED", {})
const refusals = [
  InvalidRequest,
  Forbidden,
  problemSchema("PAYLOAD_TOO_LARGE", {}),
  problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
  problemSchema("UNAVAILABLE", {})
] as const

const pages = "Whoever accepts text/html gets a page, also for a refusal; everybody else a problem."

/** How a person signs in and out (contract, `/auth/magic`; the owner's token is the other way in). */
export class AuthGroup extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.get("showMagicLink", "/auth/magic", {
      query: { token: Schema.optionalKey(Schema.String) },
      success: Page,
      error: [InvalidRequest]
    })
      .annotate(RequestsPerMinute, 120)
      .annotateMerge(
        OpenApi.annotations({
          summary: "The page that a magic link opens: one button",
          description: `Uses nothing up, since mail scanners follow links. ${pages}`
        })
      )
  )
  .add(
    HttpApiEndpoint.post("useMagicLink", "/auth/magic", {
      payload: TokenBody,
      success: Page,
      error: [...refusals, LinkExpired]
    })
      .annotate(RequestsPerMinute, 120)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Uses a magic link up and begins a session",
          description: `Sets the cookie \`postlane_session\`. One use, 15 minutes. Without a body, the query holds the token. ${pages}`
        })
      )
  )
  .add(
    HttpApiEndpoint.get("showSignIn", "/auth/session", { success: Page }).annotate(
      OpenApi.Summary,
      "The page that takes a token in place of a magic link"
    )
  )
  .add(
    HttpApiEndpoint.post("beginSession", "/auth/session", {
      payload: TokenBody,
      success: Page,
      error: [...refusals, problemSchema("UNAUTHENTICATED", {})]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Begins a session with an API token's rights",
        description: `Sets the cookie \`postlane_session\`; the session ends with the token. ${pages}`
      })
    )
  )
  .add(
    HttpApiEndpoint.post("endSession", "/auth/logout", {
      success: Page,
      error: [Forbidden, problemSchema("UNAVAILABLE", {})]
    }).annotate(OpenApi.Summary, "Ends the session and takes its cookie back")
  )
  .middleware(RateLimited) {}
