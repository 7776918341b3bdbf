import { may, type Principal } from "../../../domain/principal.ts"

/** The page that somebody who has just signed in begins with. */
export const homeOf = (principal: Pick<Principal, "rights">): string =>
  may(principal, "owner") || !may(principal, "admin:read") ? "/dashboard" : "/admin/jobs"
