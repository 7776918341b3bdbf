import { Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiSecurity } from "effect/http-api"

/** The cookie of a session. */
const SESSION_COOKIE = "postlane_session"

/** How the OpenAPI document names it. */
export const sessionCookie = HttpApiSecurity.apiKey({ key: SESSION_COOKIE, in: "cookie" })

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
