import { Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

import { SESSION_COOKIE } from "./api/access.ts"

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
