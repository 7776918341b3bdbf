import { Schema, Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { SignIn } from "../../../../application/accounts/sign-in.ts"
import { addressKey, addressOf, parsePublicMailbox } from "../../../../domain/mail/address.ts"
import { Access, type BegunSession, MagicLinks } from "../../../../ports/accounts/access.ts"
import { readAssets } from "../../pages/assets.ts"
import { pageResponse } from "../../pages/html-page.ts"
import type { Html } from "../../pages/html.ts"
import { homeOf, pageWithin } from "../../pages/paths.ts"
import {
  AUTH_PAGE_HEADERS,
  AUTH_PAGE_POLICY,
  magicLinkPage,
  linkMailedPage,
  refuse,
  refuseSignIn,
  signedInPage,
  signedOutPage,
  signInAnswer,
  signInForms
} from "../../pages/sign-in.ts"
import {
  browserOf,
  newBrowser,
  type PublicAddresses,
  siteOf,
  sessionCookieOf,
  withBrowser,
  withoutSessionCookie,
  withSessionCookie
} from "../../server/credentials.ts"
import { apiOf, isLinkToken, mailboxIn, openQuery, Page } from "../../server/endpoint.ts"
import { readForm, readJson } from "../../server/json-body.ts"
import {
  bodyDecoder,
  Forbidden,
  InvalidRequest,
  invalidRequest,
  type Problem,
  problem,
  problemSchema,
  unavailable
} from "../../server/problem.ts"
import { RateLimited, RequestLimits, RequestsPerMinute } from "../../server/rate-limit.ts"
import { takeSignInLink } from "./sign-in-limits.ts"

/** The body that carries a token. */
const Next = Schema.optionalKey(Schema.String).annotate({
  description: "The page to open then: a path of this server's pages; anything else is left out."
})
const Token = Schema.Struct({ token: Schema.String, next: Next })
const TokenBody = [Token.pipe(HttpApiSchema.asFormUrlEncoded()), Token] as const

/** The body that asks for a link. */
const LinkRequest = Schema.Struct({ email: Schema.String, next: Next }).annotate({
  identifier: "SignInLinkRequest"
})
const LinkForm = LinkRequest.annotate({ identifier: "SignInLinkForm" })
const LinkBody = [LinkForm.pipe(HttpApiSchema.asFormUrlEncoded()), LinkRequest] as const

const LinkExpired = problemSchema("LINK_EXPIRED", {})
const refusals = [
  InvalidRequest,
  Forbidden,
  problemSchema("PAYLOAD_TOO_LARGE", {}),
  problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
  problemSchema("UNAVAILABLE", {})
] as const

const pages = "A client that accepts text/html gets a page, also for a refusal; others get a problem."

/** How a person signs in and out: by magic link (DOC-52, DOC-54) or by a token. */
export class AuthGroup extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.get("showMagicLink", "/auth/magic", {
      query: { token: Schema.optionalKey(Schema.String), next: Next },
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
    HttpApiEndpoint.post("requestLink", "/auth/link", {
      payload: LinkBody,
      success: Page,
      error: refusals
    })
      .annotate(RequestsPerMinute, 10)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Mails a sign-in link to a customer or an admin",
          description: `The answer and its time are the same for every address. The link works once, 15 minutes, and only in the browser that asked: it sets the cookie \`postlane_sign_in\`. ${pages}`
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
  .middleware(RateLimited)
  .annotateEndpointsMerge(openQuery) {}

/** Largest body of these routes, bytes. */
const MAX_BODY = 4096

const decodeToken = bodyDecoder(Token)
const decodeLinkRequest = bodyDecoder(LinkRequest)

const noLink = invalidRequest([
  { path: "token", message: "is incomplete or unknown; open the whole link from your mail" }
])
const linkOver = problem(
  "LINK_EXPIRED",
  "This link does not work any more: it was used, or it is too old. Request a new one."
)
const otherBrowser = problem(
  "FORBIDDEN",
  "This link works only in the browser that asked for it. Open it there, or ask for a new link here"
)
const noToken = problem("UNAUTHENTICATED", "There is no such token")
const busy = problem("UNAVAILABLE", "Too many people sign in at this moment; try again in a minute")

const otherSite = problem("FORBIDDEN", "Another site's page may not do this")

const away = unavailable(
  "sessions cannot be looked up or begun",
  "This does not answer now; try again in a minute"
)

const answer = (page: Html) => pageResponse(page, { policy: AUTH_PAGE_POLICY, headers: AUTH_PAGE_HEADERS })

/** The pages' address, and the kind of page that a request comes from. */
interface Home {
  readonly baseUrl: string
  readonly site: ReturnType<typeof siteOf>
}

/** Refuses another site's page: it could sign its visitor in to an account of its choice. */
const ownSite = ({ site }: Home, request: HttpServerRequest.HttpServerRequest) =>
  site(request) === "own" ? Effect.void : Effect.fail(otherSite)

/** What a sign-in was asked with; texts that are missing are empty. */
interface Given {
  /** A token or an address. */
  readonly text: string
  readonly next: string | undefined
}

/** A field and the next page, of a form, of a JSON object or, without a body, of the query. */
const given = Effect.fnUntraced(function* <E>(
  home: Home,
  request: HttpServerRequest.HttpServerRequest,
  field: "token" | "email",
  decode: (body: unknown) => Effect.Effect<Given, E>
) {
  yield* ownSite(home, request)
  const type = request.headers["content-type"]
  if (type === undefined) {
    const query = new URL(request.url, home.baseUrl).searchParams
    return { text: query.get(field) ?? "", next: pageWithin(query.get("next")) }
  }
  if (/^application\/json\b/i.test(type)) return yield* decode(yield* readJson(request, MAX_BODY))
  return yield* decode({ [field]: "", ...Object.fromEntries(yield* readForm(request, MAX_BODY)) })
})

const givenToken = (home: Home, request: HttpServerRequest.HttpServerRequest) =>
  given(home, request, "token", (body) =>
    Effect.map(decodeToken(body), ({ next, token }) => ({ text: token, next: pageWithin(next) }))
  )

const givenAddress = (home: Home, request: HttpServerRequest.HttpServerRequest) =>
  given(home, request, "email", (body) =>
    Effect.map(decodeLinkRequest(body), ({ email, next }) => ({ text: email, next: pageWithin(next) }))
  )

const redeemLink = Effect.fnUntraced(function* (
  links: MagicLinks["Service"],
  token: string,
  browser: string | undefined
) {
  if (!isLinkToken(token)) return yield* Effect.fail(noLink)
  return (yield* links.redeem(token, browser)) ?? (yield* Effect.fail(linkOver))
})

const redeemToken = Effect.fnUntraced(function* (access: Access["Service"], token: string) {
  return (yield* access.beginSession(token.trim())) ?? (yield* Effect.fail(noToken))
})

/** Asks for a link by mail: the answer is the same for every address, and comes before anything is looked up. */
const askForLink = Effect.fnUntraced(function* (
  home: Home,
  request: HttpServerRequest.HttpServerRequest,
  signIn: SignIn["Service"],
  limits: RequestLimits["Service"]
) {
  const { next, text } = yield* givenAddress(home, request)
  const mailbox = yield* mailboxIn("email", text, parsePublicMailbox)
  const [email, to] = [addressKey(mailbox), addressOf(mailbox)]
  yield* takeSignInLink(limits, request, email)
  // The one that is there stays, so that the links that were asked for before still work.
  const browser = browserOf(request) ?? newBrowser()
  yield* signIn
    .request({ email, to, browser, next })
    .pipe(Effect.catchTag("SignInsBusy", () => Effect.fail(busy)))
  return withBrowser(answer(linkMailedPage(to)), { baseUrl: home.baseUrl, browser, known: false })
})

/** The page after a sign-in, with the session's cookie. */
const signedIn = (
  { baseUrl }: Home,
  { cookie, expiresAt, principal }: BegunSession,
  next: string | undefined
) =>
  withSessionCookie(answer(signedInPage(principal.actor, homeOf(principal, next))), {
    baseUrl,
    cookie,
    expiresAt
  })

/** Keeps the cookie of the browser that signed in, which gives it a separate allowance for the next links. */
const stayKnown = (
  { baseUrl }: Home,
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
) => {
  const browser = browserOf(request)
  return browser === undefined ? response : withBrowser(response, { baseUrl, browser, known: true })
}

/** A refusal with the forms for the next try: of the link of a mail. */
const refuseLink = <P extends Problem>(request: HttpServerRequest.HttpServerRequest, refused: P) =>
  refuse(request, refused, AUTH_PAGE_HEADERS, signInForms(undefined))

/** Ends the session of the request's cookie. */
const end = Effect.fnUntraced(function* (
  home: Home,
  request: HttpServerRequest.HttpServerRequest,
  access: Access["Service"]
) {
  yield* ownSite(home, request)
  const cookie = sessionCookieOf(request)
  if (cookie !== undefined) yield* access.endSession(cookie)
  return withoutSessionCookie(answer(signedOutPage), home.baseUrl)
})

/**
 * `/auth/…`. The two routes that take a token are raw: its body may be a form, JSON or
 * missing, and another site's page is refused before it is read.
 */
export const authHandlers = (addresses: PublicAddresses) =>
  HttpApiBuilder.group(
    apiOf(AuthGroup),
    "auth",
    Effect.fnUntraced(function* (handlers) {
      const access = yield* Access
      const links = yield* MagicLinks
      const signIn = yield* SignIn
      const limits = yield* RequestLimits
      const { pathOf } = readAssets()
      const home: Home = { baseUrl: addresses.baseUrl, site: siteOf(addresses) }
      return handlers
        .handle("showMagicLink", ({ query: { next, token = "" }, request }) =>
          isLinkToken(token)
            ? Effect.succeed(answer(magicLinkPage(token, pageWithin(next))))
            : refuse(request, noLink, AUTH_PAGE_HEADERS)
        )
        .handleRaw("useMagicLink", ({ request }) =>
          givenToken(home, request).pipe(
            Effect.flatMap(({ next, text }) =>
              Effect.map(redeemLink(links, text, browserOf(request)), (begun) =>
                stayKnown(home, request, signedIn(home, begun, next))
              )
            ),
            Effect.catchTags({
              StoreUnavailable: away,
              OtherBrowser: () => Effect.fail(otherBrowser)
            }),
            Effect.catch((refused) => refuseLink(request, refused))
          )
        )
        .handleRaw("requestLink", ({ request }) =>
          askForLink(home, request, signIn, limits).pipe(Effect.catch(refuseSignIn(pathOf, request)))
        )
        .handle("showSignIn", () => Effect.succeed(signInAnswer(pathOf)))
        .handleRaw("beginSession", ({ request }) =>
          givenToken(home, request).pipe(
            Effect.flatMap(({ next, text }) =>
              redeemToken(access, text).pipe(
                Effect.map((begun) => signedIn(home, begun, next)),
                Effect.catchTag("StoreUnavailable", away),
                Effect.catch(refuseSignIn(pathOf, request, next))
              )
            ),
            Effect.catch(refuseSignIn(pathOf, request))
          )
        )
        .handle("endSession", ({ request }) =>
          end(home, request, access).pipe(
            Effect.catchTag("StoreUnavailable", away),
            Effect.catch((refused) => refuse(request, refused, AUTH_PAGE_HEADERS))
          )
        )
    })
  )
