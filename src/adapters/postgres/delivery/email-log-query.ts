import { Effect, Layer, Schema } from "effect"

import type { EmailLogRow } from "../../../domain/delivery/email-log-row.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import { InvalidCursor } from "../../../ports/cursor.ts"
import {
  type EmailLogChanges,
  type EmailLogFilter,
  type EmailLogPage,
  type EmailLogPlace,
  EmailLogQuery,
  type EmailLogSearch,
  type ListedMail,
  MOST_ROWS_OF_MAIL
} from "../../../ports/delivery/email-log-query.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { SlowSql } from "../client.ts"
import { newestFirst, type PageOrder, readInOrder } from "../newest-first.ts"
import { slowReads } from "../statement.ts"
import { isMoment, timeColumn } from "../values.ts"
import { type Condition, momentOr, split } from "./email-log-search.ts"

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

const LISTED = `${COLUMNS}, ${timeColumn("retry_at")}, coalesce(jsonb_array_length(attempts), 0) as attempt_count`

/** Most rows that a search without an index reads. */
const MOST_READ = 250_000

/**
 * A part of an address is looked for in a fifth of the rows, and the newest row of each mail too: a row takes five times as long, or more.
 * Rows of one status, category or provider lie apart, which takes as long again.
 */
const mostOf = ({ byMail, category, provider, search, status }: EmailLogSearch, mostRead: number): number => {
  if (search === undefined && byMail !== true) return mostRead
  const liesApart = [category, provider, status].some((filter) => filter !== undefined)
  return Math.ceil(mostRead / (search !== undefined && liesApart ? 25 : 5))
}

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
    const columns = `${LISTED}, ${ROWS_OF_MAIL}`
    const read = yield* readInOrder<ListedMail>(
      runOn(sql),
      { from: "email_log", name: "email_log", columns, limit, cursor: place, conditions },
      { condition: remaining, most: mostOf(filter, most) }
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
    const wanted = { from: "email_log", name: "email_log", columns: LISTED, limit, cursor, conditions }
    return isRead
      ? yield* readInOrder<ListedMail>(runOn(sql), wanted, {
          condition: remaining,
          most: mostOf(filter, most)
        })
      : yield* newestFirst<ListedMail>(runOn(sql), wanted)
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

const whereOf = (all: ReadonlyArray<string>): string => (all.length === 0 ? "" : `where ${all.join(" and ")}`)

/** The rows that a page reads, as what a statement selects from. */
const rowsOf = (
  { conditions, isRead, remaining }: Effect.Success<ReturnType<typeof split>>,
  mostRead: number,
  bind: (value: unknown) => string,
  also: ReadonlyArray<string> = []
): string => {
  const rows = `email_log ${whereOf([...conditions(bind), ...also])}`
  return isRead
    ? `(select * from ${rows} order by created_at desc, id desc limit ${mostRead}) as email_log where ${remaining(bind)}`
    : rows
}

/** How many rows there are, of those that a page reads. */
const countOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (search: EmailLogSearch, most: number) {
    const parameters: Array<unknown> = []
    const from = rowsOf(
      yield* split(sql, search),
      mostOf(search, mostRead),
      (value) => `$${parameters.push(value)}`
    )
    return yield* slowReads.answer(
      "emailLogCount",
      Schema.Int,
      sql.unsafe(`select count(*)::int as answer from (select from ${from} limit ${most}) as x`, parameters)
    )
  })

const Counted = Schema.Struct({ status: EmailStatus, count: Schema.Int })

/** The same by status: each is counted in the order of its index, and no further than `most`. */
const countsOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (search: EmailLogSearch, most: number) {
    const parameters: Array<unknown> = []
    const bind = (value: unknown) => `$${parameters.push(value)}`
    const wanted = yield* split(sql, { ...search, status: undefined })
    const text = wanted.isRead
      ? `select status, least(count(*), ${most})::int as count from ${rowsOf(wanted, mostOf(search, mostRead), bind)} group by status`
      : `select s.status, c.count from unnest(${bind(EmailStatus.literals)}::text[]) as s(status) cross join lateral (
          select count(*)::int as count from (select from ${rowsOf(wanted, mostRead, bind, ["email_log.status = s.status"])} order by created_at desc, id desc limit ${most}) as x
        ) as c`
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
        changes: changesOf(sql, mostRead),
        beside: besideOf(sql),
        count: countOf(sql, mostRead),
        counts: countsOf(sql, mostRead)
      })
    )
  )

export const layer = layerReading(MOST_READ)
