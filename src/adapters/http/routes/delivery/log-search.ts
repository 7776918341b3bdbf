import { Effect, Record, type Schema } from "effect"

import { EMAIL_LOG_FILTERS, type EmailLogSearch } from "../../../../domain/delivery/email-log-row.ts"
import { filter } from "../../server/endpoint.ts"
import { invalidRequest } from "../../server/problem.ts"

type Filters = typeof EMAIL_LOG_FILTERS

/** Filters of the log; an empty one counts as missing. */
export const search = Record.map(EMAIL_LOG_FILTERS, filter) as {
  readonly [F in keyof Filters]: ReturnType<typeof filter<Filters[F]>>
}
type Query = Schema.Struct.Type<typeof search>

/** What the query of a list asks for; refused where two of its filters do not fit each other. */
export const searchOf = (query: Query & { readonly changedSince?: string }) => {
  const issues = [
    ...(query.tagValue && !query.tag
      ? [{ path: "tagValue", message: "is the value of a tag: name it as tag" }]
      : []),
    ...(query.changedSince && query.by
      ? [{ path: "by", message: "cannot be asked for with changedSince, which lists rows" }]
      : [])
  ]
  if (issues.length > 0) return Effect.fail(invalidRequest(issues))
  const asked = Record.map(EMAIL_LOG_FILTERS, (_, name) => query[name]) as EmailLogSearch
  return Effect.succeed({ ...asked, search: query.search?.trim() || undefined } satisfies EmailLogSearch)
}
