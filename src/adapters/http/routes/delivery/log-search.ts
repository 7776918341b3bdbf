import { Effect, Schema } from "effect"

import { Provider } from "../../../../domain/mail/provider.ts"
import { EmailStatus } from "../../../../domain/mail/status.ts"
import { Category, UNKNOWN_CATEGORY } from "../../../../domain/mail/suppression/policy.ts"
import type { EmailLogSearch } from "../../../../ports/delivery/email-log-query.ts"
import { Day, filter, isUuid, Text } from "../../server/endpoint.ts"
import { invalidRequest } from "../../server/problem.ts"

/** Filters of the log; an empty one counts as missing. */
export const search = {
  by: filter(Schema.Literal("mail")),
  status: filter(EmailStatus),
  category: filter(Schema.Literals([...Category.literals, UNKNOWN_CATEGORY])),
  provider: filter(Provider),
  recipient: filter(Text.check(Schema.isMaxLength(320))),
  subject: filter(Text.check(Schema.isMaxLength(998))),
  id: filter(Schema.String.check(Schema.makeFilter((id) => isUuid(id) || "is not the id of a row"))),
  key: filter(Text.check(Schema.isMaxLength(1000))),
  messageId: filter(Text.check(Schema.isMaxLength(1000))),
  search: filter(Text.check(Schema.isMaxLength(1000))),
  source: filter(Text.check(Schema.isMaxLength(200))),
  tag: filter(Text.check(Schema.isMaxLength(256))),
  tagValue: filter(Text.check(Schema.isMaxLength(256))),
  since: filter(Day),
  until: filter(Day)
}
const Search = Schema.Struct(search)

/** The filter that a query names. */
const filterOf = (query: typeof Search.Type): EmailLogSearch => ({
  status: query.status,
  category: query.category,
  provider: query.provider,
  recipient: query.recipient,
  subject: query.subject,
  id: query.id,
  key: query.key,
  providerMessageId: query.messageId,
  search: query.search?.trim() || undefined,
  source: query.source,
  tag: query.tag ? { name: query.tag, value: query.tagValue } : undefined,
  byMail: query.by === "mail" || undefined,
  since: query.since,
  until: query.until
})

/** What the query of a list asks for; refused where two of its filters do not fit each other. */
export const searchOf = (query: typeof Search.Type & { readonly changedSince?: string }) => {
  const issues = [
    ...(query.tagValue && !query.tag
      ? [{ path: "tagValue", message: "is the value of a tag: name it as tag" }]
      : []),
    ...(query.changedSince && query.by
      ? [{ path: "by", message: "cannot be asked for with changedSince, which lists rows" }]
      : [])
  ]
  return issues.length > 0 ? Effect.fail(invalidRequest(issues)) : Effect.succeed(filterOf(query))
}
