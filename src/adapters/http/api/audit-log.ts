import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { MAX_AUDIT_PAGE } from "../../../ports/audit-log.ts"
import { AdminAccess } from "./access.ts"
import { cursor, DEFAULT_PAGE, filter, page, Text, Unavailable } from "./query.ts"
import { InvalidRequest } from "./relay.ts"

const AuditLogRow = Schema.Struct({
  id: Schema.String,
  action: Schema.String,
  actor: Schema.String,
  target: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String),
  details: Schema.Json,
  created_at: Schema.String
}).annotate({ identifier: "AuditLogRow" })

/** What admins did, for admins who ask later. */
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
