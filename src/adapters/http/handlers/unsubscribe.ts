import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import type { UnsubscribeSubject } from "../../../domain/outreach/unsubscribe-token.ts"
import { Unsubscribing } from "../../../domain/outreach/unsubscribe.ts"
import type { UnsubscribesUnavailable } from "../../../ports/unsubscribes.ts"
import { Api } from "../api/api.ts"
import { PAGE_MEDIA_TYPE } from "../html-page.ts"
import { problem, problemResponse } from "../problem.ts"
import { askPage, donePage, unknownPage, UNSUBSCRIBE_POLICY } from "../unsubscribe-page.ts"

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
  Api,
  "unsubscribe",
  Effect.fnUntraced(function* (handlers) {
    const unsubscribing = yield* Unsubscribing

    const answer = (
      request: HttpServerRequest.HttpServerRequest,
      asked: Effect.Effect<UnsubscribeSubject | undefined, UnsubscribesUnavailable>,
      page: (email: string) => string
    ) =>
      asked.pipe(
        Effect.map((subject) => (subject === undefined ? unknown(request) : html(page(subject.email)))),
        Effect.catch(({ cause }) =>
          Effect.logError("an unsubscribe link cannot be answered", cause).pipe(
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
