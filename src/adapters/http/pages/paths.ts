import { may, type Principal } from "../../../domain/accounts/principal.ts"

/** The page that somebody who has just signed in begins with. */
export const homeOf = (principal: Pick<Principal, "rights">): string =>
  may(principal, "owner") || !may(principal, "admin:read") ? "/dashboard" : "/admin/jobs"

/** The paths of the pages, each read only: the method table tells them to whoever asks with another method. */
export const PAGE_PATHS: ReadonlyArray<string> = [
  "/",
  "/sign-in",
  "/dashboard",
  "/admin",
  "/admin/:screen",
  "/assets/:version/:name"
]

/** Where replies of convert-by-email lead to, as long as the installation has no such pages of its own. */
export const ACCOUNT_PAGES = { register: "/register", credits: "/credits" } as const

/** Both are read only. */
export const ACCOUNT_PAGE_PATHS: ReadonlyArray<string> = Object.values(ACCOUNT_PAGES)

/** What a page is sent as. */
export const PAGE_MEDIA_TYPE = "text/html; charset=utf-8"
