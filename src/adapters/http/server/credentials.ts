import { hash, randomBytes, timingSafeEqual } from "node:crypto"

import { Duration, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiSecurity } from "effect/http-api"

import { MAGIC_LINK_LIFETIME_SECONDS } from "../../../domain/accounts/session.ts"

/** Whether a caller presented the secret. */
type SecretCheck = (presented: string | undefined) => boolean

/** Header values arrive as one character per byte; the secret may be UTF-8. */
const digestOf = (value: string, encoding: "latin1" | "utf8"): Buffer =>
  hash("sha256", Buffer.from(value, encoding), "buffer")

/**
 * Makes a check that takes the same time for any input: both sides are hashed, then compared in constant time.
 * An unset or empty secret refuses everybody (HTTP-2).
 */
export const secretCheck = (secret: Redacted.Redacted | undefined): SecretCheck => {
  const value = secret === undefined ? "" : Redacted.value(secret)
  const expected = digestOf(value, "utf8")
  return (presented) => {
    const equal = timingSafeEqual(digestOf(presented ?? "", "latin1"), expected)
    return value !== "" && equal
  }
}

/** The token of an `Authorization: Bearer` header; the header's characters are bytes of UTF-8. */
export const bearerToken = (authorization: string | undefined): string | undefined => {
  const token = authorization === undefined ? undefined : /^Bearer +(\S.*)$/i.exec(authorization)?.[1]
  return token === undefined ? undefined : Buffer.from(token, "latin1").toString("utf8")
}

/** Kind of page that a request comes from, according to the browser; programs send no such header and count as `own`. */
type Site = "own" | "other" | "unknown"

/** Where our pages are. */
export interface PublicAddresses {
  /** `BASE_URL`, without a trailing slash: links lead there, and the session cookie is `Secure` where it is https. */
  readonly baseUrl: string
  /** `OLDER_BASE_URLS`: pages that came from there are ours, too. */
  readonly olderBaseUrls?: ReadonlyArray<string> | undefined
}

/**
 * Determines the kind of page that sent a request. An older origin of ours is ours, whichever of our hosts it asks. Else `Sec-Fetch-Site`
 * decides where present; browsers omit it on plain http, where a form on a page without referrers, or in a sandboxed frame,
 * sends `Origin: null`, which is `unknown`.
 */
export const siteOf = ({ baseUrl, olderBaseUrls = [] }: PublicAddresses) => {
  const own = new URL(baseUrl).origin
  const older = new Set(olderBaseUrls.map((url) => new URL(url).origin))
  return ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">): Site => {
    const origin = headers["origin"]
    if (origin !== undefined && older.has(origin)) return "own"
    const site = headers["sec-fetch-site"]
    if (site !== undefined) return site === "same-origin" || site === "none" ? "own" : "other"
    if (origin === undefined || origin === own) return "own"
    if (origin === "null") return "unknown"
    const host = headers["host"]
    const sameHost = host !== undefined && (origin === `http://${host}` || origin === `https://${host}`)
    return sameHost ? "own" : "other"
  }
}

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

/** The cookie that binds sign-in links to the browser that asked for them (DOC-54). */
const BROWSER_COOKIE = "postlane_sign_in"

/** The longest time that browsers keep a cookie. Links that were used are kept as long (`purge_access`). */
const BROWSER_KNOWN_FOR = Duration.days(400)

/** What {@link newBrowser} makes. */
const BROWSER = /^[\w-]{43}$/

/** The cookie's value; undefined without a cookie, or when it is not one of ours. */
export const browserOf = ({ cookies }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const browser = cookies[BROWSER_COOKIE] ?? ""
  return BROWSER.test(browser) ? browser : undefined
}

export const newBrowser = (): string => randomBytes(32).toString("base64url")

/** Sets it for as long as links work, or as long as browsers keep cookies where it has signed somebody in (`known`). */
export const withBrowser = (
  response: HttpServerResponse.HttpServerResponse,
  options: { readonly baseUrl: string; readonly browser: string; readonly known: boolean }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, BROWSER_COOKIE, options.browser, {
    ...attributes(options.baseUrl),
    path: "/auth",
    maxAge: options.known ? BROWSER_KNOWN_FOR : Duration.seconds(MAGIC_LINK_LIFETIME_SECONDS)
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
