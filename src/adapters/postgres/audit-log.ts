import { Effect, Layer } from "effect"

import { withDeadline } from "../../domain/deadline.ts"
import {
  AuditLog,
  type AuditLogFilter,
  type AuditLogRow,
  AuditLogUnavailable
} from "../../ports/audit-log.ts"
import { ReadSql } from "./client.ts"
import { type Cursor, cursorOf, readCursor } from "./cursor.ts"
import { timeColumn } from "./moment.ts"

/** Time limit of one page. */
const TIME_LIMIT = "10 seconds"

const COLUMNS = `id, action, actor, target, note, details, ${timeColumn("created_at")}`

/** The statement of one page, and its parameters; one row more than asked for tells whether there is a next page. */
const statementOf = (filter: AuditLogFilter, after: Cursor | undefined) => {
  const parameters: Array<unknown> = []
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const conditions: Array<string> = []
  if (filter.action !== undefined) conditions.push(`action = ${bind(filter.action)}`)
  if (filter.target !== undefined) conditions.push(`lower(target) = lower(${bind(filter.target)}::text)`)
  if (after !== undefined) {
    conditions.push(
      `(created_at, id) < (${bind(after[0])}::text::timestamptz, ${bind(after[1])}::text::uuid)`
    )
  }
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")} `
  const text = `select ${COLUMNS} from admin_audit_log ${where}order by admin_audit_log.created_at desc, admin_audit_log.id desc limit ${filter.limit + 1}`
  return { text, parameters }
}

/** The audit log in Postgres. */
export const layer: Layer.Layer<AuditLog, never, ReadSql> = Layer.effect(
  AuditLog,
  Effect.map(ReadSql, (sql) =>
    AuditLog.of({
      page: Effect.fnUntraced(function* (filter) {
        const after = filter.cursor === undefined ? undefined : yield* readCursor(filter.cursor)
        const { text, parameters } = statementOf(filter, after)
        const found = yield* withDeadline(sql.unsafe<AuditLogRow>(text, parameters), {
          duration: TIME_LIMIT,
          onTimeout: () => Effect.fail(`no answer within ${TIME_LIMIT}`)
        }).pipe(Effect.mapError((cause) => new AuditLogUnavailable({ cause })))
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
