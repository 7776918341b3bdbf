import { Effect, Schema } from "effect"

import { writtenKey } from "../../../domain/mail/address.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import type { EmailLogSearch } from "../../../ports/delivery/email-log-query.ts"
import type { SlowSql } from "../client.ts"
import { slowReads } from "../statement.ts"
import { midnight } from "../values.ts"

const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, "\\$&")

/** Must match the expression of the index `email_log_recipient`. */
const ALL_RECIPIENTS = "(to_addresses || other_addresses || dropped_addresses)"

/** The filter in SQL. */
const conditionsOf = (filter: EmailLogSearch) => (bind: (value: unknown) => string) => {
  const conditions: Array<string> = []
  if (filter.status !== undefined) conditions.push(`status = ${bind(filter.status)}`)
  if (filter.category !== undefined) conditions.push(`category = ${bind(filter.category)}`)
  if (filter.provider !== undefined) conditions.push(`provider = ${bind(filter.provider)}`)
  if (filter.recipient !== undefined) {
    conditions.push(`${ALL_RECIPIENTS} @> array[${bind(writtenKey(filter.recipient))}::text]`)
  }
  if (filter.id !== undefined) conditions.push(`id = ${bind(filter.id)}::uuid`)
  if (filter.key !== undefined) {
    conditions.push(`key_hash = encode(sha256(convert_to(${bind(filter.key)}::text, 'UTF8')), 'hex')`)
  }
  if (filter.providerMessageId !== undefined) {
    // The index begins with the provider.
    conditions.push(
      `provider = any(${bind(Provider.literals)}::text[])`,
      `provider_message_id = ${bind(filter.providerMessageId)}`
    )
  }
  if (filter.since !== undefined) conditions.push(`created_at >= ${midnight(bind(filter.since))}`)
  if (filter.until !== undefined)
    conditions.push(`created_at < ${midnight(bind(filter.until))} + interval '1 day'`)
  return conditions
}

export type Condition = (bind: (value: unknown) => string) => string

/** A part of the subject. */
const subjectHas =
  (part: string): Condition =>
  (bind) =>
    `subject ilike ${bind(`%${escapeLike(part)}%`)}`

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Trigrams answer parts of so many characters. */
const TRIGRAM = 3

/** Whether the index on trigrams answers a part of a subject. */
const isIndexed = (sql: SlowSql["Service"], part: string) =>
  part.length < TRIGRAM
    ? Effect.succeed(false)
    : slowReads.answer(
        "subjectIndex",
        Schema.Boolean,
        sql`select to_regclass('public.email_log_subject') is not null as answer`
      )

/** What a text may be exactly: each is a filter that an index answers. */
const EXACTLY = ["id", "key", "providerMessageId", "recipient"] as const

const Kind = Schema.Literals([...EXACTLY, "part"])

/**
 * What the text is of a row. The inner query is planned as if all of its rows were wanted: for the first of them alone the planner may read
 * the table instead of the index.
 */
const kindOf = (sql: SlowSql["Service"], text: string) => {
  const parameters: Array<unknown> = []
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const cases = EXACTLY.filter((kind) => kind !== "id" || UUID.test(text)).map((kind) => {
    const conditions = conditionsOf({ [kind]: text })(bind).join(" and ")
    return `when exists (select from (select 1 from email_log where ${conditions} offset 0) as x) then '${kind}'`
  })
  return slowReads.answer(
    "emailLogSearch",
    Kind,
    sql.unsafe(`select case ${cases.join(" ")} else 'part' end as answer`, parameters)
  )
}

/**
 * A part of the subject or of an address. Most rows have it in neither, and one comparison with all of them together says so in half the
 * time; a part that has a line break may lie across two of them.
 */
const hasPart = (text: string) => (bind: (value: unknown) => string) => {
  const pattern = bind(`%${escapeLike(text)}%`)
  return `(coalesce(subject, '') || chr(10) || array_to_string(${ALL_RECIPIENTS}, chr(10))) ilike ${pattern}
    and (subject ilike ${pattern} or exists (select from unnest(${ALL_RECIPIENTS}) as one(address) where address ilike ${pattern}))`
}

export const momentOr =
  (asOf: string | undefined): Condition =>
  (bind) =>
    asOf === undefined ? "now()" : `${bind(asOf)}::text::timestamptz`

/** A mail's rows are those of its key. A `limit` keeps the look-up of one row from becoming a join of the table with itself. */
const noNewer =
  (asOf: string | undefined): Condition =>
  (bind) =>
    `not coalesce((
      select true from email_log n
      where n.key_hash = email_log.key_hash and (n.created_at, n.id) > (email_log.created_at, email_log.id)
        and n.created_at <= ${momentOr(asOf)(bind)}
      limit 1
    ), false)`

/** The conditions that indexes answer, and those that they do not. */
export const split = Effect.fnUntraced(function* (
  sql: SlowSql["Service"],
  search: EmailLogSearch,
  asOf?: string
) {
  const { byMail, search: text, source, subject, tag } = search
  const read: Array<Condition> = []
  const indexed: Array<Condition> = []
  if (subject !== undefined) {
    const answered = yield* isIndexed(sql, subject)
    const list = answered ? indexed : read
    list.push(subjectHas(subject))
  }
  if (text !== undefined) {
    const kind = yield* kindOf(sql, text)
    if (kind === "part") read.push(hasPart(text))
    else indexed.push((bind) => conditionsOf({ [kind]: text })(bind).join(" and "))
  }
  if (source !== undefined) read.push((bind) => `source = ${bind(source)}`)
  if (tag !== undefined) {
    const { name, value } = tag
    read.push((bind) =>
      value === undefined
        ? `tags ? ${bind(name)}::text`
        : `tags @> jsonb_build_object(${bind(name)}::text, ${bind(value)}::text)`
    )
  }
  if (byMail === true) {
    indexed.push((bind) => `email_log.created_at <= ${momentOr(asOf)(bind)}`)
    read.push(noNewer(asOf))
  }
  const conditions = (bind: (value: unknown) => string) => [
    ...conditionsOf(search)(bind),
    ...indexed.map((condition) => condition(bind))
  ]
  const remaining: Condition = (bind) => read.map((condition) => condition(bind)).join(" and ")
  return { conditions, remaining, isRead: read.length > 0 }
})
