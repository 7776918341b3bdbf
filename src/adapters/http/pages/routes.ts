import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

import { ConfiguredProviders } from "../../../application/configured-providers.ts"
import { may, type Principal, type Right } from "../../../domain/accounts/principal.ts"
import type { Provider } from "../../../domain/mail/provider.ts"
import { pathTo } from "../../../domain/pages.ts"
import { makeCaller } from "../server/access.ts"
import { type PublicAddresses, sessionCookieOf } from "../server/credentials.ts"
import { problem, type Problem, problemResponse } from "../server/problem.ts"
import { adminScreen, FILLED_SCREENS } from "./admin.ts"
import { type Assets, assetRoutes, readAssets } from "./assets.ts"
import { conversionMain } from "./conversion-page.ts"
import { dashboardMain } from "./dashboard.ts"
import { makeDocumentPages } from "./document-page.ts"
import { healthQueryOf, makeHealthPages } from "./health-pages.ts"
import { acceptsPages } from "./html-page.ts"
import { type Html, html } from "./html.ts"
import { makeMailPages } from "./mail-page.ts"
import { makeStatisticsPage } from "./mail/statistics.ts"
import { pageWithin, ROUTES, signInPath } from "./paths.ts"
import { makeCustomerPages } from "./people/customer-page.ts"
import { FRAME_POLICY, type ShellPage, shellResponse } from "./shell.ts"
import { signInPage } from "./sign-in.ts"

const redirect = (location: string) => HttpServerResponse.redirect(location, { status: 303 })

const unknownCaller = problem("UNAUTHENTICATED", "Sign in first")
const nothingHere = problem("NOT_FOUND", "There is no such route")

const noRight = (right: Right, { actor }: Principal): Html =>
  right === "owner"
    ? html`<div class="narrow"><h1>This page is for owners of documents</h1>
<p>You are signed in as ${actor}, who owns none. <a href="${pathTo.admin}">Go to the admin pages</a>, or <a href="${pathTo.signIn()}">sign in with an owner’s token</a>.</p></div>`
    : html`<div class="narrow"><h1>This page is for admins</h1>
<p>You are signed in as ${actor}. <a href="${pathTo.dashboard}">Go to the dashboard</a>, or <a href="${pathTo.signIn({ reason: "admin" })}">sign in with an admin’s token</a>.</p></div>`

const refused = ({ detail, title }: Problem): Html =>
  html`<div class="narrow"><h1>${title}</h1><p>${detail}</p></div>`

type Caller = Effect.Success<ReturnType<typeof makeCaller>>

/** One request of a page: by a signed-in user, of an address. */
interface Visit {
  readonly principal: Principal
  readonly url: string
  readonly params: Readonly<Record<string, string | undefined>>
}

/** A page behind the sign-in: its route, the right to see it, and what it shows. */
interface GuardedPage {
  readonly route: HttpRouter.PathInput
  readonly right: Right
  readonly content: (visit: Visit) => Effect.Effect<Omit<ShellPage, "path" | "principal">>
}

/** The sign-in page, with the reason for which a page sends its caller there, and the way back to it. */
const toSignIn = (request: HttpServerRequest.HttpServerRequest, right: Right) => {
  const reason = sessionCookieOf(request) !== undefined ? "ended" : right === "owner" ? undefined : "admin"
  return redirect(signInPath(request.url, reason))
}

/** The page, where the principal has the right; without a principal, a redirect to the sign-in. */
const guarded = Effect.fnUntraced(function* (
  { content, right }: GuardedPage,
  caller: Caller,
  answer: (page: ShellPage) => HttpServerResponse.HttpServerResponse
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const params = yield* HttpRouter.params
  const { url } = request
  const path = url.split("?", 1)[0] ?? url
  return yield* Effect.matchEffect(caller(unknownCaller), {
    onSuccess: (principal) =>
      Effect.map(
        may(principal, right)
          ? content({ principal, url, params })
          : Effect.succeed({ title: "Not allowed", main: noRight(right, principal), status: 403 }),
        (made) => answer({ ...made, path, principal })
      ),
    onFailure: (failure) =>
      Effect.succeed(
        failure.status === 401
          ? toSignIn(request, right)
          : answer({ title: failure.title, main: refused(failure), status: failure.status, path })
      )
  })
})

/** `GET /`: a person's way to the dashboard. */
const home = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
  acceptsPages(request) ? redirect(pathTo.dashboard) : problemResponse(nothingHere)
)

/** `GET /sign-in`. */
const signIn = (pathOf: Assets["pathOf"]) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
    const query = new URLSearchParams(url.split("?", 2)[1] ?? "")
    return signInPage(pathOf, {
      reason: query.get("reason") ?? undefined,
      next: pageWithin(query.get("next"))
    })
  })

const forAdmins = (principal: Principal, main: Html): Html =>
  html`<div data-may-write="${String(may(principal, "admin"))}">${main}</div>`

const DASHBOARD_STYLE = "dashboard/dashboard.css"
const ADMIN_STYLE = "admin/admin.css"

/** The pages that are filled by their scripts, from the JSON API. */
const makeFilled = (providers: ReadonlyArray<Provider>): ReadonlyArray<GuardedPage> => [
  {
    route: ROUTES.dashboard,
    right: "owner",
    content: () =>
      Effect.succeed({
        title: "Dashboard",
        main: dashboardMain,
        script: "dashboard/dashboard.js",
        style: DASHBOARD_STYLE
      })
  },
  {
    route: ROUTES.conversion,
    right: "owner",
    content: ({ params: { fileId = "" } }) =>
      Effect.succeed({
        title: "Conversion",
        main: conversionMain(fileId),
        script: "dashboard/pages.js",
        style: DASHBOARD_STYLE,
        policy: FRAME_POLICY
      })
  },
  ...FILLED_SCREENS.map((name): GuardedPage => {
    const { main, ...screen } = adminScreen(name, providers)
    return {
      route: pathTo.adminScreen(name),
      right: "admin:read",
      content: ({ principal }) =>
        Effect.succeed({ ...screen, main: forAdmins(principal, main), style: ADMIN_STYLE })
    }
  })
]

/** The pages that are complete as they are served. */
const makeComplete = Effect.gen(function* () {
  const document = yield* makeDocumentPages
  const customer = yield* makeCustomerPages
  const mail = yield* makeMailPages
  const { page: health, stream } = yield* makeHealthPages
  const statistics = yield* makeStatisticsPage
  const complete = { style: ADMIN_STYLE, complete: true }
  const pages: ReadonlyArray<GuardedPage> = [
    {
      route: ROUTES.admin,
      right: "admin:read",
      content: ({ url }) =>
        Effect.map(health(healthQueryOf(url)), (main) => ({
          ...complete,
          title: "Overview",
          main,
          script: "admin/health.js"
        }))
    },
    {
      route: ROUTES.mail,
      right: "admin:read",
      content: ({ params: { id = "" }, principal }) =>
        Effect.map(mail(id), ({ main, ...content }) => ({
          ...complete,
          ...content,
          main: forAdmins(principal, main)
        }))
    },
    {
      route: ROUTES.customer,
      right: "admin:read",
      content: ({ params: { customerId = "" } }) =>
        Effect.map(customer(customerId), (content) => ({
          ...complete,
          ...content,
          script: "admin/document.js"
        }))
    },
    {
      route: pathTo.adminScreen("statistics"),
      right: "admin:read",
      content: ({ url }) => Effect.map(statistics(url), (content) => ({ ...complete, ...content }))
    },
    {
      route: ROUTES.document,
      right: "admin:read",
      content: ({ params: { fileId = "" } }) =>
        Effect.map(document(fileId), (content) => ({
          ...complete,
          ...content,
          script: "admin/document.js"
        }))
    }
  ]
  return { pages, stream }
})

const notForAll = problem("FORBIDDEN", "This is for admins")

/** `GET /admin/stream`: when the overview changes, as server-sent events. */
const overviewStream = (caller: Caller, stream: Effect.Success<typeof makeHealthPages>["stream"]) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    caller(unknownCaller).pipe(
      Effect.map((principal) =>
        may(principal, "admin:read")
          ? stream(request, healthQueryOf(request.url))
          : problemResponse(notForAll)
      ),
      Effect.catch((failure) => Effect.succeed(problemResponse(failure)))
    )
  )

/**
 * The pages for people: the dashboard, the admin screens, the sign-in, and their assets. A page holds no user data: its
 * script reads the JSON API, with the same session; those of `makeComplete` alone are complete as they are served. None of them is in
 * the OpenAPI document.
 */
export const pageRoutes = (addresses: PublicAddresses, { outbox }: Pick<ShellPage, "outbox">) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const assets = readAssets()
      const caller = yield* makeCaller(addresses)
      const { pages, stream } = yield* makeComplete
      yield* assetRoutes(router, assets)
      yield* router.add("GET", ROUTES.start, home)
      yield* router.add("GET", ROUTES.signIn, signIn(assets.pathOf))
      yield* router.add("GET", ROUTES.adminStream, overviewStream(caller, stream))
      for (const page of [...makeFilled(yield* ConfiguredProviders), ...pages])
        yield* router.add(
          "GET",
          page.route,
          guarded(page, caller, (shown) => shellResponse(assets.pathOf, { ...shown, outbox }))
        )
    })
  )
