import { Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http"

import { networkOf } from "../../../../domain/networks.ts"
import { type RequestLimits, takeOrRefuse } from "../../server/rate-limit.ts"

/** Sign-in links that one client may ask for, for any address. */
const OF_A_CLIENT = { limit: 30, window: "15 minutes" } as const

/** Sign-in links that one client may ask for, for one address. */
const OF_A_CLIENT_FOR_ONE = { limit: 3, window: "30 minutes" } as const

/**
 * Takes the allowance of a client that asks for a sign-in link, known address or not; 429 beyond it. The limits are the
 * client's: the limit of an address only stops further mails to it (`MagicLinks`), so that requests in another person's name
 * cannot keep that person from signing in (HTTP-14).
 */
export const takeSignInLink = Effect.fnUntraced(function* (
  limits: RequestLimits["Service"],
  { remoteAddress }: HttpServerRequest.HttpServerRequest,
  email: string
) {
  const client = networkOf(Option.getOrElse(remoteAddress, () => ""))
  yield* takeOrRefuse(limits, { key: `sign-in links from ${client}`, ...OF_A_CLIENT })
  yield* takeOrRefuse(limits, { key: `sign-in links from ${client} for ${email}`, ...OF_A_CLIENT_FOR_ONE })
})
