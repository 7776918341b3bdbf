import { Effect, Layer } from "effect"

import { AuditLog, type AuditLogRow } from "../../../ports/accounts/audit-log.ts"
import { ReadSql } from "../client.ts"
import { newestFirst } from "../newest-first.ts"
import { statements } from "../statement.ts"
import { timeColumn } from "../values.ts"

const COLUMNS = `id, action, actor, target, note, details, ${timeColumn("created_at")}`

const ask = statements({ within: "10 seconds" })

/** The audit log in Postgres. */
export const layer: Layer.Layer<AuditLog, never, ReadSql> = Layer.effect(
  AuditLog,
  Effect.map(ReadSql, (sql) =>
    AuditLog.of({
      page: ({ action, cursor, limit, target }) =>
        newestFirst((text, parameters) => ask.stored("auditLog", sql.unsafe<AuditLogRow>(text, parameters)), {
          from: "admin_audit_log",
          name: "admin_audit_log",
          columns: COLUMNS,
          conditions: (bind) => [
            ...(action === undefined ? [] : [`action = ${bind(action)}`]),
            ...(target === undefined ? [] : [`lower(target) = lower(${bind(target)}::text)`])
          ],
          limit,
          cursor
        })
    })
  )
)
