import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { AuditLog } from "../../../ports/audit-log.ts"
import { Api } from "../api/api.ts"
import { DEFAULT_PAGE } from "../api/query.ts"
import { invalidCursor, problem } from "../problem.ts"

/** `GET /api/admin/audit-log`. */
export const auditLogHandlers = HttpApiBuilder.group(
  Api,
  "auditLog",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handle("auditLog", ({ query }) =>
      log
        .page({
          action: query.action || undefined,
          target: query.target || undefined,
          cursor: query.cursor || undefined,
          limit: query.limit || DEFAULT_PAGE
        })
        .pipe(
          Effect.catchTags({
            AuditLogUnavailable: ({ cause }) =>
              Effect.logWarning("The audit log does not answer", cause).pipe(
                Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The audit log does not answer now")))
              ),
            InvalidCursor: () => invalidCursor("log")
          })
        )
    )
  })
)
