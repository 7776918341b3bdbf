import { Effect, Result } from "effect"

import { EventRecording } from "../../../../application/delivery/event-recording.ts"
import { isDeeperThan } from "../../../../domain/delivery/untrusted.ts"
import { DeliveryIntake, type WebhookRefused } from "../../../../ports/delivery/delivery-log.ts"
import { invalidRequest, problem } from "../../server/problem.ts"
import { countRefusal, type RefusalReason } from "./webhook-refusals.ts"

/** Largest body of an intake route, bytes. */
export const MAX_INTAKE_BODY = 1024 * 1024

/** How deep an event may nest; the vendors' stay below ten. */
export const MAX_DEPTH = 64

/** The 400 that says what is wrong with a body. */
export const refused = (message: string) => invalidRequest([{ path: "", message }])

/** The 500 that makes the sender send the event again (E1). */
export const notRecorded = {
  ...problem("INTERNAL", "The event was not recorded; send it again"),
  retryable: true
}

const alertFailed = problem("ALERT_FAILED", "The event is recorded, its alert did not go out")

const REASONS: Readonly<Record<WebhookRefused["about"], RefusalReason>> = {
  secret: "secret_unset",
  signature: "signature",
  body: "body"
}

const refuse = Effect.fnUntraced(function* ({ about, reason }: WebhookRefused) {
  yield* countRefusal("provider_a", REASONS[about], reason)
  return yield* Effect.fail(about === "secret" ? problem("FORBIDDEN", reason) : refused(reason))
})

/**
 * Makes the answer of `POST /functions/v1/provider-a-webhook` (EVENT-1, EVENT-2). `read` reads the raw body; it runs only where the
 * headers may be those of a signed request.
 */
export const makeWebhookAnswer = Effect.gen(function* () {
  const intake = yield* DeliveryIntake
  const recording = yield* EventRecording
  return Effect.fnUntraced(
    function* <E, R>(read: Effect.Effect<Uint8Array, E, R>, headers: Readonly<Record<string, unknown>>) {
      const known = intake.webhookHeaders(headers)
      if (Result.isFailure(known)) return yield* refuse(known.failure)
      const taken = intake.webhook(yield* read, headers)
      if (Result.isFailure(taken)) return yield* refuse(taken.failure)
      const incoming = taken.success
      if (incoming._tag === "Ignored") {
        return incoming.warn
          ? { ok: true as const, warning: incoming.reason }
          : { ok: true as const, ignored: true as const }
      }
      if (isDeeperThan(incoming.event.raw, MAX_DEPTH)) {
        yield* countRefusal("provider_a", "body", "the event nests too deeply")
        return yield* Effect.fail(refused("the event nests too deeply"))
      }
      const { alerted } = yield* recording.record(incoming.event)
      return alerted === "failed" ? yield* Effect.fail(alertFailed) : { ok: true as const }
    },
    Effect.catchTag("StoreUnavailable", (error) =>
      Effect.andThen(
        Effect.logError(
          "a delivery event was not recorded: the answer asks the provider to send it again",
          error
        ),
        Effect.fail(notRecorded)
      )
    )
  )
})
