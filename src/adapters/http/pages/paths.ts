import { may, type Principal } from "../../../domain/accounts/principal.ts"

/** The pages that a sign-in leads to where no other was asked for. */
const OWNER_HOME = "/dashboard"
const ADMIN_HOME = "/admin"

/** Longest path that is kept over a sign-in, characters. */
const MAX_NEXT = 1000

const AFTER_SIGN_IN = /^\/(?:dashboard|admin)(?:[/?]|$)/

/**
 * A page of this server that a sign-in may lead to, from a text that anybody may have written: its path and query, and never
 * another site's address. Undefined for anything else.
 */
export const pageWithin = (text: string | null | undefined): string | undefined => {
  if (!text?.startsWith("/") || text.length > MAX_NEXT) return undefined
  const base = "http://own.invalid"
  if (!URL.canParse(text, base)) return undefined
  const url = new URL(text, base)
  const path = `${url.pathname}${url.search}`
  return url.origin === base && AFTER_SIGN_IN.test(path) ? path : undefined
}

/** The first page after a sign-in: the one that was asked for, where its rights allow it. */
export const homeOf = (principal: Pick<Principal, "rights">, next?: string): string => {
  const wanted = pageWithin(next)
  if (wanted !== undefined && may(principal, wanted.startsWith("/admin") ? "admin:read" : "owner"))
    return wanted
  return may(principal, "owner") || !may(principal, "admin:read") ? OWNER_HOME : ADMIN_HOME
}

/** The sign-in page that leads to a page, and says why it is needed. */
export const signInPath = (next: string, reason: string | undefined): string => {
  const query = new URLSearchParams(reason === undefined ? {} : { reason })
  const wanted = pageWithin(next)
  if (wanted !== undefined && wanted !== OWNER_HOME && wanted !== ADMIN_HOME) query.set("next", wanted)
  return `/sign-in${query.size === 0 ? "" : `?${query}`}`
}

/** The icon under the name that browsers ask for by themselves, so that a page without a version of the assets has it, too. */
export const ICON_PATH = "/favicon.ico"

/** The paths of the pages, each read only: the method table answers other methods with 405. */
export const PAGE_PATHS: ReadonlyArray<string> = [
  "/",
  "/sign-in",
  "/dashboard",
  "/dashboard/files/:fileId",
  "/admin",
  "/admin/stream",
  "/admin/:screen",
  "/admin/email-log/:id",
  ICON_PATH,
  "/assets/:version/:name",
  "/assets/:version/:room/:name"
]

/** The pages that replies of convert-by-email link to, unless the installation has its own. */
export const ACCOUNT_PAGES = { register: "/register", credits: "/credits" } as const

/** Both are read only. */
export const ACCOUNT_PAGE_PATHS: ReadonlyArray<string> = Object.values(ACCOUNT_PAGES)

/** The media type of a page. */
export const PAGE_MEDIA_TYPE = "text/html; charset=utf-8"
