import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { SuppressionReason } from "../../../domain/mail/suppression-policy.ts"
import { MAX_SUPPRESSION_PAGE } from "../../../ports/suppression-list.ts"
import { problemSchema } from "../problem.ts"
import { AdminAccess } from "./access.ts"
import { DEFAULT_PAGE, filter, page, Text, Unavailable } from "./query.ts"
import { InvalidRequest } from "./relay.ts"

const Note = Text.check(Schema.isMaxLength(1000))

/** The body that adds a suppression. */
export const SuppressionRequest = Schema.Struct({
  email: Text.check(Schema.isMaxLength(320)),
  note: Schema.optionalKey(Note)
}).annotate({ identifier: "SuppressionRequest" })

const SuppressionRow = Schema.Struct({
  email: Schema.String,
  reason: SuppressionReason,
  note: Schema.NullOr(Schema.String),
  created_at: Schema.String
}).annotate({ identifier: "SuppressionRow" })

const PATH = "/api/admin/email-suppressions"

/** The suppression list as admins work with it (contract, "Admin"). */
export class SuppressionGroup extends HttpApiGroup.make("suppressions")
  .add(
    HttpApiEndpoint.get("listSuppressions", PATH, {
      query: {
        email: filter(Text.check(Schema.isMaxLength(320))),
        reason: filter(SuppressionReason),
        limit: page(DEFAULT_PAGE, MAX_SUPPRESSION_PAGE),
        cursor: filter(Text.check(Schema.isMaxLength(1000)))
      },
      success: Schema.Struct({
        rows: Schema.Array(SuppressionRow),
        nextCursor: Schema.NullOr(Schema.String)
      }),
      error: [InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "Addresses that are not mailed, newest first")
  )
  .add(
    HttpApiEndpoint.post("addSuppression", PATH, {
      payload: SuppressionRequest,
      success: SuppressionRow,
      error: [
        InvalidRequest,
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
        Unavailable
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Adds a manual suppression",
        description: "One `email_suppress` row in `admin_audit_log` tells of it, with the note."
      })
    )
  )
  .add(
    HttpApiEndpoint.delete("removeSuppressions", `${PATH}/:email`, {
      params: { email: Schema.String },
      query: { note: filter(Note) },
      success: Schema.Struct({ removed: Schema.Int }),
      error: [InvalidRequest, problemSchema("NOT_FOUND", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Removes every suppression of an address",
        description:
          "Only where the address was fixed or its owner asked for mail again; `note` says why. One `email_unsuppress` row " +
          "in `admin_audit_log` tells of it."
      })
    )
  )
  .middleware(AdminAccess) {}
