import { Effect, Layer } from "effect"

import { AuditLog, type AuditLogRow, AuditLogUnavailable } from "../../ports/audit-log.ts"
import { ReadSql } from "./client.ts"
import { timeColumn } from "./moment.ts"
import { newestFirst } from "./newest-first.ts"

const COLUMNS = `id, action, actor, target, note, details, ${timeColumn("created_at")}`

/** The audit log in Postgres. */
export const layer: Layer.Layer<AuditLog, never, ReadSql> = Layer.effect(
  AuditLog,
  Effect.map(ReadSql, (sql) =>
    AuditLog.of({
      page: ({ action, cursor, limit, target }) =>
        newestFirst((text, parameters) => sql.unsafe<AuditLogRow>(text, parameters), {
          table: "admin_audit_log",
          columns: COLUMNS,
          conditions: (bind) => [
            ...(action === undefined ? [] : [`action = ${bind(action)}`]),
            ...(target === undefined ? [] : [`lower(target) = lower(${bind(target)}::text)`])
          ],
          limit,
          cursor
        }).pipe(Effect.catchTag("Unanswered", ({ cause }) => Effect.fail(new AuditLogUnavailable({ cause }))))
    })
  )
)
