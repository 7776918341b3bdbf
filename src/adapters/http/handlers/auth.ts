import { Effect, Option, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { Access, type AccessUnavailable, type BegunSession } from "../../../ports/access.ts"
import { MagicLinks } from "../../../ports/magic-links.ts"
import { Api } from "../api/api.ts"
import { Token } from "../api/auth.ts"
import {
  AUTH_PAGE_POLICY,
  magicLinkPage,
  refusalPage,
  signedInPage,
  signedOutPage,
  signInPage
} from "../auth-page.ts"
import { readForm } from "../form-body.ts"
import { PAGE_MEDIA_TYPE } from "../html-page.ts"
import { makeJsonBodies } from "../json-body.ts"
import { homeOf } from "../pages/home.ts"
import { invalidRequest, problem, type Problem, problemResponse } from "../problem.ts"
import { siteOf } from "../same-site.ts"
import { sessionCookieOf, withoutSessionCookie, withSessionCookie } from "../session-cookie.ts"

/** Largest body of these routes, bytes. */
const MAX_BODY = 4096

/** What a magic link's token looks like. */
const LINK_TOKEN = /^[A-Za-z0-9_-]{43}$/

const decodeToken = Schema.decodeUnknownOption(Token)

const html = (body: string, status = 200) =>
  HttpServerResponse.text(body, {
    status,
    contentType: PAGE_MEDIA_TYPE,
    // Under the policy of all other answers a browser on plain http would say of this page's form that it comes from nowhere.
    headers: { "content-security-policy": AUTH_PAGE_POLICY, "referrer-policy": "same-origin" }
  })

const acceptsPages = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /\btext\/html\b/i.test(headers["accept"] ?? "")

/** A refusal for a person, or for a program. */
const refusal = (request: HttpServerRequest.HttpServerRequest, refused: Problem) =>
  acceptsPages(request)
    ? html(refusalPage(refused.title, refused.detail), refused.status)
    : problemResponse(refused)

const noLink = invalidRequest([
  { path: "token", message: "is none that a link holds; open the whole link from your mail" }
])
const linkOver = problem(
  "LINK_EXPIRED",
  "This link does not work any more: it was used, or it is too old. Request a new one."
)
const noToken = problem("UNAUTHENTICATED", "There is no such token")
const otherSite = problem("FORBIDDEN", "Another site's page may not do this")

const unavailable = ({ cause }: AccessUnavailable) =>
  Effect.logWarning("sessions cannot be looked up or begun", cause).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "This does not answer now; try again in a minute")))
  )

/** `/auth/…`. `baseUrl`: where the pages are served. */
export const authHandlers = ({ baseUrl }: { readonly baseUrl: string }) =>
  HttpApiBuilder.group(
    Api,
    "auth",
    Effect.fnUntraced(function* (handlers) {
      const access = yield* Access
      const links = yield* MagicLinks
      const site = siteOf(baseUrl)
      const bodies = yield* makeJsonBodies

      /**
       * Takes the token of a form, of a JSON object or, without a body, of the query; from a page of our own: a stranger's page
       * could sign its visitor in as the stranger.
       */
      const givenToken = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        if (site(request) !== "own") return yield* Effect.fail(otherSite)
        const type = request.headers["content-type"]
        if (type === undefined) {
          return new URL(request.url, baseUrl).searchParams.get("token") ?? ""
        }
        if (!/^application\/json\b/i.test(type))
          return (yield* readForm(request, MAX_BODY)).get("token") ?? ""
        const given = decodeToken(yield* bodies.read(request, MAX_BODY))
        return Option.isSome(given) ? given.value.token : ""
      })

      const signedIn = ({ cookie, expiresAt, principal }: BegunSession) =>
        withSessionCookie(html(signedInPage(principal.actor, homeOf(principal))), {
          baseUrl,
          cookie,
          expiresAt
        })

      const begin = (
        request: HttpServerRequest.HttpServerRequest,
        redeem: (token: string) => Effect.Effect<BegunSession | undefined, Problem | AccessUnavailable>,
        otherwise: Problem
      ) =>
        givenToken(request).pipe(
          Effect.flatMap(redeem),
          Effect.flatMap((begun) =>
            begun === undefined ? Effect.fail<Problem>(otherwise) : Effect.succeed(signedIn(begun))
          ),
          Effect.catchTag("AccessUnavailable", unavailable),
          Effect.catch((refused) => Effect.succeed(refusal(request, refused)))
        )

      return handlers
        .handleRaw("showMagicLink", ({ query: { token }, request }) =>
          Effect.succeed(
            token !== undefined && LINK_TOKEN.test(token)
              ? html(magicLinkPage(token))
              : refusal(request, noLink)
          )
        )
        .handleRaw("useMagicLink", ({ request }) =>
          begin(
            request,
            (token) => (LINK_TOKEN.test(token) ? links.redeem(token) : Effect.fail(noLink)),
            linkOver
          )
        )
        .handleRaw("showSignIn", () => Effect.succeed(html(signInPage)))
        .handleRaw("beginSession", ({ request }) =>
          begin(request, (token) => access.beginSession(token.trim()), noToken)
        )
        .handleRaw("endSession", ({ request }) =>
          Effect.gen(function* () {
            if (site(request) !== "own") return yield* Effect.fail(otherSite)
            const cookie = sessionCookieOf(request)
            if (cookie !== undefined) yield* access.endSession(cookie)
            return withoutSessionCookie(html(signedOutPage), baseUrl)
          }).pipe(
            Effect.catchTag("AccessUnavailable", unavailable),
            Effect.catch((refused) => Effect.succeed(refusal(request, refused)))
          )
        )
    })
  )
