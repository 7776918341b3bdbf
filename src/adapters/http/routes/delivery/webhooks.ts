import { Schema, ByteSize, Effect, Layer, Redacted, Result } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, HttpServerResponse } from "effect/http"
import {
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSecurity,
  OpenApi,
  HttpApiBuilder
} from "effect/http-api"

import type { IncomingEvent } from "../../../../domain/delivery/delivery-event.ts"
import { EventRecording } from "../../../../domain/delivery/event-recording.ts"
import { isDeeperThan } from "../../../../domain/delivery/untrusted.ts"
import { CampaignEvents } from "../../../../domain/outreach/campaign-events.ts"
import { DeliveryIntake } from "../../../../ports/delivery/delivery-log.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { secretCheck } from "../../server/credentials.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, problem, problemResponse } from "../../server/problem.ts"
import { Forbidden, InvalidRequest } from "../mail/relay.ts"
import { makeWebhookAnswer, MAX_DEPTH, MAX_INTAKE_BODY, notRecorded, refused } from "./webhook-answer.ts"
import { countRefusal } from "./webhook-refusals.ts"

/** Lets only callers with the event bus's secret pass; others get 403 before the body is read. */
class WebhookSecret extends HttpApiMiddleware.Service<WebhookSecret>()("postlane/http/WebhookSecret", {
  security: { webhookSecret: HttpApiSecurity.apiKey({ key: "X-Webhook-Secret", in: "header" }) },
  error: Forbidden
}) {}

const errors = [
  InvalidRequest,
  problemSchema("PAYLOAD_TOO_LARGE", {}),
  problemSchema("INTERNAL", {})
] as const

/** The webhook of `provider_a`: the signature authorises the caller. */
export class WebhookGroup extends HttpApiGroup.make("webhook").add(
  HttpApiEndpoint.post("providerA", "/functions/v1/provider-a-webhook", {
    success: Schema.Struct({
      ok: Schema.Literal(true),
      ignored: Schema.optionalKey(Schema.Literal(true)),
      warning: Schema.optionalKey(Schema.String)
    }).annotate({ identifier: "WebhookAnswer" }),
    error: [...errors, Forbidden, problemSchema("ALERT_FAILED", {})]
  }).annotateMerge(
    OpenApi.annotations({
      summary: "A delivery event of provider_a",
      description:
        "Standard Webhooks: the headers `svix-id`, `svix-timestamp` and `svix-signature`, or the same with `webhook-`. " +
        "The raw body is verified before it is read; a signature that does not hold, or a time more than five minutes " +
        "off, is a 400 and nothing is recorded; where PROVIDERA_WEBHOOK_SECRET is unset, everything is a 403. 502 where the event's alert did not go out: send it again."
    })
  )
) {}

/** The event bus of `provider_b`. */
export class EventBusGroup extends HttpApiGroup.make("eventBus")
  .add(
    HttpApiEndpoint.post("providerB", "/api/webhooks/providerb-events", {
      success: Schema.Struct({
        ok: Schema.Literal(true),
        recorded: Schema.Int,
        ignored: Schema.Int
      }).annotate({ identifier: "EventBusAnswer" }),
      error: [...errors, problemSchema("UNSUPPORTED_MEDIA_TYPE", {})]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Delivery events of provider_b",
        description:
          "One EventBridge envelope or a list of them. 500 where one of them was not recorded: send all of them again, " +
          "which changes nothing of those that were."
      })
    )
  )
  .middleware(WebhookSecret) {}

/** How many events of one list are recorded at once. */
const AT_ONCE = 50

/** 403 for a wrong, missing or unset `X-Webhook-Secret`. */
export const webhookSecretLayer = (secret: Redacted.Redacted | undefined): Layer.Layer<WebhookSecret> => {
  const check = secretCheck(secret)
  const unset = secret === undefined || Redacted.value(secret) === ""
  const wrong = "The header X-Webhook-Secret is missing or wrong"
  const refusal = unset
    ? countRefusal("provider_b", "secret_unset", "PROVIDERB_WEBHOOK_SECRET is unset")
    : countRefusal("provider_b", "secret", wrong)
  return Layer.succeed(
    WebhookSecret,
    WebhookSecret.of({
      webhookSecret: (handler, { credential }) =>
        check(Redacted.value(credential))
          ? handler
          : Effect.andThen(refusal, Effect.fail(problem("FORBIDDEN", wrong)))
    })
  )
}

const json = (body: object) =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

const tooDeep = (incoming: IncomingEvent) =>
  incoming._tag === "Event" && isDeeperThan(incoming.event.raw, MAX_DEPTH)

const maxBody = ByteSize.bytes(MAX_INTAKE_BODY)

const tooLarge = problemResponse(
  problem("PAYLOAD_TOO_LARGE", `The body may hold ${MAX_INTAKE_BODY} bytes at most`)
)

const readRaw = (request: HttpServerRequest.HttpServerRequest) => {
  if (Number(request.headers["content-length"] ?? 0) > MAX_INTAKE_BODY) return Effect.fail(tooLarge)
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, maxBody),
    Effect.map((bytes) => new Uint8Array(bytes)),
    Effect.mapError((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? tooLarge
        : refused("the body ended early")
    )
  )
}

/** `POST /functions/v1/provider-a-webhook` (EVENT-1, EVENT-2). */
export const webhookHandlers = HttpApiBuilder.group(
  apiOf(WebhookGroup),
  "webhook",
  Effect.fnUntraced(function* (handlers) {
    const answer = yield* makeWebhookAnswer
    const receive = (request: HttpServerRequest.HttpServerRequest) =>
      readRaw(request).pipe(
        Effect.tapError((response) =>
          countRefusal(
            "provider_a",
            response === tooLarge ? "size" : "body",
            response === tooLarge ? "the body is too large" : "the body ended early"
          )
        ),
        Effect.flatMap((body) => answer(body, request.headers)),
        Effect.catch((response) => Effect.succeed(response))
      )

    return handlers.handleRaw("providerA", ({ request }) => receive(request))
  })
)

/** `POST /api/webhooks/providerb-events` (EVENT-3). */
export const eventBusHandlers = HttpApiBuilder.group(
  apiOf(EventBusGroup),
  "eventBus",
  Effect.fnUntraced(function* (handlers) {
    const intake = yield* DeliveryIntake
    const recording = yield* EventRecording
    const campaigns = yield* CampaignEvents
    const bodies = yield* makeJsonBodies

    const receive = Effect.fnUntraced(
      function* (request: HttpServerRequest.HttpServerRequest) {
        const all = intake.bus(yield* bodies.read(request, MAX_INTAKE_BODY))
        if (all.some(tooDeep)) {
          yield* countRefusal("provider_b", "body", "an event nests too deeply")
          return refused("an event nests too deeply")
        }
        const events = all.flatMap((one) => (one._tag === "Event" ? [one.event] : []))
        // All are tried before a failure is returned: when the list is sent again, the recorded ones change nothing.
        const results = yield* Effect.forEach(
          events,
          (event) => Effect.result(Effect.andThen(recording.record(event), campaigns.record(event))),
          { concurrency: AT_ONCE }
        )
        for (const result of results) {
          if (Result.isFailure(result)) {
            yield* Effect.logError("a delivery event was not recorded", result.failure)
            return notRecorded
          }
        }
        return json({ ok: true, recorded: events.length, ignored: all.length - events.length })
      },
      Effect.catch((unread) => {
        const reason = unread.code === "PAYLOAD_TOO_LARGE" ? "size" : "body"
        return Effect.as(countRefusal("provider_b", reason, unread.title), problemResponse(unread))
      })
    )

    return handlers.handleRaw("providerB", ({ request }) => receive(request))
  })
)
