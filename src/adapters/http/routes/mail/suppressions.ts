import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { addressKey, parsePublicMailbox, writtenKey } from "../../../../domain/mail/address.ts"
import { ListedReason } from "../../../../domain/mail/suppression/policy.ts"
import { MAX_SUPPRESSION_PAGE, SuppressionList } from "../../../../ports/mail/suppression-list.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf, DEFAULT_PAGE, filter, mailboxIn, page, Text } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import {
  bodyRefusals,
  invalidCursor,
  InvalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"

const Note = Text.check(Schema.isMaxLength(1000))

/** The body that adds a suppression. */
const SuppressionRequest = Schema.Struct({
  email: Text.check(Schema.isMaxLength(320)),
  note: Schema.optionalKey(Note)
}).annotate({ identifier: "SuppressionRequest" })

const SuppressionRow = Schema.Struct({
  email: Schema.String,
  reason: ListedReason,
  note: Schema.NullOr(Schema.String),
  created_at: Schema.String
}).annotate({ identifier: "SuppressionRow" })

const PATH = "/api/admin/email-suppressions"

/** The suppression list for admins (EVENT-61). */
export class SuppressionGroup extends HttpApiGroup.make("suppressions")
  .add(
    HttpApiEndpoint.get("listSuppressions", PATH, {
      query: {
        email: filter(Text.check(Schema.isMaxLength(320))),
        reason: filter(ListedReason),
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
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(jsonBody(64 * 1024))
      .annotateMerge(
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
        summary: "Removes every suppression of an address, and its unsubscription",
        description:
          "Only where the address was fixed or its owner asked for mail again; `note` says why. One `email_unsuppress` row " +
          "in `admin_audit_log` tells of it."
      })
    )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

const away = unavailable("the suppression list does not answer", "The suppression list does not answer now")

/** `/api/admin/email-suppressions`. */
export const suppressionHandlers = HttpApiBuilder.group(
  apiOf(SuppressionGroup),
  "suppressions",
  Effect.fnUntraced(function* (handlers) {
    const list = yield* SuppressionList
    return handlers.handleAll({
      listSuppressions: ({ query }) =>
        list
          .page({
            email: query.email ? writtenKey(query.email) : undefined,
            reason: query.reason,
            cursor: query.cursor,
            limit: query.limit ?? DEFAULT_PAGE
          })
          .pipe(
            Effect.catchTags({
              StoreUnavailable: away,
              InvalidSuppressionCursor: () => invalidCursor("list")
            })
          ),
      addSuppression: Effect.fnUntraced(function* ({ payload }) {
        const mailbox = yield* mailboxIn("email", payload.email, parsePublicMailbox)
        const { actor } = yield* CurrentPrincipal
        return yield* list
          .add({ email: addressKey(mailbox), actor, note: payload.note || undefined })
          .pipe(Effect.catch(away))
      }),
      removeSuppressions: Effect.fnUntraced(function* ({ params, query }) {
        const email = writtenKey(params.email)
        const { actor } = yield* CurrentPrincipal
        const removed = email.includes("\0")
          ? 0
          : yield* list.remove({ email, actor, note: query.note }).pipe(Effect.catch(away))
        return removed === 0
          ? yield* Effect.fail(problem("NOT_FOUND", "The address is not suppressed"))
          : { removed }
      })
    })
  })
)
