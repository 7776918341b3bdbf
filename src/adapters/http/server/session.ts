import { Context, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"

import type { Principal } from "../../../domain/accounts/principal.ts"
import { problemSchema } from "./problem.ts"

/** The cookie of a session. */
const SESSION_COOKIE = "postlane_session"

/** Who calls an admin route, for what it writes into `admin_audit_log`. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "postlane/http/CurrentPrincipal"
) {}

/** The customer that calls, for whose files, team and account it is. */
export class CurrentOwner extends Context.Service<
  CurrentOwner,
  {
    readonly customerId: string
    /** The token's name, or the customer's address. */
    readonly actor: string
  }
>()("postlane/http/CurrentOwner") {}

const sessionCookie = HttpApiSecurity.apiKey({ key: SESSION_COOKIE, in: "cookie" })

const refusals = [
  problemSchema("UNAUTHENTICATED", {}),
  problemSchema("FORBIDDEN", {}),
  problemSchema("UNAVAILABLE", {})
] as const

/**
 * Lets an admin pass, by bearer token or by session cookie: the right `admin:read` for what only reads, `admin` for the
 * rest. 401 for nobody, 403 for somebody without the right, and for another site's page that writes with the cookie.
 */
export class AdminAccess extends HttpApiMiddleware.Service<AdminAccess, { provides: CurrentPrincipal }>()(
  "postlane/http/AdminAccess",
  { security: { adminToken: HttpApiSecurity.bearer, sessionCookie }, error: refusals }
) {}

/**
 * Lets a customer pass, by bearer token or by session cookie, and says which; 401 and 403 as for {@link AdminAccess}, but a
 * file is not found (404).
 */
export class OwnerAccess extends HttpApiMiddleware.Service<OwnerAccess, { provides: CurrentOwner }>()(
  "postlane/http/OwnerAccess",
  { security: { ownerToken: HttpApiSecurity.bearer, sessionCookie }, error: refusals }
) {}

/** What a cookie needs to know of where it is served. */
const attributes = (baseUrl: string) =>
  ({ httpOnly: true, sameSite: "lax", path: "/", secure: baseUrl.startsWith("https:") }) as const

/** The session's cookie of a request. */
export const sessionCookieOf = ({ cookies }: HttpServerRequest.HttpServerRequest): string | undefined =>
  cookies[SESSION_COOKIE] || undefined

/** Hands a session's cookie out; `expiresAt` in milliseconds of the epoch. */
export const withSessionCookie = (
  response: HttpServerResponse.HttpServerResponse,
  options: { readonly baseUrl: string; readonly cookie: Redacted.Redacted; readonly expiresAt: number }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, SESSION_COOKIE, Redacted.value(options.cookie), {
    ...attributes(options.baseUrl),
    expires: new Date(options.expiresAt)
  })

/** Takes a session's cookie back. */
export const withoutSessionCookie = (
  response: HttpServerResponse.HttpServerResponse,
  baseUrl: string
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, SESSION_COOKIE, "", {
    ...attributes(baseUrl),
    expires: new Date(0)
  })
