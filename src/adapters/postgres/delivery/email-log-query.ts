import { Effect, Layer, Schema } from "effect"

import type { EmailLogRow } from "../../../domain/delivery/email-log-row.ts"
import { writtenKey } from "../../../domain/mail/address.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import {
  type EmailLogFilter,
  type EmailLogPlace,
  EmailLogQuery,
  type EmailLogSearch
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

/** Trigrams answer parts of so many characters. */
const TRIGRAM = 3

/** Rows that a search for a part of the subject reads where no trigrams answer it. */
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

/** One page of the log. */
const pageOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (filter: EmailLogFilter) {
    const { cursor, limit, subject } = filter
    const conditions = conditionsOf(filter)
    const wanted = { from: "email_log", name: "email_log", columns: COLUMNS, limit, cursor }
    const run = <Row>(text: string, parameters: ReadonlyArray<unknown>) =>
      slowReads.stored("emailLog", sql.unsafe<Row & object>(text, parameters))
    if (subject !== undefined && !(yield* isIndexed(sql, subject)))
      return yield* readNewestFirst<EmailLogRow>(
        run,
        { ...wanted, conditions },
        { condition: subjectHas(subject), most: mostRead }
      )
    const all = (bind: (value: unknown) => string) => [
      ...conditions(bind),
      ...(subject === undefined ? [] : [subjectHas(subject)(bind)])
    ]
    return yield* newestFirst<EmailLogRow>(run, { ...wanted, conditions: all })
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

/** How many rows there are, of those that a page reads. */
const countOf = (sql: SlowSql["Service"], mostRead: number) =>
  Effect.fnUntraced(function* (search: EmailLogSearch, most: number) {
    const { subject } = search
    const parameters: Array<unknown> = []
    const bind = (value: unknown) => `$${parameters.push(value)}`
    const conditions = conditionsOf(search)(bind)
    const whereOf = (all: ReadonlyArray<string>) => (all.length === 0 ? "" : `where ${all.join(" and ")}`)
    const count = (from: string) =>
      slowReads.answer(
        "emailLogCount",
        Schema.Int,
        sql.unsafe(`select count(*)::int as answer from (select from ${from} limit ${most}) as x`, parameters)
      )
    if (subject === undefined) return yield* count(`email_log ${whereOf(conditions)}`)
    const has = subjectHas(subject)(bind)
    return yield* (yield* isIndexed(sql, subject))
      ? count(`email_log ${whereOf([...conditions, has])}`)
      : count(
          `(select subject from email_log ${whereOf(conditions)} order by created_at desc, id desc limit ${mostRead}) as read
          where ${has}`
        )
  })

/** The send log in Postgres; `mostRead`: for tests. */
export const layerReading = (mostRead: number): Layer.Layer<EmailLogQuery, never, SlowSql> =>
  Layer.effect(
    EmailLogQuery,
    Effect.map(SlowSql, (sql) =>
      EmailLogQuery.of({
        page: pageOf(sql, mostRead),
        beside: besideOf(sql),
        count: countOf(sql, mostRead)
      })
    )
  )

export const layer = layerReading(MOST_READ)
