import { Effect, Schema } from "effect"

import type { EmailLogSearch } from "../../../domain/delivery/email-log-row.ts"
import { writtenKey } from "../../../domain/mail/address.ts"
import { Provider } from "../../../domain/mail/provider.ts"
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
  if (filter.messageId !== undefined) {
    // The index begins with the provider.
    conditions.push(
      `provider = any(${bind(Provider.literals)}::text[])`,
      `provider_message_id = ${bind(filter.messageId)}`
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
const EXACTLY = ["id", "key", "messageId", "recipient"] as const

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

/** Filters that many rows meet: each has an index, and no two of them have one together. */
const BROAD = ["status", "category", "provider"] as const

/**
 * Most rows that a search without an index reads, so that its answer comes while somebody waits. A part of an address takes twice as long as
 * a part of the subject; the newest row of a mail, and rows that lie apart since they are of one status, category or provider, ten times.
 */
const mostOf = (
  mostRead: number,
  { isApart, isPart }: { readonly isApart: boolean; readonly isPart: boolean }
) => Math.ceil(mostRead / (isApart ? 10 : isPart ? 2 : 1))

const partOf = Effect.fnUntraced(function* (sql: SlowSql["Service"], { search, subject }: EmailLogSearch) {
  const indexed: Array<Condition> = []
  const read: Array<Condition> = []
  if (subject !== undefined) {
    const list = (yield* isIndexed(sql, subject)) ? indexed : read
    list.push(subjectHas(subject))
  }
  if (search === undefined) return { indexed, read, isPart: false }
  const kind = yield* kindOf(sql, search)
  if (kind === "part") read.push(hasPart(search))
  else indexed.push((bind) => conditionsOf({ [kind]: search })(bind).join(" and "))
  return { indexed, read, isPart: kind === "part" }
})

/** How a search is read. */
interface SplitOptions {
  /** Most rows of the cheapest search that no index answers. */
  readonly mostRead: number
  /** As of which moment mails are listed; undefined: now. */
  readonly asOf?: string
  /** Of status, category and provider none is asked of its index: the rows are the newest ones. */
  readonly isNewest?: boolean
}

/** The conditions that indexes answer, and those that they do not; `most`: of how many rows these are asked. */
export const split = Effect.fnUntraced(function* (
  sql: SlowSql["Service"],
  search: EmailLogSearch,
  { asOf, isNewest = false, mostRead }: SplitOptions
) {
  const { by, source, tag, tagValue } = search
  const { indexed, isPart, read } = yield* partOf(sql, search)
  const broad = BROAD.filter((name) => search[name] !== undefined)
  const isNarrow = indexed.length > 0 || EXACTLY.some((name) => search[name] !== undefined)
  const aside = isNarrow ? [] : broad.slice(isNewest ? 0 : 1)
  for (const name of aside) read.push((bind) => conditionsOf({ [name]: search[name] })(bind).join(" and "))
  if (source !== undefined) read.push((bind) => `source = ${bind(source)}`)
  if (tag !== undefined) {
    read.push((bind) =>
      tagValue === undefined
        ? `tags ? ${bind(tag)}::text`
        : `tags @> jsonb_build_object(${bind(tag)}::text, ${bind(tagValue)}::text)`
    )
  }
  if (by === "mail") {
    indexed.push((bind) => `email_log.created_at <= ${momentOr(asOf)(bind)}`)
    read.push(noNewer(asOf))
  }
  const others = { ...search, ...Object.fromEntries(aside.map((name) => [name, undefined])) }
  const conditions = (bind: (value: unknown) => string) => [
    ...conditionsOf(others)(bind),
    ...indexed.map((condition) => condition(bind))
  ]
  const remaining: Condition = (bind) => read.map((condition) => condition(bind)).join(" and ")
  const isApart = by === "mail" || broad.length > aside.length
  return { conditions, remaining, isRead: read.length > 0, most: mostOf(mostRead, { isApart, isPart }) }
})
