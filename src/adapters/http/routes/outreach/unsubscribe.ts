import { Schema, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { CHOICES, type Standing, Unsubscribing } from "../../../../application/outreach/unsubscribe.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { acceptsPages, pageResponse } from "../../pages/html-page.ts"
import { unknownPage, UNSUBSCRIBE_POLICY, unsubscribePage } from "../../pages/link-pages.ts"
import { apiOf, filter, openQuery, Page } from "../../server/endpoint.ts"
import { InvalidRequest, problem, problemSchema } from "../../server/problem.ts"
import { RateLimited, RequestsPerMinute } from "../../server/rate-limit.ts"

/** High, because a mail service unsubscribes all of its users from a few addresses. */
const A_MINUTE = 600

const PATH = "/unsubscribe/:token"

const answers = {
  params: { token: Schema.String },
  success: Page,
  error: [problemSchema("NOT_FOUND", {}), problemSchema("UNAVAILABLE", {})]
} as const

/** One-click unsubscribing (RFC 8058): the link of outreach, of marketing and of mail of a list. There is no sign-in; the token authorises the caller. */
export class UnsubscribeGroup extends HttpApiGroup.make("unsubscribe")
  .add(
    HttpApiEndpoint.get("show", PATH, answers)
      .annotate(RequestsPerMinute, A_MINUTE)
      .annotateMerge(
        OpenApi.annotations({
          summary: "A page that says what the address gets, with buttons; changes nothing",
          description:
            "Mail scanners follow links: only the button, or a mail service's own POST, unsubscribes."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("unsubscribe", PATH, {
      ...answers,
      query: { choice: filter(Schema.Literals(CHOICES)) },
      error: [...answers.error, InvalidRequest]
    })
      .annotate(RequestsPerMinute, A_MINUTE)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Takes the address off the link's list, or off all marketing",
          description:
            "`choice` is what the page asks for: `leave` (also where it is absent), `return`, `leave-all`, `return-to-all`. " +
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
const answer = (request: HttpServerRequest.HttpServerRequest, standing: Standing | undefined) =>
  standing === undefined
    ? unknown(request)
    : Effect.succeed(pageResponse(unsubscribePage(standing), { policy: UNSUBSCRIBE_POLICY }))

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
        unsubscribing.look(params.token).pipe(
          Effect.catch(away),
          Effect.flatMap((standing) => answer(request, standing))
        ),
      unsubscribe: ({ params, query, request }) =>
        unsubscribing.choose(params.token, query.choice || "leave").pipe(
          Effect.catch(away),
          Effect.flatMap((standing) => answer(request, standing))
        )
    })
  })
)
