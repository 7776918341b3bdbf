import { Effect, Layer } from "effect"

import { Alerts } from "../../src/application/delivery/alerts.ts"
import * as EventRecording from "../../src/application/delivery/event-recording.ts"
import { DeliveryLog } from "../../src/ports/delivery/delivery-log.ts"
import { deliveryEvent } from "../contracts/delivery/delivery-log.ts"
import { alertParts } from "./alert-parts.ts"

/** Records a bounce and blocks for ever at the step that its argument names; it prints that it is there, so that it can be killed. */
const stopHere = Effect.andThen(
  Effect.sync(() => process.stdout.write("here\n")),
  Effect.never
)

const { ALERT_CHAT = "", ALERT_DATABASE = "", ALERT_STOP } = process.env
const parts = alertParts(ALERT_DATABASE, ALERT_CHAT)
const stopped =
  ALERT_STOP === "before the alert"
    ? Layer.merge(parts, Layer.succeed(Alerts, Alerts.of({ raise: () => stopHere })))
    : Layer.provideMerge(
        Layer.effect(
          DeliveryLog,
          Effect.map(DeliveryLog, (log) => DeliveryLog.of({ ...log, confirmAlert: () => stopHere }))
        ),
        parts
      )

await Effect.runPromise(
  EventRecording.EventRecording.use((recording) => recording.record(deliveryEvent())).pipe(
    Effect.provide(Layer.provide(EventRecording.layer, stopped))
  )
)
