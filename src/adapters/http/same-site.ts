import type { HttpServerRequest } from "effect/http"

/** Whose page a request comes from, by what the browser says; programs say nothing and count as `own`. */
export type Site = "own" | "other" | "unknown"

/**
 * Tells whose page sent a request. `Sec-Fetch-Site` decides where it is there; browsers leave it out on plain http, and a
 * form on a page without referrers, or in a frame that is shut in, then says `Origin: null`, which is `unknown`.
 */
export const siteOf = (baseUrl: string) => {
  const own = new URL(baseUrl).origin
  return ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">): Site => {
    const site = headers["sec-fetch-site"]
    if (site !== undefined) return site === "same-origin" || site === "none" ? "own" : "other"
    const origin = headers["origin"]
    if (origin === undefined || origin === own) return "own"
    if (origin === "null") return "unknown"
    const host = headers["host"]
    const sameHost = host !== undefined && (origin === `http://${host}` || origin === `https://${host}`)
    return sameHost ? "own" : "other"
  }
}
