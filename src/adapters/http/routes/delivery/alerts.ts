import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { AlertPlaces } from "../../../../application/delivery/alert-places.ts"
import { type AlertOutcome, Alerts } from "../../../../application/delivery/alerts.ts"
import { CHANNEL_NAMES, perChannel } from "../../../../domain/delivery/alert-policy.ts"
import { LogRowId } from "../../../../domain/ids.ts"
import { Provider } from "../../../../domain/mail/provider.ts"
import { AlertPreferences } from "../../../../ports/delivery/alert-channels.ts"
import { AdminAccess, CurrentPrincipal, ProxySecret } from "../../server/access.ts"
import { apiOf } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import { bodyRefusals, problem, problemSchema, Unavailable, unavailable } from "../../server/problem.ts"
import { makePlaces, takePlace } from "../../server/rate-limit.ts"

/** Largest body of these routes, bytes. */
const MAX_BODY = 256 * 1024

const short = Schema.String.check(Schema.isMaxLength(1000))
const optional = Schema.optionalKey(Schema.NullOr(Schema.String))

/** The body of an alert (EVENT-25). */
const AlertRequest = Schema.Struct({
  sendId: LogRowId.check(Schema.isUUID()),
  provider: Provider,
  providerMessageId: short,
  event: short.check(Schema.isNonEmpty()),
  recipients: Schema.Array(short).check(Schema.isMaxLength(1000)),
  subject: optional,
  category: optional,
  source: optional,
  reason: optional,
  occurredAt: optional,
  taken: Schema.optionalKey(Schema.Array(short).check(Schema.isMaxLength(10)))
}).annotate({ identifier: "AlertRequest" })

const refusals = bodyRefusals()

/** The alert route (EVENT-21, EVENT-22). */
export class AlertGroup extends HttpApiGroup.make("alerts")
  .add(
    HttpApiEndpoint.post("raise", "/internal/email-alert", {
      payload: AlertRequest,
      success: Schema.Struct({
        success: Schema.Literal(true),
        delivery: Schema.Literals(["delivered", "disabled"]),
        escalated: Schema.optionalKey(Schema.Literal("telegram")),
        lacks: Schema.optionalKey(
          Schema.Struct({
            taken: Schema.Array(Schema.String),
            missing: Schema.Array(Schema.Literals(CHANNEL_NAMES))
          })
        )
      }).annotate({ identifier: "AlertAnswer" }),
      error: [
        ...refusals,
        problemSchema("ALERT_FAILED", {}),
        problemSchema("ALERT_CHANNEL_UNCONFIGURED", {}),
        problemSchema("INTERNAL", {}),
        problemSchema("SHUTTING_DOWN", {})
      ]
    })
      .annotateMerge(jsonBody(MAX_BODY))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Raises the alert about one failed send",
          description:
            "On every wanted channel that is not in taken. After 502 and 503 the caller releases its claim, so that the alert is raised again; " +
            "where a channel lacks it, so that it is raised again with taken. " +
            "Where the recipients hold the alert inbox, the alert goes to the chat alone, whatever the preferences say."
        })
      )
  )
  .middleware(JsonBody)
  .middleware(ProxySecret) {}

/** Which channels each type of alert goes to. */
const Notifications = Schema.Struct({
  email_delivery_failure: Schema.Struct(perChannel(() => Schema.Boolean))
}).annotate({ identifier: "Notifications" })

/** With the destination of each channel. */
const NotificationChannels = Schema.Struct({
  ...Notifications.fields,
  channels: Schema.Struct(
    perChannel(() =>
      Schema.Struct({
        configured: Schema.Boolean,
        where: Schema.NullOr(Schema.String),
        settings: Schema.String
      })
    )
  )
}).annotate({ identifier: "NotificationChannels" })

const TestRequest = Schema.Struct({ channel: Schema.Literals(CHANNEL_NAMES) }).annotate({
  identifier: "NotificationTest"
})

/** The notifications page of the admins. */
export class NotificationGroup extends HttpApiGroup.make("notifications")
  .add(
    HttpApiEndpoint.get("readNotifications", "/api/admin/notifications", {
      success: NotificationChannels,
      error: [Unavailable]
    }).annotate(OpenApi.Summary, "Which alerts go where, and where that is")
  )
  .add(
    HttpApiEndpoint.put("writeNotifications", "/api/admin/notifications", {
      payload: Notifications,
      success: Notifications,
      error: [...refusals, Unavailable]
    })
      .annotateMerge(jsonBody(MAX_BODY))
      .annotate(OpenApi.Summary, "Switches alerts on and off")
  )
  .add(
    HttpApiEndpoint.post("testNotifications", "/api/admin/notifications/test", {
      payload: TestRequest,
      success: TestRequest,
      error: [
        ...refusals,
        problemSchema("ALERT_FAILED", {}),
        problemSchema("ALERT_CHANNEL_UNCONFIGURED", {}),
        problemSchema("RATE_LIMITED", {})
      ]
    })
      .annotateMerge(jsonBody(MAX_BODY))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Sends a test of the alerts by one channel",
          description: "It says that the channel took it, whatever is switched off."
        })
      )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

const unconfigured = problem(
  "ALERT_CHANNEL_UNCONFIGURED",
  "No wanted channel is configured; nothing was sent"
)
const failed = problem("ALERT_FAILED", "No channel took the alert")

const answer = Effect.fnUntraced(function* ({ delivery, escalated, lacks }: AlertOutcome) {
  if (delivery === "unconfigured") return yield* Effect.fail(unconfigured)
  if (delivery === "failed") return yield* Effect.fail(failed)
  return {
    success: true as const,
    delivery,
    ...(escalated === undefined ? {} : { escalated }),
    ...(lacks === undefined ? {} : { lacks })
  }
})

/** `POST /internal/email-alert`. */
export const alertHandlers = HttpApiBuilder.group(
  apiOf(AlertGroup),
  "alerts",
  Effect.fnUntraced(function* (handlers) {
    const alerts = yield* Alerts
    return handlers.handle("raise", ({ payload }) =>
      alerts
        .raise({
          ...payload,
          subject: payload.subject ?? undefined,
          category: payload.category ?? undefined,
          source: payload.source ?? undefined,
          reason: payload.reason ?? undefined,
          occurredAt: payload.occurredAt ?? undefined
        })
        .pipe(Effect.flatMap(answer))
    )
  })
)

const away = unavailable("the alert preferences do not answer", "The alert preferences do not answer now")

/** Tests of one process at once: each may take as long as a provider does. */
const TESTS = 2

const noChannel = problem("ALERT_CHANNEL_UNCONFIGURED", "This channel is not configured; nothing was sent")

/** `/api/admin/notifications`. */
export const notificationHandlers = HttpApiBuilder.group(
  apiOf(NotificationGroup),
  "notifications",
  Effect.fnUntraced(function* (handlers) {
    const preferences = yield* AlertPreferences
    const { places, test } = yield* AlertPlaces
    const channels = perChannel((channel) => ({ ...places[channel], where: places[channel].where ?? null }))
    const testing = makePlaces(1, "tests of the alerts", TESTS)
    return handlers.handleAll({
      readNotifications: () =>
        preferences.read.pipe(
          Effect.catch(away),
          Effect.map((wanted) => ({ ...wanted, channels }))
        ),
      writeNotifications: ({ payload }) =>
        preferences.write(payload).pipe(Effect.catch(away), Effect.as(payload)),
      testNotifications: Effect.fnUntraced(function* ({ payload: { channel } }) {
        const { actor } = yield* CurrentPrincipal
        yield* takePlace(testing, actor)
        const answered = yield* test(channel, actor)
        if (answered === undefined) return yield* Effect.fail(noChannel)
        return answered.answer === "took"
          ? { channel }
          : yield* Effect.fail(
              problem(
                "ALERT_FAILED",
                `The channel did not take it: ${answered.error ?? "no reason was given"}`
              )
            )
      })
    })
  })
)
