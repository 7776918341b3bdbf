import { Context, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"

import type { Principal } from "../../../domain/accounts/principal.ts"
import { problemSchema } from "./problem.ts"

/** The cookie of a session. */
const SESSION_COOKIE = "postlane_session"

/** The caller of an admin route, for the entries in `admin_audit_log`. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "postlane/http/CurrentPrincipal"
) {}

/** The calling customer, whose files, team and account the route serves. */
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
 * Lets an admin pass, by bearer token or by session cookie: the right `admin:read` for routes that only read, `admin` for
 * the rest. 401 without a principal; 403 without the right, and for another site's page that writes with the cookie.
 */
export class AdminAccess extends HttpApiMiddleware.Service<AdminAccess, { provides: CurrentPrincipal }>()(
  "postlane/http/AdminAccess",
  { security: { adminToken: HttpApiSecurity.bearer, sessionCookie }, error: refusals }
) {}

/**
 * Lets a customer pass, by bearer token or by session cookie, and provides it; 401 and 403 as for {@link AdminAccess}, but
 * 404 for a file.
 */
export class OwnerAccess extends HttpApiMiddleware.Service<OwnerAccess, { provides: CurrentOwner }>()(
  "postlane/http/OwnerAccess",
  { security: { ownerToken: HttpApiSecurity.bearer, sessionCookie }, error: refusals }
) {}

/** Cookie attributes that depend on the public address. */
const attributes = (baseUrl: string) =>
  ({ httpOnly: true, sameSite: "lax", path: "/", secure: baseUrl.startsWith("https:") }) as const

/** The session cookie of a request. */
export const sessionCookieOf = ({ cookies }: HttpServerRequest.HttpServerRequest): string | undefined =>
  cookies[SESSION_COOKIE] || undefined

/** Sets the session cookie; `expiresAt` in milliseconds since the epoch. */
export const withSessionCookie = (
  response: HttpServerResponse.HttpServerResponse,
  options: { readonly baseUrl: string; readonly cookie: Redacted.Redacted; readonly expiresAt: number }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, SESSION_COOKIE, Redacted.value(options.cookie), {
    ...attributes(options.baseUrl),
    expires: new Date(options.expiresAt)
  })

/** Deletes the session cookie. */
export const withoutSessionCookie = (
  response: HttpServerResponse.HttpServerResponse,
  baseUrl: string
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, SESSION_COOKIE, "", {
    ...attributes(baseUrl),
    expires: new Date(0)
  })
