import { Effect, Layer, Result } from "effect"

import { withDeadline } from "../../domain/deadline.ts"
import { addressKey, parseMailbox } from "../../domain/mail/address.ts"
import {
  type EmailLogFilter,
  EmailLogQuery,
  type EmailLogRow,
  EmailLogUnavailable
} from "../../ports/email-log-query.ts"
import { ReadSql } from "./client.ts"
import { type Cursor, cursorOf, readCursor } from "./cursor.ts"
import { timeColumn } from "./moment.ts"

/** Time limit of one page. */
const TIME_LIMIT = "10 seconds"

/** The stored form of a recipient; what is no address is compared as it is. */
const recipientKey = (recipient: string): string => {
  const parsed = parseMailbox(recipient.trim())
  return Result.isSuccess(parsed) ? addressKey(parsed.success) : recipient.trim().toLowerCase()
}

const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, "\\$&")

const COLUMNS = [
  "id",
  "category",
  "source",
  "from_address",
  "to_addresses",
  "other_addresses",
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

/** The statement of one page, and its parameters; one row more than asked for tells whether there is a next page. */
const statementOf = (filter: EmailLogFilter, after: Cursor | undefined) => {
  const parameters: Array<unknown> = []
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const conditions: Array<string> = []
  if (filter.status !== undefined) conditions.push(`status = ${bind(filter.status)}`)
  if (filter.category !== undefined) conditions.push(`category = ${bind(filter.category)}`)
  if (filter.provider !== undefined) conditions.push(`provider = ${bind(filter.provider)}`)
  if (filter.recipient !== undefined) {
    conditions.push(`to_addresses @> array[${bind(recipientKey(filter.recipient))}::text]`)
  }
  if (filter.subject !== undefined) {
    conditions.push(`subject ilike ${bind(`%${escapeLike(filter.subject)}%`)}`)
  }
  if (after !== undefined) {
    conditions.push(
      `(created_at, id) < (${bind(after[0])}::text::timestamptz, ${bind(after[1])}::text::uuid)`
    )
  }
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")} `
  const text = `select ${COLUMNS} from email_log ${where}order by email_log.created_at desc, email_log.id desc limit ${filter.limit + 1}`
  return { text, parameters }
}

/** The send log in Postgres. */
export const layer: Layer.Layer<EmailLogQuery, never, ReadSql> = Layer.effect(
  EmailLogQuery,
  Effect.map(ReadSql, (sql) =>
    EmailLogQuery.of({
      page: Effect.fnUntraced(function* (filter) {
        const after = filter.cursor === undefined ? undefined : yield* readCursor(filter.cursor)
        const { text, parameters } = statementOf(filter, after)
        const found = yield* withDeadline(sql.unsafe<EmailLogRow>(text, parameters), {
          duration: TIME_LIMIT,
          onTimeout: () => Effect.fail(`no answer within ${TIME_LIMIT}`)
        }).pipe(Effect.mapError((cause) => new EmailLogUnavailable({ cause })))
        const rows = found.slice(0, filter.limit)
        const last = rows.at(-1)
        return {
          rows,
          nextCursor:
            found.length > filter.limit && last !== undefined ? cursorOf(last.created_at, last.id) : null
        }
      })
    })
  )
)
