import { Effect, Layer } from "effect"

import { AuditLog, type AuditLogRow, AuditNotes } from "../../../ports/accounts/audit-log.ts"
import { SlowSql, WriteSql } from "../client.ts"
import { newestFirst } from "../newest-first.ts"
import { slowReads, statements } from "../statement.ts"
import { storable, timeColumn } from "../values.ts"

const COLUMNS = `id, action, actor, target, note, details, ${timeColumn("created_at")}`

const note = statements({ within: "5 seconds" })

/** The audit log in Postgres. */
export const layer: Layer.Layer<AuditLog, never, SlowSql> = Layer.effect(
  AuditLog,
  Effect.map(SlowSql, (sql) =>
    AuditLog.of({
      page: ({ action, cursor, limit, target }) =>
        newestFirst(
          (text, parameters) => slowReads.stored("auditLog", sql.unsafe<AuditLogRow>(text, parameters)),
          {
            from: "admin_audit_log",
            name: "admin_audit_log",
            columns: COLUMNS,
            conditions: (bind) => [
              ...(action === undefined ? [] : [`action = ${bind(action)}`]),
              ...(target === undefined ? [] : [`lower(target) = lower(${bind(target)}::text)`])
            ],
            limit,
            cursor
          }
        )
    })
  )
)

/** Notes of the audit log in Postgres. */
export const layerNotes: Layer.Layer<AuditNotes, never, WriteSql> = Layer.effect(
  AuditNotes,
  Effect.map(WriteSql, (sql) =>
    AuditNotes.of({
      add: ({ action, actor, target }) =>
        note.done(
          "addAuditNote",
          sql`insert into admin_audit_log (action, actor, target)
            values (${action}, ${storable(actor)}, ${storable(target)})`
        )
    })
  )
)
