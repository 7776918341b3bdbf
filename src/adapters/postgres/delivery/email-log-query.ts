import { Effect, Layer, Schema } from "effect"

import {
  EMAIL_LOG_COLUMNS,
  type EmailLogRow,
  type EmailLogSearch,
  MOMENTS
} from "../../../domain/delivery/email-log-row.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import { InvalidCursor } from "../../../ports/cursor.ts"
import {
  type EmailLogChanges,
  type EmailLogFilter,
  type EmailLogPage,
  type EmailLogPlace,
  EmailLogQuery,
  type ListedMail,
  MOST_ROWS_OF_MAIL
} from "../../../ports/delivery/email-log-query.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { SlowSql } from "../client.ts"
import { newestFirst, type PageOrder, readInOrder } from "../newest-first.ts"
import { slowReads } from "../statement.ts"
import { isMoment, timeColumn } from "../values.ts"
import { type Condition, momentOr, split } from "./email-log-search.ts"

/** A column of the log as statements select it: a driver's numbers are exact, and text. */
const selected = (name: string): string => {
  if (MOMENTS.has(name)) return timeColumn(name)
  return name === "cost_usd" ? "cost_usd::float8 as cost_usd" : name
}

/** The columns of {@link EmailLogRow}. */
export const COLUMNS = Object.keys(EMAIL_LOG_COLUMNS).map(selected).join(", ")

const LISTED = `${COLUMNS}, ${timeColumn("retry_at")}, coalesce(jsonb_array_length(attempts), 0) as attempt_count`

/** Rows that a search without an index reads, in the order in which they lie: a tenth of a second. */
const MOST_READ = 100_000

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
const pageByMail = (sql: SlowSql["Service"], mostRead: number) => {
  const start = slowReads
    .answer("emailLogMoment", Schema.String, sql.unsafe(`select ${timeColumn("answer", "now()")}`))
    .pipe(Effect.map((asOf) => ({ asOf, place: undefined })))
  return Effect.fnUntraced(function* (filter: EmailLogFilter) {
    const { cursor, limit } = filter
    const { asOf, place } = yield* cursor === undefined ? start : readCursorByMail(cursor)
    const { conditions, most, remaining } = yield* split(sql, filter, { mostRead, asOf })
    const columns = `${LISTED}, ${ROWS_OF_MAIL}`
    const read = yield* readInOrder<ListedMail>(
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
const pageOf = (sql: SlowSql["Service"], mostRead: number) => {
  const byMail = pageByMail(sql, mostRead)
  return Effect.fnUntraced(function* (
    filter: EmailLogFilter
  ): Effect.fn.Return<EmailLogPage, StoreUnavailable | InvalidCursor> {
    if (filter.by === "mail") return yield* byMail(filter)
    const { cursor, limit } = filter
    const { conditions, isRead, most, remaining } = yield* split(sql, filter, { mostRead })
    const wanted = { from: "email_log", name: "email_log", columns: LISTED, limit, cursor, conditions }
    return isRead
      ? yield* readInOrder<ListedMail>(runOn(sql), wanted, { condition: remaining, most })
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
const changesOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* ({ changedSince, cursor, limit, ...search }: EmailLogChanges) {
    const changedUntil = yield* slowReads.answer("emailLogSettled", Schema.String, sql.unsafe(SETTLED))
    const { conditions, isRead, remaining } = yield* split(sql, search, { mostRead })
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
      { condition: asked, most: mostRead }
    )
    return { ...read, changedUntil }
  })

const whereOf = (all: ReadonlyArray<string>): string => (all.length === 0 ? "" : `where ${all.join(" and ")}`)

const IN_ORDER = "order by created_at desc, id desc"

type Split = Effect.Success<ReturnType<typeof split>>

/** The rows that a page reads, as what a statement selects from. */
const rowsOf = ({ conditions, most }: Split, bind: (value: unknown) => string) => {
  const rows = `email_log ${whereOf(conditions(bind))}`
  return {
    rows,
    read: `(select * from ${rows} ${IN_ORDER} limit ${most}) as email_log`,
    hasAll: `exists (select from ${rows} ${IN_ORDER} offset ${most - 1} limit 1)`
  }
}

const Count = Schema.Struct({ count: Schema.Int, stopped: Schema.Boolean })

/** How many rows there are, of those that a page reads. */
const countOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (search: EmailLogSearch, most: number) {
    const parameters: Array<unknown> = []
    const bind = (value: unknown) => `$${parameters.push(value)}`
    const wanted = yield* split(sql, search, { mostRead })
    const { hasAll, read, rows } = rowsOf(wanted, bind)
    const [from, stopped] = wanted.isRead
      ? [`${read} where ${wanted.remaining(bind)}`, `c.count < ${most} and ${hasAll}`]
      : [rows, "false"]
    const counted = yield* slowReads.rows(
      "emailLogCount",
      Count,
      sql.unsafe(
        `select c.count, ${stopped} as stopped
        from (select count(*)::int as count from (select from ${from} limit ${most}) as x) as c`,
        parameters
      )
    )
    const { count, stopped: isStopped } = counted[0]!
    return isStopped ? { count, stoppedAfter: wanted.most } : { count }
  })

const Counted = Schema.Struct({ status: EmailStatus, count: Schema.Int, read: Schema.Int })

/**
 * The same by status: each is counted in the order of its index, and no further than `most`. With a category or a provider too, a status
 * that hardly any of its rows have would be looked for among all of them: the newest rows are counted instead, by the index that has all
 * three.
 */
const countsOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (search: EmailLogSearch, most: number) {
    const parameters: Array<unknown> = []
    const bind = (value: unknown) => `$${parameters.push(value)}`
    const wanted = yield* split(sql, { ...search, status: undefined }, { mostRead, isNewest: true })
    const ofStatus = () => whereOf([...wanted.conditions(bind), "email_log.status = s.status"])
    const text = wanted.isRead
      ? `select status, least(count(*) filter (where ${wanted.remaining(bind)}), ${most})::int as count, count(*)::int as read
        from ${rowsOf(wanted, bind).read} group by status`
      : `select s.status, c.count, 0 as read from unnest(${bind(EmailStatus.literals)}::text[]) as s(status) cross join lateral (
          select count(*)::int as count from (select from email_log ${ofStatus()} ${IN_ORDER} limit ${most}) as x
        ) as c`
    const rows = yield* slowReads.rows("emailLogCounts", Counted, sql.unsafe(text, parameters))
    const counts = new Map(rows.map(({ count, status }) => [status, count]))
    const isStopped = rows.reduce((sum, { read }) => sum + read, 0) >= wanted.most
    return isStopped ? { counts, stoppedAfter: wanted.most } : { counts }
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
