import { Effect, Result } from "effect"

import { EventRecording } from "../../../../application/delivery/event-recording.ts"
import { isDeeperThan } from "../../../../domain/delivery/untrusted.ts"
import { type WebhookName, WEBHOOKS } from "../../../../domain/mail/provider.ts"
import { DeliveryIntake, type WebhookRefused } from "../../../../ports/delivery/delivery-log.ts"
import { invalidRequest, problem, type Problem } from "../../server/problem.ts"
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
  credentials: "secret",
  body: "body"
}

/**
 * How a caller who is not the provider is refused. Postmark sends an event no more once it is answered 403: a wrong password, or none yet,
 * must not cost the events of that time.
 */
const REFUSALS = {
  "provider-a-webhook": (reason: string) => problem("FORBIDDEN", reason),
  "postmark-webhook": (reason: string) => problem("UNAUTHENTICATED", reason)
} as const satisfies Readonly<Record<WebhookName, (reason: string) => Problem>>

const refuse = Effect.fnUntraced(function* <N extends WebhookName>(
  name: N,
  { about, reason }: WebhookRefused
) {
  yield* countRefusal(WEBHOOKS[name], REASONS[about], reason)
  if (about === "body" || about === "signature") return yield* Effect.fail(refused(reason))
  return yield* Effect.fail(REFUSALS[name](reason) as ReturnType<(typeof REFUSALS)[N]>)
})

/**
 * Makes the answer of a provider's webhook (EVENT-1, EVENT-2, EVENT-6). `read` reads the raw body; it runs only where the headers may be
 * those of a genuine request.
 */
export const makeWebhookAnswer = Effect.fnUntraced(function* <N extends WebhookName>(name: N) {
  const webhook = (yield* DeliveryIntake).webhooks[name]
  const recording = yield* EventRecording
  return Effect.fnUntraced(
    function* <E, R>(read: Effect.Effect<Uint8Array, E, R>, headers: Readonly<Record<string, unknown>>) {
      const known = webhook.admits(headers)
      if (Result.isFailure(known)) return yield* refuse(name, known.failure)
      const taken = webhook.read(yield* read, headers)
      if (Result.isFailure(taken)) return yield* refuse(name, taken.failure)
      const incoming = taken.success
      if (incoming._tag === "Ignored") {
        return incoming.warn
          ? { ok: true as const, warning: incoming.reason }
          : { ok: true as const, ignored: true as const }
      }
      if (isDeeperThan(incoming.event.raw, MAX_DEPTH)) {
        yield* countRefusal(WEBHOOKS[name], "body", "the event nests too deeply")
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
