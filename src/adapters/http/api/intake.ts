import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"

import { problemSchema } from "../problem.ts"
import { Forbidden, InvalidRequest } from "./relay.ts"

/** Lets the event bus pass, which presents its secret; everybody else gets 403 before the body is read. */
export class WebhookSecret extends HttpApiMiddleware.Service<WebhookSecret>()("postlane/http/WebhookSecret", {
  security: { webhookSecret: HttpApiSecurity.apiKey({ key: "X-Webhook-Secret", in: "header" }) },
  error: Forbidden
}) {}

const errors = [
  InvalidRequest,
  problemSchema("PAYLOAD_TOO_LARGE", {}),
  problemSchema("INTERNAL", {})
] as const

/** The webhook of `provider_a`: its signature is what lets a caller pass. */
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
