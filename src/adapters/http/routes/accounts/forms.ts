import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { ContactForms } from "../../../../application/accounts/contact-forms.ts"
import { addressOf } from "../../../../domain/mail/address.ts"
import type { ContactMessage } from "../../../../ports/accounts/accounts.ts"
import { apiOf, mailboxIn } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import { bodyRefusals, problem, problemSchema } from "../../server/problem.ts"
import { RateLimited, RequestsPerMinute } from "../../server/rate-limit.ts"

/** Largest body of a form, bytes: the longest message in escaped JSON, and the rest. */
const MAX_BODY = 64 * 1024

/** Longest message of a form, characters; a mail shows all of it. */
const MAX_MESSAGE = 5000

const Message = Schema.String.check(
  Schema.isPattern(/\S/u, { message: "is empty" }),
  Schema.isMaxLength(MAX_MESSAGE)
)
const Email = Schema.String.check(Schema.isMaxLength(320))

/** A field that people do not see: only robots fill it in. */
const honeypot = { website: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000))) }

/** The body of the contact form. */
const ContactRequest = Schema.Struct({
  name: Schema.optionalKey(
    Schema.NullOr(
      Schema.String.check(Schema.isPattern(/\S/u, { message: "is empty" }), Schema.isMaxLength(200))
    )
  ),
  email: Email,
  message: Message,
  ...honeypot
}).annotate({ identifier: "ContactRequest" })

/** The body of the feedback form. */
const FeedbackRequest = Schema.Struct({
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

/** What the forms and the team's routes declare. */
export const formRefusals = bodyRefusals()
export const FormsUnavailable = problemSchema("UNAVAILABLE", {})

/** The public forms (DOC-53). */
export class FormGroup extends HttpApiGroup.make("forms")
  .add(
    HttpApiEndpoint.post("contact", "/api/contact", {
      payload: ContactRequest,
      success: FormAnswer,
      error: [...formRefusals, FormsUnavailable]
    })
      .annotate(RequestsPerMinute, 10)
      .annotateMerge(jsonBody(MAX_BODY))
      .annotate(OpenApi.Summary, "Takes a message of the contact form")
  )
  .add(
    HttpApiEndpoint.post("feedback", "/api/feedback", {
      payload: FeedbackRequest,
      success: FormAnswer,
      error: [...formRefusals, FormsUnavailable]
    })
      .annotate(RequestsPerMinute, 10)
      .annotateMerge(jsonBody(MAX_BODY))
      .annotate(OpenApi.Summary, "Takes feedback")
  )
  .middleware(JsonBody)
  .middleware(RateLimited) {}

const bareAddress = (email: string) => Effect.map(mailboxIn("email", email), addressOf)

/** Text without surrounding blanks; undefined where nothing else is there. */
const trimmed = (text: string | null | undefined): string | undefined => text?.trim() || undefined

const contactMessage = Effect.fnUntraced(function* (body: typeof ContactRequest.Type) {
  return {
    kind: "contact",
    name: trimmed(body.name),
    email: yield* bareAddress(body.email),
    message: body.message,
    rating: undefined,
    page: undefined,
    spam: (body.website ?? "") !== ""
  } satisfies ContactMessage
})

const feedbackMessage = Effect.fnUntraced(function* (body: typeof FeedbackRequest.Type) {
  const email = trimmed(body.email)
  return {
    kind: "feedback",
    name: undefined,
    email: email === undefined ? undefined : yield* bareAddress(email),
    message: body.message,
    rating: body.rating ?? undefined,
    page: trimmed(body.page) === undefined ? undefined : (body.page ?? undefined),
    spam: (body.website ?? "") !== ""
  } satisfies ContactMessage
})

/** `POST /api/contact`, `POST /api/feedback`. */
export const formHandlers = HttpApiBuilder.group(
  apiOf(FormGroup),
  "forms",
  Effect.fnUntraced(function* (handlers) {
    const forms = yield* ContactForms
    const receive = (message: ContactMessage) =>
      Effect.catchTag(forms.receive(message), "StoreUnavailable", (error) =>
        Effect.logError("a message of the contact form could not be stored", error).pipe(
          Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The message could not be stored; try again")))
        )
      )
    return handlers.handleAll({
      contact: ({ payload }) => Effect.flatMap(contactMessage(payload), receive),
      feedback: ({ payload }) => Effect.flatMap(feedbackMessage(payload), receive)
    })
  })
)
