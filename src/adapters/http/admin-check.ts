import { hash } from "node:crypto"

import { Clock, Effect } from "effect"

import { may } from "../../domain/principal.ts"
import { Access } from "../../ports/access.ts"
import { bearerToken } from "./secret.ts"

/** How long a token that was an admin's is taken for one while the database does not answer. */
const REMEMBERED_MS = 3_600_000

/** Most tokens that are remembered. */
const MAX_REMEMBERED = 1000

/** Whether an `Authorization` header is that of somebody who may read what admins may. */
export type AdminCheck = (authorization: string | undefined) => Effect.Effect<boolean>

/**
 * The check for what an admin wants to see most while the database is down (`/ready`, the outbox): it then goes by what
 * it last saw of the token, within the hour. No route that reads or changes data goes by it.
 */
export const makeAdminCheck: Effect.Effect<AdminCheck, never, Access> = Effect.map(Access, (access) => {
  const seen = new Map<string, number>()
  return Effect.fnUntraced(function* (authorization) {
    const token = bearerToken(authorization)
    if (token === undefined) return false
    const key = hash("sha256", token)
    const now = yield* Clock.currentTimeMillis
    return yield* access.byToken(token).pipe(
      Effect.map((principal) => {
        const admin = principal !== undefined && may(principal, "admin:read")
        if (!admin) seen.delete(key)
        else if (seen.has(key) || seen.size < MAX_REMEMBERED) seen.set(key, now)
        return admin
      }),
      Effect.catch(() => Effect.succeed(now - (seen.get(key) ?? Number.NEGATIVE_INFINITY) < REMEMBERED_MS))
    )
  })
})
