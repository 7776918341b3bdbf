import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"

import { problemSchema } from "../problem.ts"

/** How many requests one client may make to an endpoint in a minute: annotate the endpoint where it is another number. */
export const RequestsPerMinute = Context.Reference<number>("postlane/http/RequestsPerMinute", {
  defaultValue: () => 60
})

/** Limits how often one client calls a public route: 429 with `Retry-After`. Add it to an endpoint or to a whole group. */
export class RateLimited extends HttpApiMiddleware.Service<RateLimited>()("postlane/http/RateLimited", {
  error: problemSchema("RATE_LIMITED", {})
}) {}
