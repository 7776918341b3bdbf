import { Schema, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { type AlertOutcome, Alerts } from "../../../../domain/delivery/alerts.ts"
import { Provider } from "../../../../domain/mail/failover.ts"
import { AlertPreferences } from "../../../../ports/delivery/alert-channels.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, problem, problemResponse } from "../../server/problem.ts"
import { AdminAccess } from "../../server/session.ts"
import { InvalidRequest, ProxySecret } from "../mail/relay.ts"
import { Unavailable } from "../query.ts"

const short = Schema.String.check(Schema.isMaxLength(1000))
const optional = Schema.optionalKey(Schema.NullOr(Schema.String))

/** The body of an alert (EVENT-25). */
const AlertRequest = Schema.Struct({
  sendId: Schema.String.check(Schema.isUUID()),
  provider: Provider,
  providerMessageId: short,
  event: short.check(Schema.isNonEmpty()),
  recipients: Schema.Array(short).check(Schema.isMaxLength(1000)),
  subject: optional,
  category: optional,
  source: optional,
  reason: optional,
  occurredAt: optional
}).annotate({ identifier: "AlertRequest" })

const refusals = [
  problemSchema("PAYLOAD_TOO_LARGE", {}),
  problemSchema("UNSUPPORTED_MEDIA_TYPE", {})
] as const

/** The alert route (EVENT-21, EVENT-22). */
export class AlertGroup extends HttpApiGroup.make("alerts")
  .add(
    HttpApiEndpoint.post("raise", "/internal/email-alert", {
      payload: AlertRequest,
      success: Schema.Struct({
        success: Schema.Literal(true),
        delivery: Schema.Literals(["delivered", "disabled"]),
        escalated: Schema.optionalKey(Schema.Literal("telegram"))
      }).annotate({ identifier: "AlertAnswer" }),
      error: [
        InvalidRequest,
        ...refusals,
        problemSchema("ALERT_FAILED", {}),
        problemSchema("ALERT_CHANNEL_UNCONFIGURED", {}),
        problemSchema("INTERNAL", {}),
        problemSchema("SHUTTING_DOWN", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Raises the alert about one failed send",
        description:
          "On every wanted channel. After 502 and 503 the caller releases its claim, so that the alert is raised again. " +
          "Where the recipients hold the alert inbox, the alert goes to the chat alone, whatever the preferences say."
      })
    )
  )
  .middleware(ProxySecret) {}

/** Which channels each type of alert goes to. */
const Notifications = Schema.Struct({
  email_delivery_failure: Schema.Struct({ email: Schema.Boolean, chat: Schema.Boolean })
}).annotate({ identifier: "Notifications" })

/** The notifications page of the admins. */
export class NotificationGroup extends HttpApiGroup.make("notifications")
  .add(
    HttpApiEndpoint.get("readNotifications", "/api/admin/notifications", {
      success: Notifications,
      error: [Unavailable]
    }).annotate(OpenApi.Summary, "Which alerts go where")
  )
  .add(
    HttpApiEndpoint.put("writeNotifications", "/api/admin/notifications", {
      payload: Notifications,
      success: Notifications,
      error: [InvalidRequest, ...refusals, Unavailable]
    }).annotate(OpenApi.Summary, "Switches alerts on and off")
  )
  .middleware(AdminAccess) {}

/** Largest body of these routes, bytes. */
const MAX_BODY = 256 * 1024

const json = (body: object) =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

const answer = ({ delivery, escalated }: AlertOutcome): HttpServerResponse.HttpServerResponse => {
  switch (delivery) {
    case "delivered":
    case "disabled":
      return json({ success: true, delivery, escalated })
    case "unconfigured":
      return problemResponse(
        problem("ALERT_CHANNEL_UNCONFIGURED", "No wanted channel is configured; nothing was sent")
      )
    case "failed":
      return problemResponse(problem("ALERT_FAILED", "No channel took the alert"))
  }
}

const decodeAlert = bodyDecoder(AlertRequest)
const decodeNotifications = bodyDecoder(Notifications)

/** `POST /internal/email-alert`. */
export const alertHandlers = HttpApiBuilder.group(
  apiOf(AlertGroup),
  "alerts",
  Effect.fnUntraced(function* (handlers) {
    const alerts = yield* Alerts
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("raise", ({ request }) =>
      bodies.read(request, MAX_BODY).pipe(
        Effect.flatMap(decodeAlert),
        Effect.flatMap((body) =>
          alerts.raise({
            ...body,
            subject: body.subject ?? undefined,
            category: body.category ?? undefined,
            source: body.source ?? undefined,
            reason: body.reason ?? undefined,
            occurredAt: body.occurredAt ?? undefined
          })
        ),
        Effect.map(answer),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )
    )
  })
)

const unavailable = (error: StoreUnavailable) =>
  Effect.logWarning("The alert preferences do not answer", error).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The alert preferences do not answer now")))
  )

/** `GET` and `PUT /api/admin/notifications`. */
export const notificationHandlers = HttpApiBuilder.group(
  apiOf(NotificationGroup),
  "notifications",
  Effect.fnUntraced(function* (handlers) {
    const preferences = yield* AlertPreferences
    const bodies = yield* makeJsonBodies
    return handlers
      .handle("readNotifications", () => preferences.read.pipe(Effect.catch(unavailable)))
      .handleRaw("writeNotifications", ({ request }) =>
        bodies.read(request, MAX_BODY).pipe(
          Effect.flatMap(decodeNotifications),
          Effect.tap((table) => preferences.write(table).pipe(Effect.catch(unavailable))),
          Effect.map(json),
          Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
        )
      )
  })
)
