import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { AdminInvitations } from "../../../../application/accounts/admin-invitations.ts"
import { AdminRight } from "../../../../domain/accounts/principal.ts"
import { addressKey, addressOf, parsePublicMailbox, writtenKey } from "../../../../domain/mail/address.ts"
import { Admins } from "../../../../ports/accounts/access.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf, mailboxIn, Text } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import { bodyRefusals, problem, problemSchema, Unavailable, unavailable } from "../../server/problem.ts"
import { RequestLimits, takeOrRefuse } from "../../server/rate-limit.ts"

const AdminRow = Schema.Struct({
  email: Schema.String,
  rights: Schema.Array(AdminRight),
  invitedBy: Schema.String,
  createdAt: Schema.String
}).annotate({ identifier: "AdminRow" })

const PATH = "/api/admin/admins"

/** The people who sign in as admins by mail (DOC-54). */
export class AdminsGroup extends HttpApiGroup.make("admins")
  .add(
    HttpApiEndpoint.get("listAdmins", PATH, {
      success: Schema.Struct({ rows: Schema.Array(AdminRow) }),
      error: [Unavailable]
    }).annotate(OpenApi.Summary, "People who may sign in as admins, by address")
  )
  .add(
    HttpApiEndpoint.post("inviteAdmin", PATH, {
      payload: Schema.Struct({
        email: Text.check(Schema.isMaxLength(320)),
        right: AdminRight
      }).annotate({ identifier: "AdminRequest" }),
      success: Schema.Struct({
        answer: Schema.Literals(["invited", "changed", "exists"]),
        inviteSent: Schema.Boolean
      })
        .annotate({ identifier: "AdminInvited" })
        .pipe(HttpApiSchema.status(201)),
      error: [...bodyRefusals(), problemSchema("RATE_LIMITED", {}), Unavailable]
    })
      .annotateMerge(jsonBody(4096))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Lets an address sign in as an admin, and mails that it may",
          description:
            "`changed`: they had another right, and their sessions end. The mail holds no secret: they sign in by a link " +
            "that is mailed to the same address. An `admin_invited` or `admin_changed` row is written to `admin_audit_log`."
        })
      )
  )
  .add(
    HttpApiEndpoint.delete("removeAdmin", `${PATH}/:email`, {
      params: { email: Schema.String },
      success: HttpApiSchema.NoContent,
      error: [problemSchema("NOT_FOUND", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Removes an admin",
        description: "Their sessions end at once. An `admin_removed` row is written to `admin_audit_log`."
      })
    )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

/** How many people one admin invites: a stolen session must not become a source of unwanted mail. */
const INVITES_OF_AN_ADMIN = { limit: 50, window: "1 day" } as const

const noAdmin = problem("NOT_FOUND", "Nobody of this address signs in as an admin")
const away = unavailable("admins cannot be reached", "Admins cannot be reached now")

/** `/api/admin/admins`. */
export const adminsHandlers = HttpApiBuilder.group(
  apiOf(AdminsGroup),
  "admins",
  Effect.fnUntraced(function* (handlers) {
    const admins = yield* Admins
    const invitations = yield* AdminInvitations
    const limits = yield* RequestLimits
    return handlers.handleAll({
      listAdmins: () =>
        admins.list.pipe(
          Effect.map((rows) => ({
            rows: rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt).toISOString() }))
          })),
          Effect.catch(away)
        ),
      inviteAdmin: Effect.fnUntraced(function* ({ payload: { email, right } }) {
        const mailbox = yield* mailboxIn("email", email, parsePublicMailbox)
        const { actor } = yield* CurrentPrincipal
        yield* takeOrRefuse(limits, { key: `admin invites ${actor}`, ...INVITES_OF_AN_ADMIN })
        return yield* invitations
          .invite({ email: addressKey(mailbox), to: addressOf(mailbox), right, actor })
          .pipe(Effect.catch(away))
      }),
      removeAdmin: Effect.fnUntraced(function* ({ params }) {
        const { actor } = yield* CurrentPrincipal
        const removed = yield* admins
          .remove({ email: writtenKey(params.email), actor })
          .pipe(Effect.catch(away))
        if (!removed) return yield* Effect.fail(noAdmin)
      })
    })
  })
)
