import { ByteSize, Effect, Layer, Redacted, Result } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { EventRecording } from "../../../domain/delivery/event-recording.ts"
import type { IncomingEvent } from "../../../domain/delivery/incoming-event.ts"
import { isDeeperThan } from "../../../domain/delivery/untrusted.ts"
import { DeliveryIntake } from "../../../ports/delivery-intake.ts"
import { Api } from "../api/api.ts"
import { MAX_INTAKE_BODY, WebhookSecret } from "../api/intake.ts"
import { makeJsonBodies } from "../json-body.ts"
import { invalidRequest, problem, problemResponse } from "../problem.ts"
import { secretCheck } from "../secret.ts"

/** How deep an event may nest; the vendors' stay below ten. */
const MAX_DEPTH = 64

/** Events of one list that are recorded at once. */
const AT_ONCE = 50

/** 403 for a wrong, missing or unset `X-Webhook-Secret`. */
export const webhookSecretLayer = (secret: Redacted.Redacted | undefined): Layer.Layer<WebhookSecret> => {
  const check = secretCheck(secret)
  return Layer.succeed(
    WebhookSecret,
    WebhookSecret.of({
      webhookSecret: (handler, { credential }) =>
        check(Redacted.value(credential))
          ? handler
          : Effect.fail(problem("FORBIDDEN", "The header X-Webhook-Secret is missing or wrong"))
    })
  )
}

const json = (body: object) =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

const refused = (message: string) => problemResponse(invalidRequest([{ path: "", message }]))

const notRecorded = problemResponse({
  ...problem("INTERNAL", "The event was not recorded; send it again"),
  retryable: true
})

const tooDeep = (incoming: IncomingEvent) =>
  incoming._tag === "Event" && isDeeperThan(incoming.event.raw, MAX_DEPTH)

const readRaw = (request: HttpServerRequest.HttpServerRequest) => {
  const tooLarge = problemResponse(
    problem("PAYLOAD_TOO_LARGE", `The body may hold ${MAX_INTAKE_BODY} bytes at most`)
  )
  if (Number(request.headers["content-length"] ?? 0) > MAX_INTAKE_BODY) return Effect.fail(tooLarge)
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_INTAKE_BODY)),
    Effect.map((bytes) => new Uint8Array(bytes)),
    Effect.mapError((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? tooLarge
        : refused("the body ended early")
    )
  )
}

/** `POST /functions/v1/provider-a-webhook` (document 1, "Errors"). */
export const webhookHandlers = HttpApiBuilder.group(
  Api,
  "webhook",
  Effect.fnUntraced(function* (handlers) {
    const intake = yield* DeliveryIntake
    const recording = yield* EventRecording

    const receive = Effect.fnUntraced(
      function* (request: HttpServerRequest.HttpServerRequest) {
        const taken = intake.webhook(yield* readRaw(request), request.headers)
        if (Result.isFailure(taken)) return refused(taken.failure.reason)
        const incoming = taken.success
        if (incoming._tag === "Ignored") {
          return json(incoming.warn ? { ok: true, warning: incoming.reason } : { ok: true, ignored: true })
        }
        if (tooDeep(incoming)) return refused("the event nests too deeply")
        const { alerted } = yield* recording.record(incoming.event)
        return alerted === "failed"
          ? problemResponse(problem("ALERT_FAILED", "The event is recorded, its alert did not go out"))
          : json({ ok: true })
      },
      Effect.catchTag("DeliveryLogError", (error) =>
        Effect.as(Effect.logError("a delivery event was not recorded", error.cause), notRecorded)
      ),
      Effect.catch((response) => Effect.succeed(response))
    )

    return handlers.handleRaw("providerA", ({ request }) => receive(request))
  })
)

/** `POST /api/webhooks/providerb-events` (document 1, "Errors"). */
export const eventBusHandlers = HttpApiBuilder.group(
  Api,
  "eventBus",
  Effect.fnUntraced(function* (handlers) {
    const intake = yield* DeliveryIntake
    const recording = yield* EventRecording
    const bodies = yield* makeJsonBodies

    const receive = Effect.fnUntraced(
      function* (request: HttpServerRequest.HttpServerRequest) {
        const all = intake.bus(yield* bodies.read(request, MAX_INTAKE_BODY))
        if (all.some(tooDeep)) return refused("an event nests too deeply")
        const events = all.flatMap((one) => (one._tag === "Event" ? [one.event] : []))
        // All are tried before one that fails is told, so that those that come again change nothing.
        const results = yield* Effect.forEach(events, (event) => Effect.result(recording.record(event)), {
          concurrency: AT_ONCE
        })
        for (const result of results) {
          if (Result.isFailure(result)) {
            yield* Effect.logError("a delivery event was not recorded", result.failure.cause)
            return notRecorded
          }
        }
        return json({ ok: true, recorded: events.length, ignored: all.length - events.length })
      },
      Effect.catch((unread) => Effect.succeed(problemResponse(unread)))
    )

    return handlers.handleRaw("providerB", ({ request }) => receive(request))
  })
)
