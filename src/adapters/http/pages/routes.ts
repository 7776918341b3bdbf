import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

import { may, type Principal, type Right } from "../../../domain/accounts/principal.ts"
import { makeCaller } from "../server/access.ts"
import { sessionCookieOf } from "../server/credentials.ts"
import { problem, type Problem, problemResponse } from "../server/problem.ts"
import { adminScreen } from "./admin.ts"
import { type Assets, assetRoutes, readAssets } from "./assets.ts"
import { dashboardMain } from "./dashboard.ts"
import { acceptsPages, escape, pageResponse } from "./html-page.ts"
import { APP_POLICY, shell, type ShellPage } from "./shell.ts"
import { signInMain } from "./sign-in.ts"

const redirect = (location: string) => HttpServerResponse.redirect(location, { status: 303 })

const unknownCaller = problem("UNAUTHENTICATED", "Sign in first")
const nothingHere = problem("NOT_FOUND", "There is no such route")

const noRight = (right: Right, { actor }: Principal): string =>
  right === "owner"
    ? `<div class="narrow"><h1>This page is for owners of documents</h1>
<p>You are signed in as ${escape(actor)}, who owns none. <a href="/admin/jobs">Go to the admin pages</a>, or <a href="/sign-in">sign in with an owner’s token</a>.</p></div>`
    : `<div class="narrow"><h1>This page is for admins</h1>
<p>You are signed in as ${escape(actor)}. <a href="/dashboard">Go to the dashboard</a>, or <a href="/sign-in?reason=admin">sign in with an admin’s token</a>.</p></div>`

const refused = ({ detail, title }: Problem): string =>
  `<div class="narrow"><h1>${escape(title)}</h1><p>${escape(detail)}</p></div>`

/** Where the pages are served, and who calls. */
interface Pages {
  readonly assets: Assets
  readonly caller: Effect.Success<ReturnType<typeof makeCaller>>
}

const respond = ({ assets }: Pages, content: ShellPage, status = 200) =>
  pageResponse(shell(assets.pathOf, content), { policy: APP_POLICY, status })

/** The sign-in page, with the reason for which a page sends its caller there. */
const toSignIn = (right: Right) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    if (sessionCookieOf(request) !== undefined) return redirect("/sign-in?reason=ended")
    return redirect(right === "owner" ? "/sign-in" : "/sign-in?reason=admin")
  })

/** The page, where the principal has the right; without a principal, a redirect to the sign-in. */
const guarded = (
  pages: Pages,
  right: Right,
  path: string,
  content: (principal: Principal) => Omit<ShellPage, "path" | "principal">
) =>
  Effect.matchEffect(pages.caller(unknownCaller), {
    onSuccess: (principal) =>
      Effect.succeed(
        may(principal, right)
          ? respond(pages, { ...content(principal), path, principal })
          : respond(pages, { title: "Not allowed", main: noRight(right, principal), path, principal }, 403)
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
  acceptsPages(request) ? redirect("/dashboard") : problemResponse(nothingHere)
)

/** `GET /sign-in`. */
const signIn = (pages: Pages) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
    const reason = new URLSearchParams(url.split("?", 2)[1] ?? "").get("reason") ?? undefined
    return respond(pages, { title: "Sign in", main: signInMain(reason), path: "/sign-in" })
  })

/** `GET /dashboard`. */
const dashboard = (pages: Pages) =>
  guarded(pages, "owner", "/dashboard", () => ({
    title: "Dashboard",
    main: dashboardMain,
    script: "dashboard/dashboard.js",
    style: "dashboard/dashboard.css"
  }))

/** `GET /admin/:screen`. */
const admin = (pages: Pages) =>
  Effect.flatMap(HttpRouter.params, ({ screen: name = "" }) => {
    const screen = adminScreen(name)
    return screen === undefined
      ? Effect.succeed(problemResponse(nothingHere))
      : guarded(pages, "admin:read", `/admin/${name}`, (principal) => ({
          title: screen.title,
          main: `<div data-may-write="${may(principal, "admin")}">${screen.main}</div>`,
          script: screen.script,
          style: "admin/admin.css"
        }))
  })

/**
 * The pages for people: the dashboard, the admin screens, the sign-in, and their assets. A page holds no user data: its
 * script reads the JSON API, with the same session. None of them is in the OpenAPI document.
 */
export const pageRoutes = ({ baseUrl }: { readonly baseUrl: string }) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const pages: Pages = { assets: readAssets(), caller: yield* makeCaller(baseUrl) }
      yield* assetRoutes(router, pages.assets)
      yield* router.add("GET", "/", home)
      yield* router.add("GET", "/sign-in", signIn(pages))
      yield* router.add("GET", "/dashboard", dashboard(pages))
      yield* router.add("GET", "/admin", redirect("/admin/jobs"))
      yield* router.add("GET", "/admin/:screen", admin(pages))
    })
  )
