import { Schema, Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { Access, type BegunSession, MagicLinks } from "../../../../ports/accounts/access.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import {
  AUTH_PAGE_POLICY,
  magicLinkPage,
  refusalPage,
  signedInPage,
  signedOutPage,
  signInPage
} from "../../pages/auth-page.ts"
import { PAGE_MEDIA_TYPE } from "../../pages/html-page.ts"
import { homeOf } from "../../pages/paths.ts"
import { readForm, makeJsonBodies } from "../../server/body.ts"
import { siteOf } from "../../server/credentials.ts"
import { apiOf } from "../../server/group-api.ts"
import {
  problemSchema,
  invalidRequest,
  problem,
  type Problem,
  problemResponse
} from "../../server/problem.ts"
import { sessionCookieOf, withoutSessionCookie, withSessionCookie } from "../../server/session.ts"
import { Forbidden, InvalidRequest } from "../mail/relay.ts"
import { RateLimited, RequestsPerMinute } from "../query.ts"

const Page = Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE }))
/** The body that carries a token. */
const Token = Schema.Struct({ token: Schema.String })
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

/** How a person signs in and out: by magic link (DOC-52) or by the owner's token. */
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

/** Largest body of these routes, bytes. */
const MAX_BODY = 4096

/** The form of a magic link's token. */
const LINK_TOKEN = /^[A-Za-z0-9_-]{43}$/

const decodeToken = Schema.decodeUnknownOption(Token)

const html = (body: string, status = 200) =>
  HttpServerResponse.text(body, {
    status,
    contentType: PAGE_MEDIA_TYPE,
    // Under the referrer policy of all other answers, browsers on plain http would send `Origin: null` with this page's form.
    headers: { "content-security-policy": AUTH_PAGE_POLICY, "referrer-policy": "same-origin" }
  })

const acceptsPages = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /\btext\/html\b/i.test(headers["accept"] ?? "")

/** A refusal: a page for a person, a problem for a program. */
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

const unavailable = (error: StoreUnavailable) =>
  Effect.logWarning("sessions cannot be looked up or begun", error).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "This does not answer now; try again in a minute")))
  )

/** `/auth/…`. `baseUrl`: where the pages are served. */
export const authHandlers = ({ baseUrl }: { readonly baseUrl: string }) =>
  HttpApiBuilder.group(
    apiOf(AuthGroup),
    "auth",
    Effect.fnUntraced(function* (handlers) {
      const access = yield* Access
      const links = yield* MagicLinks
      const site = siteOf(baseUrl)
      const bodies = yield* makeJsonBodies

      /**
       * Takes the token of a form, of a JSON object or, without a body, of the query. Only from our own pages: another
       * site's page could sign its visitor in to an account of its choice.
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
        redeem: (token: string) => Effect.Effect<BegunSession | undefined, Problem | StoreUnavailable>,
        otherwise: Problem
      ) =>
        givenToken(request).pipe(
          Effect.flatMap(redeem),
          Effect.flatMap((begun) =>
            begun === undefined ? Effect.fail<Problem>(otherwise) : Effect.succeed(signedIn(begun))
          ),
          Effect.catchTag("StoreUnavailable", unavailable),
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
            Effect.catchTag("StoreUnavailable", unavailable),
            Effect.catch((refused) => Effect.succeed(refusal(request, refused)))
          )
        )
    })
  )
