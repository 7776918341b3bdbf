import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { Provider } from "../../../domain/mail/provider.ts"
import { problemSchema } from "../problem.ts"
import { AdminAccess } from "./access.ts"
import { Unavailable } from "./query.ts"
import { InvalidRequest, ProxySecret } from "./relay.ts"

const short = Schema.String.check(Schema.isMaxLength(1000))
const optional = Schema.optionalKey(Schema.NullOr(Schema.String))

/** The body of an alert (contract, "Delivery events and alerts"). */
export const AlertRequest = Schema.Struct({
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

/** The alert route (document 1, "/internal/email-alert responses"). */
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
export const Notifications = Schema.Struct({
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
