import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { PAGE_MEDIA_TYPE } from "../../pages/html-page.ts"
import { problemSchema } from "../../server/problem.ts"
import { OwnerAccess } from "../../server/session.ts"
import { Forbidden, InvalidRequest } from "../mail/relay.ts"
import { RateLimited, RequestsPerMinute } from "../query.ts"

/** Longest message of a form, characters; a mail shows all of it. */
const MAX_MESSAGE = 5000

const Message = Schema.String.check(Schema.isPattern(/\S/), Schema.isMaxLength(MAX_MESSAGE))
const Email = Schema.String.check(Schema.isMaxLength(320))

/** A field that people do not see: only robots fill it in. */
const honeypot = { website: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000))) }

/** The body of the contact form. */
export const ContactRequest = Schema.Struct({
  name: Schema.optionalKey(
    Schema.NullOr(Schema.String.check(Schema.isPattern(/\S/), Schema.isMaxLength(200)))
  ),
  email: Email,
  message: Message,
  ...honeypot
}).annotate({ identifier: "ContactRequest" })

/** The body of the feedback form. */
export const FeedbackRequest = Schema.Struct({
  message: Message,
  email: Schema.optionalKey(Schema.NullOr(Email)),
  rating: Schema.optionalKey(Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })))),
  page: Schema.optionalKey(Schema.NullOr(Schema.String.check(Schema.isMaxLength(500)))),
  ...honeypot
}).annotate({ identifier: "FeedbackRequest" })

const FormAnswer = Schema.Struct({ received: Schema.Literal(true), notified: Schema.Boolean })
  .annotate({
    identifier: "FormAnswer",
    description:
      "`received`: the message is stored. `notified`: a mail about it went out or its retry is queued."
  })
  .pipe(HttpApiSchema.status(202))

const bodyRefusals = [
  InvalidRequest,
  problemSchema("PAYLOAD_TOO_LARGE", {}),
  problemSchema("UNSUPPORTED_MEDIA_TYPE", {})
] as const
const Unavailable = problemSchema("UNAVAILABLE", {})

/** The public forms (DOC-53). */
export class FormGroup extends HttpApiGroup.make("forms")
  .add(
    HttpApiEndpoint.post("contact", "/api/contact", {
      payload: ContactRequest,
      success: FormAnswer,
      error: [...bodyRefusals, Unavailable]
    })
      .annotate(RequestsPerMinute, 10)
      .annotate(OpenApi.Summary, "Takes a message of the contact form")
  )
  .add(
    HttpApiEndpoint.post("feedback", "/api/feedback", {
      payload: FeedbackRequest,
      success: FormAnswer,
      error: [...bodyRefusals, Unavailable]
    })
      .annotate(RequestsPerMinute, 10)
      .annotate(OpenApi.Summary, "Takes feedback")
  )
  .middleware(RateLimited) {}

/** The body of an invitation. */
export const InviteRequest = Schema.Struct({ email: Email }).annotate({ identifier: "InviteRequest" })

/** Invitations into the caller's team. */
export class TeamGroup extends HttpApiGroup.make("team")
  .add(
    HttpApiEndpoint.post("invite", "/api/v1/team/invites", {
      payload: InviteRequest,
      success: Schema.Struct({ inviteId: Schema.String, inviteSent: Schema.Boolean })
        .annotate({ identifier: "Invitation" })
        .pipe(HttpApiSchema.status(201)),
      error: [
        ...bodyRefusals,
        problemSchema("IDEMPOTENCY_IN_PROGRESS", {}),
        problemSchema("RATE_LIMITED", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Invites somebody into the team",
        description:
          "`inviteSent` is true only where the mail went out, now or at an earlier call. Asked again while the invitation " +
          "is open, it is the same one, and its mail goes out again only where it did not before."
      })
    )
  )
  .middleware(OwnerAccess) {}

const Page = Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE }))
const token = { token: Schema.String }

/** The page behind an invitation's link. */
export class InvitePageGroup extends HttpApiGroup.make("invites")
  .add(
    HttpApiEndpoint.get("showInvite", "/invites/:token", {
      params: token,
      success: Page,
      error: [problemSchema("LINK_EXPIRED", {})]
    })
      .annotate(RequestsPerMinute, 120)
      .annotateMerge(
        OpenApi.annotations({
          summary: "The page that an invitation opens: one button",
          description: "Accepts nothing, since mail scanners follow links."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("acceptInvite", "/invites/:token", {
      params: token,
      success: Page,
      error: [Forbidden, problemSchema("LINK_EXPIRED", {}), Unavailable]
    })
      .annotate(RequestsPerMinute, 60)
      .annotate(OpenApi.Summary, "Accepts an invitation, once")
  )
  .middleware(RateLimited) {}

const AccountAnswer = Schema.Struct({
  account: Schema.Struct({
    id: Schema.String,
    email: Schema.String,
    name: Schema.NullOr(Schema.String),
    planType: Schema.Literals(["free", "paid"]),
    creditsRemaining: Schema.NullOr(Schema.Int),
    freePagesLeft: Schema.NullOr(Schema.Int),
    heldCredits: Schema.Int
  })
}).annotate({ identifier: "Account" })

/** The caller's account. */
export class AccountGroup extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("showAccount", "/api/v1/account", { success: AccountAnswer }).annotateMerge(
      OpenApi.annotations({
        summary: "The account and what is left on it",
        description:
          "`creditsRemaining` (paid plan) and `freePagesLeft` (free plan) are what can be spent now; the other one is null. " +
          "`heldCredits` is set aside for work under way, and not part of them: it is charged when a result is there, and " +
          "comes back where none is. On the free plan it counts pages."
      })
    )
  )
  .add(
    HttpApiEndpoint.delete("closeAccount", "/api/v1/account", {
      success: Schema.Struct({ deleted: Schema.Literal(true), confirmationSent: Schema.Boolean })
        .annotate({ identifier: "AccountClosed" })
        .pipe(HttpApiSchema.status(202))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Deletes the account",
        description:
          "Its tokens, sessions, links and open invitations end at once. A confirmation is mailed; `confirmationSent` says " +
          "whether it went out."
      })
    )
  )
  .middleware(OwnerAccess) {}
