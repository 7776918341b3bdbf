import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import {
  CONTACT_KINDS,
  CONTACT_STATES,
  MAX_CONTACT_PAGE,
  ContactMessages
} from "../../../../ports/accounts/accounts.ts"
import { AdminAccess } from "../../server/access.ts"
import { apiOf, cursor, DEFAULT_PAGE, filter, page } from "../../server/endpoint.ts"
import { invalidCursor, InvalidRequest, Unavailable, unavailable } from "../../server/problem.ts"

const Text = Schema.NullOr(Schema.String)

const ContactMessageRow = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(CONTACT_KINDS),
  name: Text,
  email: Text,
  message: Schema.String,
  rating: Schema.NullOr(Schema.Int),
  page: Text,
  spam: Schema.Boolean,
  notified_at: Text,
  notify_after: Schema.String,
  notify_attempts: Schema.Int,
  notify_error: Text,
  created_at: Schema.String
}).annotate({ identifier: "ContactMessageRow" })

/** Messages of the forms, for admins, including those with a notice that has not gone out. */
export class ContactMessageGroup extends HttpApiGroup.make("contactMessages")
  .add(
    HttpApiEndpoint.get("contactMessages", "/api/admin/contact-messages", {
      query: {
        state: filter(Schema.Literals(CONTACT_STATES)),
        kind: filter(Schema.Literals(CONTACT_KINDS)),
        limit: page(DEFAULT_PAGE, MAX_CONTACT_PAGE),
        cursor
      },
      success: Schema.Struct({
        rows: Schema.Array(ContactMessageRow),
        nextCursor: Schema.NullOr(Schema.String)
      }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Messages of the contact and feedback forms, newest first",
        description:
          "`state=waiting`: no provider has accepted the mail about it yet; `notify_error` says why, and the sweep tries again " +
          "from `notify_after` on. `state=spam`: nobody is notified."
      })
    )
  )
  .middleware(AdminAccess) {}

/** `GET /api/admin/contact-messages`. */
export const contactMessageHandlers = HttpApiBuilder.group(
  apiOf(ContactMessageGroup),
  "contactMessages",
  Effect.fnUntraced(function* (handlers) {
    const messages = yield* ContactMessages
    return handlers.handle("contactMessages", ({ query }) =>
      messages
        .page({
          state: query.state,
          kind: query.kind,
          cursor: query.cursor,
          limit: query.limit ?? DEFAULT_PAGE
        })
        .pipe(
          Effect.catchTags({
            StoreUnavailable: unavailable(
              "the messages of the forms cannot be read",
              "The messages cannot be read now"
            ),
            InvalidCursor: () => invalidCursor("list")
          })
        )
    )
  })
)
