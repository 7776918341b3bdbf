import { Schema, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { type UnsubscribeSubject, Unsubscribing } from "../../../../application/outreach/unsubscribe.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { acceptsPages, pageResponse } from "../../pages/html-page.ts"
import type { Html } from "../../pages/html.ts"
import { askPage, donePage, unknownPage, UNSUBSCRIBE_POLICY } from "../../pages/link-pages.ts"
import { apiOf, openQuery, Page } from "../../server/endpoint.ts"
import { problem, problemSchema } from "../../server/problem.ts"
import { RateLimited, RequestsPerMinute } from "../../server/rate-limit.ts"

/** High, because a mail service unsubscribes all of its users from a few addresses. */
const A_MINUTE = 600

const PATH = "/unsubscribe/:token"

const answers = {
  params: { token: Schema.String },
  success: Page,
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
  .middleware(RateLimited)
  .annotateEndpointsMerge(openQuery) {}

/** A person's browser gets a page, a program a problem. */
const unknown = (request: HttpServerRequest.HttpServerRequest) =>
  acceptsPages(request)
    ? Effect.succeed(pageResponse(unknownPage, { policy: UNSUBSCRIBE_POLICY, status: 404 }))
    : Effect.fail(problem("NOT_FOUND", "This is no unsubscribe link of ours"))

/** The page for the link's address, if it is a link of ours. */
const answer = (
  request: HttpServerRequest.HttpServerRequest,
  subject: UnsubscribeSubject | undefined,
  page: (email: string) => Html
) =>
  subject === undefined
    ? unknown(request)
    : Effect.succeed(pageResponse(page(subject.email), { policy: UNSUBSCRIBE_POLICY }))

const away = (error: StoreUnavailable) =>
  Effect.logError("an unsubscribe link cannot be answered", error).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "Nothing was changed; please try again")))
  )

/** `/unsubscribe/:token`. */
export const unsubscribeHandlers = HttpApiBuilder.group(
  apiOf(UnsubscribeGroup),
  "unsubscribe",
  Effect.fnUntraced(function* (handlers) {
    const unsubscribing = yield* Unsubscribing
    return handlers.handleAll({
      show: ({ params, request }) =>
        unsubscribing.verify(params.token).pipe(
          Effect.catch(away),
          Effect.flatMap((subject) => answer(request, subject, askPage))
        ),
      unsubscribe: ({ params, request }) =>
        unsubscribing.unsubscribe(params.token).pipe(
          Effect.catch(away),
          Effect.flatMap((subject) => answer(request, subject, donePage))
        )
    })
  })
)
