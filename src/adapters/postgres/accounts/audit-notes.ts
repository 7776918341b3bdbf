import { Effect, Layer } from "effect"

import { AuditNotes } from "../../../ports/accounts/audit-log.ts"
import { WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { storable } from "../values.ts"

const ask = statements({ within: "5 seconds" })

/** Notes of the audit log in Postgres. */
export const layer: Layer.Layer<AuditNotes, never, WriteSql> = Layer.effect(
  AuditNotes,
  Effect.map(WriteSql, (sql) =>
    AuditNotes.of({
      add: ({ action, actor, target }) =>
        ask.done(
          "addAuditNote",
          sql`insert into admin_audit_log (action, actor, target)
            values (${action}, ${storable(actor)}, ${storable(target)})`
        )
    })
  )
)
