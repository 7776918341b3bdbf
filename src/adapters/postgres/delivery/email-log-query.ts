import { Effect, Layer, Schema } from "effect"

import type { EmailLogRow } from "../../../domain/delivery/email-log-row.ts"
import { writtenKey } from "../../../domain/mail/address.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { InvalidCursor } from "../../../ports/cursor.ts"
import {
  type EmailLogChanges,
  type EmailLogFilter,
  type EmailLogPage,
  type EmailLogPlace,
  EmailLogQuery,
  type EmailLogSearch,
  type ListedRow,
  MOST_ROWS_OF_MAIL
} from "../../../ports/delivery/email-log-query.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { SlowSql } from "../client.ts"
import { newestFirst, type PageOrder, readInOrder } from "../newest-first.ts"
import { slowReads } from "../statement.ts"
import { isMoment, midnight, timeColumn } from "../values.ts"

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

type Condition = (bind: (value: unknown) => string) => string

/** A part of the subject. */
const subjectHas =
  (part: string): Condition =>
  (bind) =>
    `subject ilike ${bind(`%${escapeLike(part)}%`)}`

/** Trigrams answer parts of so many characters. */
const TRIGRAM = 3

/** Most rows that a search without an index reads. */
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

const momentOr =
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
const split = Effect.fnUntraced(function* (sql: SlowSql["Service"], search: EmailLogSearch, asOf?: string) {
  const { byMail, source, subject, tag } = search
  const read: Array<Condition> = []
  const indexed: Array<Condition> = []
  if (subject !== undefined) {
    const answered = yield* isIndexed(sql, subject)
    const list = answered ? indexed : read
    list.push(subjectHas(subject))
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

/** Between the moment of the first page and the place of the next one, in a cursor of pages by mail. */
const AS_OF_END = "~"

/** A cursor by mail: as of the first page, so that a mail which gets another row meanwhile is on one page. */
const readCursorByMail = (cursor: string) => {
  const [asOf = "", place, ...more] = cursor.split(AS_OF_END)
  return isMoment(asOf) && place !== undefined && more.length === 0
    ? Effect.succeed({ asOf, place })
    : Effect.fail(new InvalidCursor({ cursor }))
}

const ROWS_OF_MAIL = `case when key_hash is null then 1 else (
  select count(*)::int from (select from email_log n where n.key_hash = email_log.key_hash limit ${MOST_ROWS_OF_MAIL}) as x
) end as rows_of_mail`

type Run = <Row>(
  text: string,
  parameters: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<Row>, StoreUnavailable>

const runOn =
  (sql: SlowSql["Service"]): Run =>
  <Row>(text: string, parameters: ReadonlyArray<unknown>) =>
    slowReads.stored("emailLog", sql.unsafe<Row & object>(text, parameters))

/** The newest row of each mail. */
const pageByMail = (sql: SlowSql["Service"], most: number) => {
  const start = slowReads
    .answer("emailLogMoment", Schema.String, sql.unsafe(`select ${timeColumn("answer", "now()")}`))
    .pipe(Effect.map((asOf) => ({ asOf, place: undefined })))
  return Effect.fnUntraced(function* (filter: EmailLogFilter) {
    const { cursor, limit } = filter
    const { asOf, place } = yield* cursor === undefined ? start : readCursorByMail(cursor)
    const { conditions, remaining } = yield* split(sql, filter, asOf)
    const columns = `${COLUMNS}, ${ROWS_OF_MAIL}`
    const read = yield* readInOrder<ListedRow>(
      runOn(sql),
      { from: "email_log", name: "email_log", columns, limit, cursor: place, conditions },
      { condition: remaining, most }
    )
    return {
      ...read,
      nextCursor: read.nextCursor === null ? null : `${asOf}${AS_OF_END}${read.nextCursor}`
    }
  })
}

/** One page of the log. */
const pageOf = (sql: SlowSql["Service"], most: number) => {
  const byMail = pageByMail(sql, most)
  return Effect.fnUntraced(function* (
    filter: EmailLogFilter
  ): Effect.fn.Return<EmailLogPage, StoreUnavailable | InvalidCursor> {
    if (filter.byMail === true) return yield* byMail(filter)
    const { cursor, limit } = filter
    const { conditions, isRead, remaining } = yield* split(sql, filter)
    const wanted = { from: "email_log", name: "email_log", columns: COLUMNS, limit, cursor, conditions }
    return isRead
      ? yield* readInOrder<EmailLogRow>(runOn(sql), wanted, { condition: remaining, most })
      : yield* newestFirst<EmailLogRow>(runOn(sql), wanted)
  })
}

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

/** Longest that a transaction of ours is under way: the limits of a statement and of an idle transaction, twice over (`database-rights.ts`). */
const LONGEST_WRITE = "1 minute"

/** A transaction that began shows itself so much later, with much to spare. */
const SETTLING = "1 second"

/**
 * The moment before which no writer of the log is under way: rows carry the time at which their transaction began. A session that is hidden from
 * this role may have begun as long ago as any. To be asked in a statement before the rows are read: who ends in between is seen by the later one.
 */
const SETTLED = `select ${timeColumn(
  "answer",
  `(now() - greatest(interval '${SETTLING}', least(interval '${LONGEST_WRITE}', coalesce(max(
    case when a.backend_type is null then interval '${LONGEST_WRITE}' else pg_catalog.now() - a.xact_start end), interval '0'))))`
)}
from pg_stat_activity a
where a.datname = current_database() and a.pid <> pg_backend_pid() and a.usesysid is not null
  and (a.xact_start is not null or a.backend_type is null)
  and has_table_privilege(a.usesysid, 'email_log', 'insert')`

const LAST_CHANGED: PageOrder = { column: "updated_at", direction: "asc" }

/** Rows by their last change. */
const changesOf = (sql: SlowSql["Service"], most: number) =>
  Effect.fnUntraced(function* ({ changedSince, cursor, limit, ...search }: EmailLogChanges) {
    const changedUntil = yield* slowReads.answer("emailLogSettled", Schema.String, sql.unsafe(SETTLED))
    const { conditions, isRead, remaining } = yield* split(sql, search)
    const within = (bind: (value: unknown) => string) => [
      `email_log.updated_at >= ${momentOr(changedSince)(bind)}`,
      `email_log.updated_at < ${momentOr(changedUntil)(bind)}`
    ]
    const asked: Condition = (bind) =>
      ["true", ...conditions(bind), ...(isRead ? [remaining(bind)] : [])].join(" and ")
    const read = yield* readInOrder<EmailLogRow>(
      runOn(sql),
      {
        from: "email_log",
        name: "email_log",
        columns: COLUMNS,
        limit,
        cursor,
        order: LAST_CHANGED,
        conditions: within
      },
      { condition: asked, most }
    )
    return { ...read, changedUntil }
  })

/** How many rows there are, of those that a page reads. */
const countOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (search: EmailLogSearch, most: number) {
    const parameters: Array<unknown> = []
    const bind = (value: unknown) => `$${parameters.push(value)}`
    const { conditions, isRead, remaining } = yield* split(sql, search)
    const all = conditions(bind)
    const rows = `email_log ${all.length === 0 ? "" : `where ${all.join(" and ")}`}`
    const from = isRead
      ? `(select * from ${rows} order by created_at desc, id desc limit ${mostRead}) as email_log where ${remaining(bind)}`
      : rows
    return yield* slowReads.answer(
      "emailLogCount",
      Schema.Int,
      sql.unsafe(`select count(*)::int as answer from (select from ${from} limit ${most}) as x`, parameters)
    )
  })

/** The send log in Postgres; `mostRead`: for tests. */
export const layerReading = (mostRead: number): Layer.Layer<EmailLogQuery, never, SlowSql> =>
  Layer.effect(
    EmailLogQuery,
    Effect.map(SlowSql, (sql) =>
      EmailLogQuery.of({
        page: pageOf(sql, mostRead),
        changes: changesOf(sql, mostRead),
        beside: besideOf(sql),
        count: countOf(sql, mostRead)
      })
    )
  )

export const layer = layerReading(MOST_READ)
