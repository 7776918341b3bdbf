import { Schema, Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"

import { problemSchema } from "../server/problem.ts"

/** The request cannot be answered now. */
export const Unavailable = problemSchema("UNAVAILABLE", {})

/** Text that Postgres accepts. */
export const Text = Schema.String.check(
  Schema.makeFilter((text) => !text.includes("\0") || "holds a NUL character")
)

/** An optional filter; an empty one counts as missing. */
export const filter = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.Union([schema, Schema.Literal("")]))

/** The number of rows of one page. */
export const page = (fallback: number, maximum: number) =>
  filter(
    Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum })).annotate({
      description: `1 to ${maximum}; ${fallback} where it is missing`
    })
  )

/** Rows of one page where the query names no number. */
export const DEFAULT_PAGE = 50

/** `nextCursor` of the page before. */
export const cursor = filter(Text.check(Schema.isMaxLength(200)))

/** How many requests a client may make to an endpoint per minute: annotate an endpoint that needs another number. */
export const RequestsPerMinute = Context.Reference<number>("postlane/http/RequestsPerMinute", {
  defaultValue: () => 60
})

/** Limits how often one client calls a public route: 429 with `Retry-After`. Add it to an endpoint or to a whole group. */
export class RateLimited extends HttpApiMiddleware.Service<RateLimited>()("postlane/http/RateLimited", {
  error: problemSchema("RATE_LIMITED", {})
}) {}
