import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"

import type { Principal } from "../../../domain/principal.ts"
import { problemSchema } from "../problem.ts"

/** The cookie of a session. */
export const SESSION_COOKIE = "postlane_session"

/** Who calls an admin route, for what it writes into `admin_audit_log`. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "postlane/http/CurrentPrincipal"
) {}

/** The customer that calls, for whose files, team and account it is. */
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
 * Lets an admin pass, by bearer token or by session cookie: the right `admin:read` for what only reads, `admin` for the
 * rest. 401 for nobody, 403 for somebody without the right, and for another site's page that writes with the cookie.
 */
export class AdminAccess extends HttpApiMiddleware.Service<AdminAccess, { provides: CurrentPrincipal }>()(
  "postlane/http/AdminAccess",
  { security: { adminToken: HttpApiSecurity.bearer, sessionCookie }, error: refusals }
) {}

/**
 * Lets a customer pass, by bearer token or by session cookie, and says which; 401 and 403 as for {@link AdminAccess}, but a
 * file is not found (404).
 */
export class OwnerAccess extends HttpApiMiddleware.Service<OwnerAccess, { provides: CurrentOwner }>()(
  "postlane/http/OwnerAccess",
  { security: { ownerToken: HttpApiSecurity.bearer, sessionCookie }, error: refusals }
) {}
