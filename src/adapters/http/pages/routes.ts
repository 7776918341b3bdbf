import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

import { may, type Principal, type Right } from "../../../domain/accounts/principal.ts"
import { pathTo } from "../../../domain/pages.ts"
import { makeCaller } from "../server/access.ts"
import { type PublicAddresses, sessionCookieOf } from "../server/credentials.ts"
import { problem, type Problem, problemResponse } from "../server/problem.ts"
import { adminScreen } from "./admin.ts"
import { type Assets, assetRoutes, readAssets } from "./assets.ts"
import { CONVERSION_POLICY, conversionMain } from "./conversion-page.ts"
import { dashboardMain } from "./dashboard.ts"
import { makeDocumentPages } from "./document-page.ts"
import { healthQueryOf, makeHealthPages } from "./health-pages.ts"
import { acceptsPages, pageResponse } from "./html-page.ts"
import { type Html, html } from "./html.ts"
import { makeMailPages } from "./mail-page.ts"
import { pageWithin, ROUTES, signInPath } from "./paths.ts"
import { APP_POLICY, shell, type ShellPage } from "./shell.ts"
import { signInMain } from "./sign-in.ts"

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

/** Where the pages are served, and who calls. */
interface Pages {
  readonly assets: Assets
  readonly caller: Effect.Success<ReturnType<typeof makeCaller>>
  readonly mail: Effect.Success<typeof makeMailPages>
  readonly health: Effect.Success<typeof makeHealthPages>
  readonly document: Effect.Success<typeof makeDocumentPages>
}

const respond = ({ assets }: Pages, content: ShellPage, status = 200) =>
  pageResponse(shell(assets.pathOf, content), { policy: content.policy ?? APP_POLICY, status })

/** The sign-in page, with the reason for which a page sends its caller there, and the way back to it. */
const toSignIn = (right: Right) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const reason = sessionCookieOf(request) !== undefined ? "ended" : right === "owner" ? undefined : "admin"
    return redirect(signInPath(request.url, reason))
  })

/** What a page shows. */
type Content = Omit<ShellPage, "path" | "principal"> & { readonly status?: number }

/** The page, where the principal has the right; without a principal, a redirect to the sign-in. */
const guarded = (
  pages: Pages,
  right: Right,
  path: string,
  content: (principal: Principal) => Effect.Effect<Content>
) =>
  Effect.matchEffect(pages.caller(unknownCaller), {
    onSuccess: (principal) =>
      may(principal, right)
        ? Effect.map(content(principal), ({ status, ...made }) =>
            respond(pages, { ...made, path, principal }, status)
          )
        : Effect.succeed(
            respond(pages, { title: "Not allowed", main: noRight(right, principal), path, principal }, 403)
          ),
    onFailure: (failure) =>
      failure.status === 401
        ? toSignIn(right)
        : Effect.succeed(
            respond(pages, { title: failure.title, main: refused(failure), path }, failure.status)
          )
  })

/** `GET /`: a person's way to the dashboard. */
const home = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
  acceptsPages(request) ? redirect(pathTo.dashboard) : problemResponse(nothingHere)
)

/** `GET /sign-in`. */
const signIn = (pages: Pages) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
    const query = new URLSearchParams(url.split("?", 2)[1] ?? "")
    const reason = query.get("reason") ?? undefined
    const main = signInMain(reason, pageWithin(query.get("next")))
    return respond(pages, { title: "Sign in", main, path: pathTo.signIn() })
  })

/** `GET /dashboard`. */
const dashboard = (pages: Pages) =>
  guarded(pages, "owner", pathTo.dashboard, () =>
    Effect.succeed({
      title: "Dashboard",
      main: dashboardMain,
      script: "dashboard/dashboard.js",
      style: "dashboard/dashboard.css"
    })
  )

const forAdmins = (principal: Principal, main: Html): Html =>
  html`<div data-may-write="${String(may(principal, "admin"))}">${main}</div>`

/** `GET /dashboard/files/:fileId`. */
const conversion = (pages: Pages) =>
  Effect.flatMap(HttpRouter.params, ({ fileId = "" }) =>
    guarded(pages, "owner", pathTo.conversion(fileId), () =>
      Effect.succeed({
        title: "Conversion",
        main: conversionMain(fileId),
        script: "dashboard/pages.js",
        style: "dashboard/dashboard.css",
        policy: CONVERSION_POLICY
      })
    )
  )

/** `GET /admin/:screen`. */
const admin = (pages: Pages) =>
  Effect.flatMap(HttpRouter.params, ({ screen: name = "" }) => {
    const screen = adminScreen(name)
    return screen === undefined
      ? Effect.succeed(problemResponse(nothingHere))
      : guarded(pages, "admin:read", `${pathTo.admin}/${name}`, (principal) =>
          Effect.succeed({
            title: screen.title,
            main: forAdmins(principal, screen.main),
            script: screen.script,
            style: "admin/admin.css"
          })
        )
  })

/** `GET /admin`. */
const overview = (pages: Pages) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
    guarded(pages, "admin:read", pathTo.admin, () =>
      Effect.map(pages.health.page(healthQueryOf(url)), (main) => ({
        title: "Overview",
        main,
        script: "admin/health.js",
        style: "admin/admin.css",
        complete: true
      }))
    )
  )

const notForAll = problem("FORBIDDEN", "This is for admins")

/** `GET /admin/stream`: when the overview changes, as server-sent events. */
const overviewStream = (pages: Pages) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    pages.caller(unknownCaller).pipe(
      Effect.map((principal) =>
        may(principal, "admin:read")
          ? pages.health.stream(request, healthQueryOf(request.url))
          : problemResponse(notForAll)
      ),
      Effect.catch((failure) => Effect.succeed(problemResponse(failure)))
    )
  )

/** `GET /admin/email-log/:id`. */
const mail = (pages: Pages) =>
  Effect.flatMap(HttpRouter.params, ({ id = "" }) =>
    guarded(pages, "admin:read", pathTo.mail(id), (principal) =>
      Effect.map(pages.mail(id), ({ main, ...content }) => ({
        ...content,
        main: forAdmins(principal, main),
        style: "admin/admin.css",
        complete: true
      }))
    )
  )

/** `GET /admin/jobs/documents/:fileId`. */
const document = (pages: Pages) =>
  Effect.flatMap(HttpRouter.params, ({ fileId = "" }) =>
    guarded(pages, "admin:read", pathTo.document(fileId), () =>
      Effect.map(pages.document(fileId), (content) => ({
        ...content,
        script: "admin/document.js",
        style: "admin/admin.css",
        complete: true
      }))
    )
  )

/**
 * The pages for people: the dashboard, the admin screens, the sign-in, and their assets. A page holds no user data: its
 * script reads the JSON API, with the same session; the overview, a mail's page and a document's
 * alone are complete as they are served. None of them is in the OpenAPI document.
 */
export const pageRoutes = (addresses: PublicAddresses) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const pages: Pages = {
        assets: readAssets(),
        caller: yield* makeCaller(addresses),
        mail: yield* makeMailPages,
        health: yield* makeHealthPages,
        document: yield* makeDocumentPages
      }
      yield* assetRoutes(router, pages.assets)
      yield* router.add("GET", ROUTES.start, home)
      yield* router.add("GET", ROUTES.signIn, signIn(pages))
      yield* router.add("GET", ROUTES.dashboard, dashboard(pages))
      yield* router.add("GET", ROUTES.conversion, conversion(pages))
      yield* router.add("GET", ROUTES.admin, overview(pages))
      yield* router.add("GET", ROUTES.adminStream, overviewStream(pages))
      yield* router.add("GET", ROUTES.adminScreen, admin(pages))
      yield* router.add("GET", ROUTES.mail, mail(pages))
      yield* router.add("GET", ROUTES.document, document(pages))
    })
  )
