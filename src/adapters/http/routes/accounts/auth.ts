import { Schema, Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { Access, type BegunSession, MagicLinks } from "../../../../ports/accounts/access.ts"
import { pageResponse } from "../../pages/html-page.ts"
import { homeOf } from "../../pages/paths.ts"
import {
  AUTH_PAGE_POLICY,
  magicLinkPage,
  refuse,
  signedInPage,
  signedOutPage,
  signInPage
} from "../../pages/sign-in.ts"
import { siteOf, sessionCookieOf, withoutSessionCookie, withSessionCookie } from "../../server/credentials.ts"
import { apiOf, isLinkToken, Page } from "../../server/endpoint.ts"
import { readForm, readJson } from "../../server/json-body.ts"
import {
  Forbidden,
  InvalidRequest,
  invalidRequest,
  problem,
  problemSchema,
  unavailable
} from "../../server/problem.ts"
import { RateLimited, RequestsPerMinute } from "../../server/rate-limit.ts"

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

const pages = "A client that accepts text/html gets a page, also for a refusal; others get a problem."

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

const decodeToken = Schema.decodeUnknownOption(Token)

const noLink = invalidRequest([
  { path: "token", message: "is none that a link holds; open the whole link from your mail" }
])
const linkOver = problem(
  "LINK_EXPIRED",
  "This link does not work any more: it was used, or it is too old. Request a new one."
)
const noToken = problem("UNAUTHENTICATED", "There is no such token")
const otherSite = problem("FORBIDDEN", "Another site's page may not do this")

const away = unavailable(
  "sessions cannot be looked up or begun",
  "This does not answer now; try again in a minute"
)

/** Under the referrer policy of all other answers, browsers on plain http would send `Origin: null` with these pages' forms. */
const HEADERS = { "referrer-policy": "same-origin" }

const html = (body: string) => pageResponse(body, { policy: AUTH_PAGE_POLICY, headers: HEADERS })

/** Where the pages are served, and whose page a request comes from. */
interface Home {
  readonly baseUrl: string
  readonly site: ReturnType<typeof siteOf>
}

/** Refuses another site's page: it could sign its visitor in to an account of its choice. */
const ownSite = ({ site }: Home, request: HttpServerRequest.HttpServerRequest) =>
  site(request) === "own" ? Effect.void : Effect.fail(otherSite)

/** The token of a form, of a JSON object or, without a body, of the query; empty where none holds one. */
const givenToken = Effect.fnUntraced(function* (home: Home, request: HttpServerRequest.HttpServerRequest) {
  yield* ownSite(home, request)
  const type = request.headers["content-type"]
  if (type === undefined) return new URL(request.url, home.baseUrl).searchParams.get("token") ?? ""
  if (!/^application\/json\b/i.test(type)) return (yield* readForm(request, MAX_BODY)).get("token") ?? ""
  return Option.match(decodeToken(yield* readJson(request, MAX_BODY)), {
    onNone: () => "",
    onSome: ({ token }) => token
  })
})

const redeemLink = Effect.fnUntraced(function* (links: MagicLinks["Service"], token: string) {
  if (!isLinkToken(token)) return yield* Effect.fail(noLink)
  return (yield* links.redeem(token)) ?? (yield* Effect.fail(linkOver))
})

const redeemToken = Effect.fnUntraced(function* (access: Access["Service"], token: string) {
  return (yield* access.beginSession(token.trim())) ?? (yield* Effect.fail(noToken))
})

/** The page after a sign-in, with the session's cookie. */
const signedIn = ({ baseUrl }: Home, { cookie, expiresAt, principal }: BegunSession) =>
  withSessionCookie(html(signedInPage(principal.actor, homeOf(principal))), { baseUrl, cookie, expiresAt })

/** Ends the session of the request's cookie. */
const end = Effect.fnUntraced(function* (
  home: Home,
  request: HttpServerRequest.HttpServerRequest,
  access: Access["Service"]
) {
  yield* ownSite(home, request)
  const cookie = sessionCookieOf(request)
  if (cookie !== undefined) yield* access.endSession(cookie)
  return withoutSessionCookie(html(signedOutPage), home.baseUrl)
})

/**
 * `/auth/…`. `baseUrl`: where the pages are served. The two routes that take a token are raw: its body may be a form, JSON or
 * missing, and another site's page is refused before it is read.
 */
export const authHandlers = ({ baseUrl }: { readonly baseUrl: string }) =>
  HttpApiBuilder.group(
    apiOf(AuthGroup),
    "auth",
    Effect.fnUntraced(function* (handlers) {
      const access = yield* Access
      const links = yield* MagicLinks
      const home: Home = { baseUrl, site: siteOf(baseUrl) }
      return handlers
        .handle("showMagicLink", ({ query: { token = "" }, request }) =>
          isLinkToken(token) ? Effect.succeed(html(magicLinkPage(token))) : refuse(request, noLink, HEADERS)
        )
        .handleRaw("useMagicLink", ({ request }) =>
          givenToken(home, request).pipe(
            Effect.flatMap((token) => redeemLink(links, token)),
            Effect.map((begun) => signedIn(home, begun)),
            Effect.catchTag("StoreUnavailable", away),
            Effect.catch((refused) => refuse(request, refused, HEADERS))
          )
        )
        .handle("showSignIn", () => Effect.succeed(html(signInPage)))
        .handleRaw("beginSession", ({ request }) =>
          givenToken(home, request).pipe(
            Effect.flatMap((token) => redeemToken(access, token)),
            Effect.map((begun) => signedIn(home, begun)),
            Effect.catchTag("StoreUnavailable", away),
            Effect.catch((refused) => refuse(request, refused, HEADERS))
          )
        )
        .handle("endSession", ({ request }) =>
          end(home, request, access).pipe(
            Effect.catchTag("StoreUnavailable", away),
            Effect.catch((refused) => refuse(request, refused, HEADERS))
          )
        )
    })
  )
