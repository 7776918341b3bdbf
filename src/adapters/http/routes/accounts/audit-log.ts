import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { MAX_AUDIT_PAGE, AuditLog } from "../../../../ports/accounts/audit-log.ts"
import { AdminAccess } from "../../server/access.ts"
import { apiOf, cursor, DEFAULT_PAGE, filter, page, Text } from "../../server/endpoint.ts"
import { invalidCursor, InvalidRequest, Unavailable, unavailable } from "../../server/problem.ts"

const AuditLogRow = Schema.Struct({
  id: Schema.String,
  action: Schema.String,
  actor: Schema.String,
  target: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String),
  details: Schema.Json,
  created_at: Schema.String
}).annotate({ identifier: "AuditLogRow" })

/** The audit log of admin actions, for admins. */
export class AuditLogGroup extends HttpApiGroup.make("auditLog")
  .add(
    HttpApiEndpoint.get("auditLog", "/api/admin/audit-log", {
      query: {
        action: filter(Text.check(Schema.isMaxLength(200))),
        target: filter(Text.check(Schema.isMaxLength(320))),
        limit: page(DEFAULT_PAGE, MAX_AUDIT_PAGE),
        cursor
      },
      success: Schema.Struct({ rows: Schema.Array(AuditLogRow), nextCursor: Schema.NullOr(Schema.String) }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "What admins did, newest first",
        description: "`action` matches exactly, `target` too but for case. An empty filter counts as missing."
      })
    )
  )
  .middleware(AdminAccess) {}

/** `GET /api/admin/audit-log`. */
export const auditLogHandlers = HttpApiBuilder.group(
  apiOf(AuditLogGroup),
  "auditLog",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handle("auditLog", ({ query }) =>
      log
        .page({
          action: query.action,
          target: query.target,
          cursor: query.cursor,
          limit: query.limit ?? DEFAULT_PAGE
        })
        .pipe(
          Effect.catchTags({
            StoreUnavailable: unavailable(
              "the audit log does not answer",
              "The audit log does not answer now"
            ),
            InvalidCursor: () => invalidCursor("log")
          })
        )
    )
  })
)
