import { Clock, Context, Effect, FiberSet, Layer } from "effect"

import type { DeliveryEvent, FailedSend } from "../../domain/delivery/delivery-event.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { DeliveryLog, type LoggedEvent, type RecordOptions } from "../../ports/delivery/delivery-log.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { makeAlertRaiser, Alerts } from "./alerts.ts"

/** A recorded event and the outcome of the alert that it claimed: `none` where it claimed none. */
interface Recording extends LoggedEvent {
  readonly alerted: "none" | "delivered" | "disabled" | "unconfigured" | "failed"
}

const failedSendOf = (event: DeliveryEvent, { category, sendId, source }: LoggedEvent): FailedSend => ({
  sendId,
  provider: event.provider,
  providerMessageId: event.providerMessageId,
  event: event.event,
  recipients: event.suppress ?? event.recipients,
  subject: event.subject,
  category,
  source,
  reason: event.reason,
  occurredAt: event.occurredAt === undefined ? undefined : new Date(event.occurredAt).toISOString()
})

/** How often a process records that webhooks deliver events, nanoseconds: often enough for the alarm on 30 minutes of silence. */
const NOTE_EVERY = 30_000_000_000n

/** Alerts that one process raises at once behind its answers; the sweep raises those beyond, once their claims' leases are over. */
const AT_ONCE = 16

const make = Effect.gen(function* () {
  const log = yield* DeliveryLog
  const raise = makeAlertRaiser(log, yield* Alerts)
  const noted = new Map<Provider, bigint>()

  const heard = Effect.fnUntraced(function* (provider: Provider) {
    const now = yield* Clock.monotonicTimeNanos
    const last = noted.get(provider)
    if (last !== undefined && now - last < NOTE_EVERY) return
    noted.set(provider, now)
    yield* log
      .heard(provider)
      .pipe(
        Effect.catch((error) =>
          Effect.logWarning(
            "the time of the last webhook event could not be recorded: the alarm on silence may be raised wrongly",
            error.cause
          )
        )
      )
  })

  const written = (event: DeliveryEvent, options?: RecordOptions) =>
    Effect.tap(log.record(event, options), () =>
      options?.polled === true ? Effect.void : heard(event.provider)
    )
  const behind = yield* FiberSet.make<unknown>()
  const raiseBehind = Effect.fnUntraced(function* (failed: FailedSend) {
    if ((yield* FiberSet.size(behind)) < AT_ONCE) return yield* FiberSet.run(behind, raise(failed))
    yield* Effect.logWarning("many alerts are being raised: this one is left to the sweep").pipe(
      Effect.annotateLogs({ sendId: failed.sendId })
    )
  })

  return EventRecording.of({
    record: (event, options) =>
      Effect.gen(function* () {
        const logged = yield* written(event, options)
        const alerted = logged.alert ? (yield* raise(failedSendOf(event, logged))).delivery : "none"
        return { ...logged, alerted } as const
      }).pipe(Effect.uninterruptible),
    recordFirst: (event) =>
      Effect.gen(function* () {
        const logged = yield* written(event)
        if (logged.alert) yield* raiseBehind(failedSendOf(event, logged))
        return logged
      }).pipe(Effect.uninterruptible)
  })
})

/**
 * Records delivery events from webhook, bus and poll, and raises the alert that an event claims. The claim of an alert that did
 * not go out is released, so that the next event alerts (A1). When the process died before it confirmed or released a claim, the
 * sweep finds it (`sweepAlerts`), as it finds one that a channel lacks. An interrupted caller does not stop it between claim and alert.
 */
export class EventRecording extends Context.Service<
  EventRecording,
  {
    readonly record: (
      event: DeliveryEvent,
      options?: RecordOptions
    ) => Effect.Effect<Recording, StoreUnavailable>
    /**
     * Ends once the event and the claim of its alert are durable; the alert is raised behind it. For the event bus, which waits five
     * seconds for an answer.
     */
    readonly recordFirst: (event: DeliveryEvent) => Effect.Effect<LoggedEvent, StoreUnavailable>
  }
>()("postlane/application/EventRecording") {}

export const layer: Layer.Layer<EventRecording, never, DeliveryLog | Alerts> = Layer.effect(
  EventRecording,
  make
)
