import { Effect, Layer, Schema } from "effect"

import type { EmailLogRow } from "../../../domain/delivery/email-log-row.ts"
import { writtenKey } from "../../../domain/mail/address.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import {
  type EmailLogFilter,
  type EmailLogPlace,
  EmailLogQuery,
  type EmailLogSearch,
  type ListedMail
} from "../../../ports/delivery/email-log-query.ts"
import { SlowSql } from "../client.ts"
import { newestFirst, readNewestFirst } from "../newest-first.ts"
import { slowReads } from "../statement.ts"
import { midnight, timeColumn } from "../values.ts"

const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, "\\$&")

/** The columns of {@link EmailLogRow}. */
export const COLUMNS = [
  "id",
  "category",
  "source",
  "from_address",
  "to_addresses",
  "other_addresses",
  "dropped_addresses",
  "subject",
  "outcome",
  "status",
  "last_event",
  "error",
  "error_kind",
  "failed_over",
  "cost_usd::float8 as cost_usd",
  "idempotency_key",
  "provider",
  "provider_message_id",
  "raw",
  ...["created_at", "updated_at", "last_event_at", "alerted_at"].map((name) => timeColumn(name))
].join(", ")

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

/** A part of the subject. */
const subjectHas = (part: string) => (bind: (value: unknown) => string) =>
  `subject ilike ${bind(`%${escapeLike(part)}%`)}`

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Trigrams answer parts of so many characters. */
const TRIGRAM = 3

/** Rows that a search for a part of the subject or of an address reads where no trigrams answer it. */
const MOST_READ = 250_000

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

/** What the text is of a row: asked without a limit, so that each is looked up in its index whatever the planner expects. */
const kindOf = (sql: SlowSql["Service"], text: string) => {
  const parameters: Array<unknown> = []
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const cases = EXACTLY.filter((kind) => kind !== "id" || UUID.test(text)).map((kind) => {
    const conditions = conditionsOf({ [kind]: text })(bind).join(" and ")
    return `when cardinality(array(select 1 from email_log where ${conditions})) > 0 then '${kind}'`
  })
  return slowReads.answer(
    "emailLogSearch",
    Kind,
    sql.unsafe(`select case ${cases.join(" ")} else 'part' end as answer`, parameters)
  )
}

/** A part of the subject or of an address. */
const hasPart = (text: string) => (bind: (value: unknown) => string) => {
  const pattern = bind(`%${escapeLike(text)}%`)
  return `(subject ilike ${pattern} or exists (select from unnest(${ALL_RECIPIENTS}) as one(address) where address ilike ${pattern}))`
}

type Condition = (bind: (value: unknown) => string) => string

/** The conditions of a search: those that an index answers, and those that are asked of the newest rows only. */
const searchOf = Effect.fnUntraced(function* (sql: SlowSql["Service"], search: EmailLogSearch) {
  const { search: text, subject } = search
  const found: Array<Condition> = []
  const read: Array<Condition> = []
  if (subject !== undefined) {
    const isFound = yield* isIndexed(sql, subject)
    ;(isFound ? found : read).push(subjectHas(subject))
  }
  if (text !== undefined) {
    const kind = yield* kindOf(sql, text)
    if (kind === "part") read.push(hasPart(text))
    else found.push((bind) => conditionsOf({ [kind]: text })(bind).join(" and "))
  }
  const indexed = (bind: (value: unknown) => string) => [
    ...conditionsOf(search)(bind),
    ...found.map((condition) => condition(bind))
  ]
  return {
    indexed,
    read:
      read.length === 0
        ? undefined
        : (bind: (value: unknown) => string) => read.map((condition) => condition(bind)).join(" and ")
  }
})

const LISTED = `${COLUMNS}, ${timeColumn("retry_at")}, coalesce(jsonb_array_length(attempts), 0) as attempt_count`

/** A part of an address is looked for in a fifth of the rows: its search takes five times as long. */
const mostOf = ({ search }: EmailLogSearch, mostRead: number): number =>
  search === undefined ? mostRead : Math.ceil(mostRead / 5)

/** One page of the log. */
const pageOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (filter: EmailLogFilter) {
    const { cursor, limit } = filter
    const { indexed, read } = yield* searchOf(sql, filter)
    const wanted = {
      from: "email_log",
      name: "email_log",
      columns: LISTED,
      limit,
      cursor,
      conditions: indexed
    }
    const run = <Row>(text: string, parameters: ReadonlyArray<unknown>) =>
      slowReads.stored("emailLog", sql.unsafe<Row & object>(text, parameters))
    return read === undefined
      ? yield* newestFirst<ListedMail>(run, wanted)
      : yield* readNewestFirst<ListedMail>(run, wanted, { condition: read, most: mostOf(filter, mostRead) })
  })

/** The rows next to one. */
const besideOf = (sql: SlowSql["Service"]) =>
  Effect.fnUntraced(function* ({ id, limit, side }: EmailLogPlace) {
    const [compared, order] = side === "older" ? ["<", "desc"] : [">", "asc"]
    const found = yield* slowReads.stored(
      "emailLog",
      sql.unsafe<EmailLogRow>(
        `select ${COLUMNS} from email_log
        where (email_log.created_at, email_log.id) ${compared} (
          (select l.created_at from email_log l where l.id = $1::uuid), $1::uuid
        )
        order by email_log.created_at ${order}, email_log.id ${order} limit ${limit + 1}`,
        [id]
      )
    )
    const rows = found.slice(0, limit)
    return { rows: side === "older" ? rows : rows.toReversed(), hasMore: found.length > limit }
  })

const whereOf = (all: ReadonlyArray<string>): string => (all.length === 0 ? "" : `where ${all.join(" and ")}`)

/** The rows that a page reads, as what a statement selects from. */
const rowsOf = (
  { indexed, read }: Effect.Success<ReturnType<typeof searchOf>>,
  mostRead: number,
  bind: (value: unknown) => string,
  also: ReadonlyArray<string> = []
): string => {
  const conditions = [...indexed(bind), ...also]
  return read === undefined
    ? `email_log ${whereOf(conditions)}`
    : `(select * from email_log ${whereOf(conditions)} order by created_at desc, id desc limit ${mostRead}) as newest
      where ${read(bind)}`
}

/** How many rows there are, of those that a page reads. */
const countOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (search: EmailLogSearch, most: number) {
    const parameters: Array<unknown> = []
    const rows = rowsOf(
      yield* searchOf(sql, search),
      mostOf(search, mostRead),
      (value) => `$${parameters.push(value)}`
    )
    return yield* slowReads.answer(
      "emailLogCount",
      Schema.Int,
      sql.unsafe(`select count(*)::int as answer from (select from ${rows} limit ${most}) as x`, parameters)
    )
  })

const Counted = Schema.Struct({ status: EmailStatus, count: Schema.Int })

/** The same by status: each is counted in the order of its index, and no further than `most`. */
const countsOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (search: EmailLogSearch, most: number) {
    const parameters: Array<unknown> = []
    const bind = (value: unknown) => `$${parameters.push(value)}`
    const wanted = yield* searchOf(sql, { ...search, status: undefined })
    const text =
      wanted.read === undefined
        ? `select s.status, c.count from unnest(${bind(EmailStatus.literals)}::text[]) as s(status) cross join lateral (
            select count(*)::int as count from (select from ${rowsOf(wanted, mostRead, bind, ["email_log.status = s.status"])} order by created_at desc, id desc limit ${most}) as x
          ) as c`
        : `select status, least(count(*), ${most})::int as count from ${rowsOf(wanted, mostOf(search, mostRead), bind)} group by status`
    const rows = yield* slowReads.rows("emailLogCounts", Counted, sql.unsafe(text, parameters))
    return new Map(rows.map(({ count, status }) => [status, count]))
  })

/** The send log in Postgres; `mostRead`: for tests. */
export const layerReading = (mostRead: number): Layer.Layer<EmailLogQuery, never, SlowSql> =>
  Layer.effect(
    EmailLogQuery,
    Effect.map(SlowSql, (sql) =>
      EmailLogQuery.of({
        page: pageOf(sql, mostRead),
        beside: besideOf(sql),
        count: countOf(sql, mostRead),
        counts: countsOf(sql, mostRead)
      })
    )
  )

export const layer = layerReading(MOST_READ)
