import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

import { may, type Principal, type Right } from "../../../domain/accounts/principal.ts"
import { makeCaller } from "../server/access.ts"
import { problem, type Problem, problemResponse } from "../server/problem.ts"
import { sessionCookieOf } from "../server/session.ts"
import { adminScreen } from "./admin.ts"
import { assetRoute, readAssets } from "./assets.ts"
import { dashboardMain } from "./dashboard.ts"
import { escape } from "./html-page.ts"
import { PAGE_MEDIA_TYPE } from "./paths.ts"
import { APP_POLICY, shell, type ShellPage } from "./shell.ts"
import { signInMain } from "./sign-in.ts"

const redirect = (location: string) => HttpServerResponse.redirect(location, { status: 303 })

const nobody = problem("UNAUTHENTICATED", "Sign in first")
const nothingHere = problem("NOT_FOUND", "There is no such route")

const noRight = (right: Right, { actor }: Principal): string =>
  right === "owner"
    ? `<div class="narrow"><h1>This page is for owners of documents</h1>
<p>You are signed in as ${escape(actor)}, who owns none. <a href="/admin/jobs">Go to the admin pages</a>, or <a href="/sign-in">sign in with an owner’s token</a>.</p></div>`
    : `<div class="narrow"><h1>This page is for admins</h1>
<p>You are signed in as ${escape(actor)}. <a href="/dashboard">Go to the dashboard</a>, or <a href="/sign-in?reason=admin">sign in with an admin’s token</a>.</p></div>`

const refused = ({ detail, title }: Problem): string =>
  `<div class="narrow"><h1>${escape(title)}</h1><p>${escape(detail)}</p></div>`

/** Whether the client wants a page rather than a problem. */
const acceptsPages = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /\btext\/html\b/i.test(headers["accept"] ?? "")

/**
 * The pages for people: the dashboard, the admin screens, the sign-in, and their assets. A page holds no user data: its
 * script reads the JSON API, with the same session. None of them is in the OpenAPI document.
 */
export const pageRoutes = ({ baseUrl }: { readonly baseUrl: string }) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const assets = readAssets()
      const caller = yield* makeCaller(baseUrl)

      const page = (content: ShellPage, status = 200) =>
        HttpServerResponse.text(shell(assets.pathOf, content), {
          status,
          contentType: PAGE_MEDIA_TYPE,
          headers: { "content-security-policy": APP_POLICY }
        })

      /** The page, where the principal has the right; without a principal, a redirect to the sign-in. */
      const guarded = (
        right: Right,
        path: string,
        content: (principal: Principal) => Omit<ShellPage, "path" | "principal">
      ) =>
        Effect.matchEffect(caller(nobody), {
          onSuccess: (principal) =>
            Effect.succeed(
              may(principal, right)
                ? page({ ...content(principal), path, principal })
                : page({ title: "Not allowed", main: noRight(right, principal), path, principal }, 403)
            ),
          onFailure: (failure) =>
            failure.status === 401
              ? Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
                  redirect(
                    sessionCookieOf(request) !== undefined
                      ? "/sign-in?reason=ended"
                      : right === "owner"
                        ? "/sign-in"
                        : "/sign-in?reason=admin"
                  )
                )
              : Effect.succeed(page({ title: failure.title, main: refused(failure), path }, failure.status))
        })

      yield* assetRoute(router, assets)
      yield* router.add(
        "GET",
        "/",
        Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
          acceptsPages(request) ? redirect("/dashboard") : problemResponse(nothingHere)
        )
      )
      yield* router.add(
        "GET",
        "/sign-in",
        Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
          const reason = new URLSearchParams(url.split("?", 2)[1] ?? "").get("reason") ?? undefined
          return page({ title: "Sign in", main: signInMain(reason), path: "/sign-in" })
        })
      )
      yield* router.add(
        "GET",
        "/dashboard",
        guarded("owner", "/dashboard", () => ({
          title: "Dashboard",
          main: dashboardMain,
          script: "dashboard.js",
          style: "dashboard.css"
        }))
      )
      yield* router.add("GET", "/admin", redirect("/admin/jobs"))
      yield* router.add(
        "GET",
        "/admin/:screen",
        Effect.flatMap(HttpRouter.params, ({ screen: name = "" }) => {
          const screen = adminScreen(name)
          return screen === undefined
            ? Effect.succeed(problemResponse(nothingHere))
            : guarded("admin:read", `/admin/${name}`, (principal) => ({
                title: screen.title,
                main: `<div data-may-write="${may(principal, "admin")}">${screen.main}</div>`,
                script: screen.script,
                style: "admin.css"
              }))
        })
      )
    })
  )
