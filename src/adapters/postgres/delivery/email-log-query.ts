import { Effect, Layer, Result, Schema } from "effect"

import { addressKey, parseMailbox } from "../../../domain/mail/address.ts"
import { Provider } from "../../../domain/mail/failover.ts"
import {
  type EmailLogSearch,
  EmailLogQuery,
  type EmailLogRow
} from "../../../ports/delivery/email-log-query.ts"
import { ReadSql } from "../client.ts"
import { newestFirst } from "../newest-first.ts"
import { statements } from "../statement.ts"
import { timeColumn } from "../values.ts"

/** The stored form of a recipient; text that is no address is compared as it is. */
const recipientKey = (recipient: string): string => {
  const parsed = parseMailbox(recipient.trim())
  return Result.isSuccess(parsed) ? addressKey(parsed.success) : recipient.trim().toLowerCase()
}

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

/** The beginning of a day, UTC. */
const midnight = (day: string): string => `(${day}::text::timestamp at time zone 'UTC')`

/** The filter in SQL. */
const conditionsOf = (filter: EmailLogSearch) => (bind: (value: unknown) => string) => {
  const conditions: Array<string> = []
  if (filter.status !== undefined) conditions.push(`status = ${bind(filter.status)}`)
  if (filter.category !== undefined) conditions.push(`category = ${bind(filter.category)}`)
  if (filter.provider !== undefined) conditions.push(`provider = ${bind(filter.provider)}`)
  if (filter.recipient !== undefined) {
    conditions.push(`${ALL_RECIPIENTS} @> array[${bind(recipientKey(filter.recipient))}::text]`)
  }
  if (filter.subject !== undefined) {
    conditions.push(`subject ilike ${bind(`%${escapeLike(filter.subject)}%`)}`)
  }
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

const ask = statements({ within: "10 seconds" })

/** The send log in Postgres. */
export const layer: Layer.Layer<EmailLogQuery, never, ReadSql> = Layer.effect(
  EmailLogQuery,
  Effect.map(ReadSql, (sql) =>
    EmailLogQuery.of({
      page: (filter) =>
        newestFirst((text, parameters) => ask.stored("emailLog", sql.unsafe<EmailLogRow>(text, parameters)), {
          from: "email_log",
          name: "email_log",
          columns: COLUMNS,
          conditions: conditionsOf(filter),
          limit: filter.limit,
          cursor: filter.cursor
        }),
      count: (search, most) => {
        const parameters: Array<unknown> = []
        const conditions = conditionsOf(search)((value) => `$${parameters.push(value)}`)
        const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`
        return ask.answer(
          "emailLogCount",
          Schema.Int,
          sql.unsafe(
            `select count(*)::int as answer from (select from email_log ${where} limit ${most}) as x`,
            parameters
          )
        )
      }
    })
  )
)
