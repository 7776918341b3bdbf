import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { type AlertOutcome, Alerts } from "../../../domain/delivery/alerts.ts"
import { AlertPreferences } from "../../../ports/alert-preferences.ts"
import { AlertRequest, Notifications } from "../api/alerts.ts"
import { Api } from "../api/api.ts"
import { bodyDecoder } from "../decode-body.ts"
import { makeJsonBodies } from "../json-body.ts"
import { problem, problemResponse } from "../problem.ts"

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
  Api,
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

const unavailable = ({ cause }: { readonly cause: unknown }) =>
  Effect.logWarning("The alert preferences do not answer", cause).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The alert preferences do not answer now")))
  )

/** `GET` and `PUT /api/admin/notifications`. */
export const notificationHandlers = HttpApiBuilder.group(
  Api,
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
