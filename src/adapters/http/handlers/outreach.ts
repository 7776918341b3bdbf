import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { Outreach, type OutreachResult } from "../../../domain/outreach/outreach.ts"
import { Api } from "../api/api.ts"
import { OutreachRequest } from "../api/outreach.ts"
import { bodyDecoder } from "../decode-body.ts"
import { makeJsonBodies } from "../json-body.ts"
import { invalidRequest, problem, problemResponse } from "../problem.ts"

/** Largest body of this route, bytes. */
const MAX_BODY = 512 * 1024

const json = (body: object) =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

const answer = (outcome: OutreachResult): HttpServerResponse.HttpServerResponse => {
  if (outcome._tag === "Unsubscribed") {
    return problemResponse(problem("UNSUBSCRIBED", "The address wants no outreach; nothing was sent"))
  }
  if (outcome._tag === "SentBefore") {
    const { id, providerMessageId, status } = outcome
    return json({ id, status, sentBefore: true, providerMessageId })
  }
  const { id, result } = outcome
  const ended = { sendId: result.sendId, idempotencyKey: result.idempotencyKey }
  switch (result.status) {
    case "sent":
    case "deferred":
      return json({
        id,
        status: result.status,
        sentBefore: false,
        providerMessageId: result.providerMessageId
      })
    case "suppressed":
      return problemResponse({
        ...problem("EMAIL_SUPPRESSED", result.error),
        ...ended,
        suppressedRecipients: result.suppressedRecipients
      })
    case "failed":
      return problemResponse({
        ...problem("EMAIL_FAILED", result.error),
        ...ended,
        retryable: result.kind === "unavailable",
        kind: result.kind,
        provider: result.provider
      })
  }
}

const decode = bodyDecoder(OutreachRequest)

const unavailable = ({ cause }: { readonly cause: unknown }) =>
  Effect.logError("outreach cannot ask whether an address is unsubscribed", cause).pipe(
    Effect.as(problemResponse(problem("UNAVAILABLE", "The campaigns do not answer now; nothing was sent")))
  )

/** `POST /api/admin/outreach/sends`. */
export const outreachHandlers = HttpApiBuilder.group(
  Api,
  "outreach",
  Effect.fnUntraced(function* (handlers) {
    const outreach = yield* Outreach
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("sendOutreach", ({ request }) =>
      bodies.read(request, MAX_BODY).pipe(
        Effect.flatMap(decode),
        Effect.flatMap((body) => outreach.send(body)),
        Effect.map(answer),
        Effect.catchTags({
          InvalidRequest: ({ issues }) => Effect.succeed(problemResponse(invalidRequest(issues))),
          IdempotencyConflict: ({ message }) =>
            Effect.succeed(problemResponse(problem("IDEMPOTENCY_CONFLICT", message))),
          IdempotencyInProgress: ({ message }) =>
            Effect.succeed(problemResponse(problem("IDEMPOTENCY_IN_PROGRESS", message))),
          CampaignBookUnavailable: unavailable,
          UnsubscribesUnavailable: unavailable
        }),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )
    )
  })
)
