import { Schema, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import type { UnsubscribeSubject } from "../../../../domain/outreach/unsubscribe-token.ts"
import { Unsubscribing } from "../../../../domain/outreach/unsubscribe.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { PAGE_MEDIA_TYPE } from "../../pages/html-page.ts"
import { askPage, donePage, unknownPage, UNSUBSCRIBE_POLICY } from "../../pages/link-pages.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, problem, problemResponse } from "../../server/problem.ts"
import { RateLimited, RequestsPerMinute } from "../query.ts"

const Html = Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE }))

/** High, because a mail service unsubscribes all of its users from a few addresses. */
const A_MINUTE = 600

const PATH = "/unsubscribe/:token"

const answers = {
  params: { token: Schema.String },
  success: Html,
  error: [problemSchema("NOT_FOUND", {}), problemSchema("UNAVAILABLE", {})]
} as const

/** One-click unsubscribing (RFC 8058): the link of outreach mail. There is no sign-in; the token authorises the caller. */
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

const html = (body: string, status = 200) =>
  HttpServerResponse.text(body, {
    status,
    contentType: PAGE_MEDIA_TYPE,
    headers: { "content-security-policy": UNSUBSCRIBE_POLICY }
  })

/** A person's browser gets a page, a program a problem. */
const unknown = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  /\btext\/html\b/i.test(headers["accept"] ?? "")
    ? html(unknownPage, 404)
    : problemResponse(problem("NOT_FOUND", "This is no unsubscribe link of ours"))

/** `/unsubscribe/:token`. */
export const unsubscribeHandlers = HttpApiBuilder.group(
  apiOf(UnsubscribeGroup),
  "unsubscribe",
  Effect.fnUntraced(function* (handlers) {
    const unsubscribing = yield* Unsubscribing

    const answer = (
      request: HttpServerRequest.HttpServerRequest,
      asked: Effect.Effect<UnsubscribeSubject | undefined, StoreUnavailable>,
      page: (email: string) => string
    ) =>
      asked.pipe(
        Effect.map((subject) => (subject === undefined ? unknown(request) : html(page(subject.email)))),
        Effect.catch((error) =>
          Effect.logError("an unsubscribe link cannot be answered", error).pipe(
            Effect.as(problemResponse(problem("UNAVAILABLE", "Nothing was changed; please try again")))
          )
        )
      )

    return handlers
      .handleRaw("show", ({ params, request }) =>
        answer(request, unsubscribing.verify(params.token), askPage)
      )
      .handleRaw("unsubscribe", ({ params, request }) =>
        answer(request, unsubscribing.unsubscribe(params.token), donePage)
      )
  })
)
