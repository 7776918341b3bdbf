import { Schema, Effect, Layer, Redacted, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import {
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSecurity,
  OpenApi,
  HttpApiBuilder
} from "effect/http-api"

import { EventRecording } from "../../../../application/delivery/event-recording.ts"
import { CampaignEvents } from "../../../../application/outreach/campaign-events.ts"
import type { IncomingEvent } from "../../../../domain/delivery/delivery-event.ts"
import { isDeeperThan } from "../../../../domain/delivery/untrusted.ts"
import type { Provider } from "../../../../domain/mail/provider.ts"
import { DeliveryIntake } from "../../../../ports/delivery/delivery-log.ts"
import { secretCheck } from "../../server/credentials.ts"
import { apiOf, builtWith, openQuery } from "../../server/endpoint.ts"
import { readLargeBytes, readLargeJson } from "../../server/json-body.ts"
import { Forbidden, InvalidRequest, problem, type Problem, problemSchema } from "../../server/problem.ts"
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
  problemSchema("REQUEST_TIMEOUT", {}),
  problemSchema("INTERNAL", {})
] as const

const WebhookAnswer = Schema.Struct({
  ok: Schema.Literal(true),
  ignored: Schema.optionalKey(Schema.Literal(true)),
  warning: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "WebhookAnswer" })

/** The webhooks of `provider_a` and `postmark`: a signature, or basic credentials, authorise the caller. */
export class WebhookGroup extends HttpApiGroup.make("webhook")
  .add(
    HttpApiEndpoint.post("providerA", "/functions/v1/provider-a-webhook", {
      success: WebhookAnswer,
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
  )
  .add(
    HttpApiEndpoint.post("postmark", "/functions/v1/postmark-webhook", {
      success: WebhookAnswer,
      error: [...errors, problemSchema("UNAUTHENTICATED", {}), problemSchema("ALERT_FAILED", {})]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "A delivery event of postmark",
        description:
          "HTTP basic credentials, POSTMARK_WEBHOOK_USER and POSTMARK_WEBHOOK_PASSWORD; others are a 401, after which Postmark sends the event again. " +
          "502 where the event's alert did not go out."
      })
    )
  )
  .annotateEndpointsMerge(openQuery) {}

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
          "One EventBridge envelope or a list of them. Answered once all are recorded; alerts go out afterwards. 500 where one of them was not recorded: send all of them again, " +
          "which changes nothing of those that were."
      })
    )
  )
  .middleware(WebhookSecret)
  .annotateEndpointsMerge(openQuery) {}

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

const tooDeep = (incoming: IncomingEvent) =>
  incoming._tag === "Event" && isDeeperThan(incoming.event.raw, MAX_DEPTH)

/** Why the body of an authorised caller was not read. */
const reasonOf = ({ code }: Problem) => (code === "PAYLOAD_TOO_LARGE" ? "size" : "body")

/** Reads the bytes as they came: a signature is over them. */
const readCounting = (provider: Provider, request: HttpServerRequest.HttpServerRequest) =>
  Effect.tapError(readLargeBytes(request, MAX_INTAKE_BODY), (unread) => {
    const reason = reasonOf(unread)
    const detail = reason === "size" ? "the body is too large" : "the body ended early"
    return countRefusal(provider, reason, detail)
  })

/** The answer as it is sent: to encode it by its schema would cost more than to read the event. */
const answered = (answer: typeof WebhookAnswer.Type) => HttpServerResponse.jsonUnsafe(answer)

/** `POST /functions/v1/provider-a-webhook` (EVENT-1, EVENT-2) and `POST /functions/v1/postmark-webhook` (EVENT-6). */
export const webhookHandlers = HttpApiBuilder.group(
  apiOf(WebhookGroup),
  "webhook",
  Effect.fnUntraced(function* (handlers) {
    const ofA = yield* makeWebhookAnswer("provider-a-webhook")
    const ofPostmark = yield* makeWebhookAnswer("postmark-webhook")
    return handlers
      .handle("providerA", ({ request }) =>
        Effect.map(ofA(readCounting("provider_a", request), request.headers), answered)
      )
      .handle("postmark", ({ request }) =>
        Effect.map(ofPostmark(readCounting("postmark", request), request.headers), answered)
      )
  })
).pipe((handlers) => builtWith(handlers, DeliveryIntake, EventRecording))

/** `POST /api/webhooks/providerb-events` (EVENT-3). */
export const eventBusHandlers = HttpApiBuilder.group(
  apiOf(EventBusGroup),
  "eventBus",
  Effect.fnUntraced(function* (handlers) {
    const intake = yield* DeliveryIntake
    const recording = yield* EventRecording
    const campaigns = yield* CampaignEvents

    const read = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.tapError(readLargeJson(request, MAX_INTAKE_BODY), (unread) =>
        countRefusal("provider_b", reasonOf(unread), unread.title)
      )
    return handlers.handle(
      "providerB",
      Effect.fnUntraced(function* ({ request }) {
        const all = intake.bus(yield* read(request))
        if (all.some(tooDeep)) {
          yield* countRefusal("provider_b", "body", "an event nests too deeply")
          return yield* Effect.fail(refused("an event nests too deeply"))
        }
        const events = all.flatMap((one) => (one._tag === "Event" ? [one.event] : []))
        // All are tried before a failure is returned: when the list is sent again, the recorded ones change nothing.
        const results = yield* Effect.forEach(
          events,
          (event) => Effect.result(Effect.andThen(recording.recordFirst(event), campaigns.record(event))),
          { concurrency: AT_ONCE }
        )
        for (const result of results) {
          if (Result.isFailure(result)) {
            yield* Effect.logError(
              "a delivery event was not recorded: the answer asks the event bus to send it again",
              result.failure
            )
            return yield* Effect.fail(notRecorded)
          }
        }
        return { ok: true as const, recorded: events.length, ignored: all.length - events.length }
      })
    )
  })
)
