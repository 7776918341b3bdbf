import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"

import { EventRecording } from "../../../../domain/delivery/event-recording.ts"
import { isDeeperThan } from "../../../../domain/delivery/untrusted.ts"
import { DeliveryIntake, type WebhookRefused } from "../../../../ports/delivery/delivery-log.ts"
import { invalidRequest, problem, problemResponse } from "../../server/problem.ts"
import { countRefusal, type RefusalReason } from "./webhook-refusals.ts"

/** Largest body of an intake route, bytes. */
export const MAX_INTAKE_BODY = 1024 * 1024

/** How deep an event may nest; the vendors' stay below ten. */
export const MAX_DEPTH = 64

const json = (body: object) =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

/** The 400 that says what is wrong with a body. */
export const refused = (message: string) => problemResponse(invalidRequest([{ path: "", message }]))

/** The 500 that makes the sender send the event again (E1). */
export const notRecorded = problemResponse({
  ...problem("INTERNAL", "The event was not recorded; send it again"),
  retryable: true
})

const recorded = json({ ok: true })

const REASONS: Readonly<Record<WebhookRefused["about"], RefusalReason>> = {
  secret: "secret_unset",
  signature: "signature",
  body: "body"
}

/** Makes the answer of `POST /functions/v1/provider-a-webhook` to a raw body (EVENT-1, EVENT-2). */
export const makeWebhookAnswer = Effect.gen(function* () {
  const intake = yield* DeliveryIntake
  const recording = yield* EventRecording
  return Effect.fnUntraced(
    function* (body: Uint8Array, headers: Readonly<Record<string, unknown>>) {
      const taken = intake.webhook(body, headers)
      if (Result.isFailure(taken)) {
        const { about, reason } = taken.failure
        yield* countRefusal("provider_a", REASONS[about], reason)
        return about === "secret" ? problemResponse(problem("FORBIDDEN", reason)) : refused(reason)
      }
      const incoming = taken.success
      if (incoming._tag === "Ignored") {
        return json(incoming.warn ? { ok: true, warning: incoming.reason } : { ok: true, ignored: true })
      }
      if (isDeeperThan(incoming.event.raw, MAX_DEPTH)) {
        yield* countRefusal("provider_a", "body", "the event nests too deeply")
        return refused("the event nests too deeply")
      }
      const { alerted } = yield* recording.record(incoming.event)
      return alerted === "failed"
        ? problemResponse(problem("ALERT_FAILED", "The event is recorded, its alert did not go out"))
        : recorded
    },
    Effect.catchTag("StoreUnavailable", (error) =>
      Effect.as(Effect.logError("a delivery event was not recorded", error), notRecorded)
    )
  )
})
