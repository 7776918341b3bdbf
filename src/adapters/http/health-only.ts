import { Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"

import { problem, problemResponse } from "./problem.ts"

/** What every process answers, whatever its roles. */
const ALWAYS = new Set(["/health", "/ready", "/metrics"])

const notServed = problemResponse(
  problem("NOT_FOUND", "This process does not serve the API (POSTLANE_ROLES)")
)

/** The handler of a process without the role `api`: it can be watched, and takes no work. */
export const healthOnly = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    ALWAYS.has(request.url.split("?", 1)[0]!) ? handler : Effect.succeed(notServed)
  )
