import { may, type Principal } from "../../../domain/accounts/principal.ts"
import { pathTo, SCREEN_NAMES } from "../../../domain/pages.ts"

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
  if (wanted !== undefined && may(principal, wanted.startsWith(pathTo.admin) ? "admin:read" : "owner"))
    return wanted
  return may(principal, "owner") || !may(principal, "admin:read") ? pathTo.dashboard : pathTo.admin
}

/** The sign-in page that leads to a page, and says why it is needed. */
export const signInPath = (next: string, reason: "ended" | "admin" | undefined): string => {
  const wanted = pageWithin(next)
  return pathTo.signIn({
    ...(reason === undefined ? {} : { reason }),
    ...(wanted === undefined || wanted === pathTo.dashboard || wanted === pathTo.admin
      ? {}
      : { next: wanted })
  })
}

/** The icon under the name that browsers ask for by themselves, so that a page without a version of the assets has it, too. */
export const ICON_PATH = "/favicon.ico"

/** The routes of the pages: the patterns of what `pathTo` makes. */
export const ROUTES = {
  start: pathTo.start,
  signIn: pathTo.signIn(),
  dashboard: pathTo.dashboard,
  conversion: "/dashboard/files/:fileId",
  admin: pathTo.admin,
  adminStream: "/admin/stream",
  customer: "/admin/customers/:customerId",
  mail: "/admin/email-log/:id",
  document: "/admin/jobs/documents/:fileId"
} as const

/** The paths of the pages, each read only: the method table answers other methods with 405. */
export const PAGE_PATHS: ReadonlyArray<string> = [
  ...Object.values(ROUTES),
  ...SCREEN_NAMES.map((name) => pathTo.adminScreen(name)),
  ICON_PATH,
  "/assets/:version/:name",
  "/assets/:version/:room/:name"
]

/** How to register, and how to get credits: read only. */
export const ACCOUNT_PAGE_PATHS: ReadonlyArray<string> = [pathTo.register, pathTo.credits]
