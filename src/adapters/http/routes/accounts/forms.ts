import { Effect, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { ContactForms } from "../../../../domain/accounts/contact-forms.ts"
import { addressOf, parseMailbox } from "../../../../domain/mail/address.ts"
import type { ContactMessage } from "../../../../ports/accounts/accounts.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import { invalidRequest, problem, type Problem, problemResponse } from "../../server/problem.ts"
import { FormGroup, ContactRequest, FeedbackRequest } from "./caller-api.ts"

/** Largest body of a form, bytes: the longest message in escaped JSON, and the rest. */
const MAX_BODY = 64 * 1024

const decodeContact = bodyDecoder(ContactRequest)
const decodeFeedback = bodyDecoder(FeedbackRequest)

/** The bare address, or what is wrong with it. */
const bareAddress = (email: string): Effect.Effect<string, Problem> => {
  const parsed = parseMailbox(email.trim())
  return Result.isSuccess(parsed)
    ? Effect.succeed(addressOf(parsed.success))
    : Effect.fail(invalidRequest([{ path: "email", message: parsed.failure }]))
}

const contactMessage = Effect.fnUntraced(function* (body: unknown) {
  const { email, message, name, website } = yield* decodeContact(body)
  return {
    kind: "contact",
    name: (name ?? "").trim() === "" ? undefined : name?.trim(),
    email: yield* bareAddress(email),
    message,
    rating: undefined,
    page: undefined,
    spam: (website ?? "") !== ""
  } satisfies ContactMessage
})

const feedbackMessage = Effect.fnUntraced(function* (body: unknown) {
  const { email, message, page, rating, website } = yield* decodeFeedback(body)
  return {
    kind: "feedback",
    name: undefined,
    email: (email ?? "").trim() === "" ? undefined : yield* bareAddress(email ?? ""),
    message,
    rating: rating ?? undefined,
    page: (page ?? "").trim() === "" ? undefined : (page ?? undefined),
    spam: (website ?? "") !== ""
  } satisfies ContactMessage
})

/** `POST /api/contact`, `POST /api/feedback`. */
export const formHandlers = HttpApiBuilder.group(
  apiOf(FormGroup),
  "forms",
  Effect.fnUntraced(function* (handlers) {
    const forms = yield* ContactForms
    const bodies = yield* makeJsonBodies

    const receive = (
      request: HttpServerRequest.HttpServerRequest,
      messageOf: (body: unknown) => Effect.Effect<ContactMessage, Problem>
    ) =>
      bodies.read(request, MAX_BODY).pipe(
        Effect.flatMap(messageOf),
        Effect.flatMap((message) => forms.receive(message)),
        Effect.map((answer) =>
          HttpServerResponse.text(JSON.stringify(answer), { status: 202, contentType: "application/json" })
        ),
        Effect.catchTag("StoreUnavailable", (error) =>
          Effect.logError("a message of the contact form could not be stored", error).pipe(
            Effect.as(problemResponse(problem("UNAVAILABLE", "The message could not be stored; try again")))
          )
        ),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )

    return handlers
      .handleRaw("contact", ({ request }) => receive(request, contactMessage))
      .handleRaw("feedback", ({ request }) => receive(request, feedbackMessage))
  })
)
