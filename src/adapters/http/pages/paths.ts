import { may, type Principal } from "../../../domain/accounts/principal.ts"

/** The first page after a sign-in. */
export const homeOf = (principal: Pick<Principal, "rights">): string =>
  may(principal, "owner") || !may(principal, "admin:read") ? "/dashboard" : "/admin/jobs"

/** The paths of the pages, each read only: the method table answers other methods with 405. */
export const PAGE_PATHS: ReadonlyArray<string> = [
  "/",
  "/sign-in",
  "/dashboard",
  "/admin",
  "/admin/:screen",
  "/admin/email-log/:id",
  "/assets/:version/:name",
  "/assets/:version/:room/:name"
]

/** The pages that replies of convert-by-email link to, unless the installation has its own. */
export const ACCOUNT_PAGES = { register: "/register", credits: "/credits" } as const

/** Both are read only. */
export const ACCOUNT_PAGE_PATHS: ReadonlyArray<string> = Object.values(ACCOUNT_PAGES)

/** The media type of a page. */
export const PAGE_MEDIA_TYPE = "text/html; charset=utf-8"
