import { Effect, Layer, Option, type Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"

import { EventRecording } from "../../application/delivery/event-recording.ts"
import { Mailer } from "../../application/mail/mailer.ts"
import { attemptOutcome } from "../../application/mail/metrics.ts"
import { RetryHandler } from "../../application/mail/retry.ts"
import { Traceparent } from "../../application/mail/traceparent.ts"
import type { LogRowId } from "../../domain/ids.ts"
import { DeliveryLog } from "../../ports/delivery/delivery-log.ts"
import { type MailProvider, MailProviders } from "../../ports/mail/mail-provider.ts"

/** A key that its caller chose may name a person. */
const keyOf = (key: string) => (key.includes("@") ? {} : { "postlane.idempotency_key": key })

/** The span that a row or a message remembers. */
const rememberedSpan = (traceparent: string | undefined): ReadonlyArray<Tracer.SpanLink> =>
  traceparent === undefined
    ? []
    : Option.match(HttpTraceContext.w3c(Headers.fromInput({ traceparent })), {
        onNone: () => [],
        onSome: (span) => [{ span, attributes: {} }]
      })

/** `traceparent` of the span under way, where it is recorded. */
const currentTraceparent = Effect.map(Effect.option(Effect.currentSpan), (span) =>
  Option.isSome(span) && span.value.sampled ? `00-${span.value.traceId}-${span.value.spanId}-01` : undefined
)

/** A span around a send, the child of its caller's. */
export const tracedSend =
  (send: Mailer["Service"]["send"]): Mailer["Service"]["send"] =>
  (request) =>
    Effect.flatMap(currentTraceparent, (traceparent) =>
      Effect.provideService(send(request), Traceparent, traceparent)
    ).pipe(
      Effect.tap((result) =>
        Effect.annotateCurrentSpan({
          "postlane.send_id": result.sendId,
          ...keyOf(result.idempotencyKey),
          "postlane.status": result.status,
          "postlane.provider": result.provider ?? "none",
          "postlane.failed_over": result.failedOver,
          ...(result.status === "failed" ? { "error.type": result.kind } : {})
        })
      ),
      Effect.withSpan(`send ${request.category}`, {
        attributes: { "postlane.category": request.category, "postlane.source": request.source }
      })
    )

const tracedMailer = Layer.effect(
  Mailer,
  Effect.map(Mailer, ({ send }) => Mailer.of({ send: tracedSend(send) }))
)

const tracedRetries = Layer.effect(
  RetryHandler,
  Effect.map(RetryHandler, ({ handle }) =>
    RetryHandler.of({
      handle: (message) =>
        Effect.withSpan(handle(message), `retry ${message.details.category}`, {
          kind: "consumer",
          root: true,
          links: rememberedSpan(message.details.traceparent),
          attributes: {
            "postlane.send_id": message.rowId,
            ...keyOf(message.details.idempotencyKey),
            "postlane.category": message.details.category,
            "postlane.provider": message.request.provider,
            "postlane.attempt": message.attempt
          }
        })
    })
  )
)

/**
 * A span around every send and every retry. Only where traces are collected: unused spans would cost a tenth of a send's time.
 */
export const layerTraced: Layer.Layer<Mailer | RetryHandler, never, Mailer | RetryHandler> = Layer.merge(
  tracedMailer,
  tracedRetries
)

const tracedProvider = (provider: MailProvider): MailProvider => ({
  ...provider,
  send: (request) =>
    provider.send(request).pipe(
      Effect.onExit((exit) => {
        const outcome = attemptOutcome(exit)
        return Effect.annotateCurrentSpan({
          "postlane.outcome": outcome,
          ...(outcome === "accepted" ? {} : { "error.type": outcome })
        })
      }),
      Effect.withSpan(`attempt ${provider.provider}`, {
        kind: "client",
        attributes: { "postlane.provider": provider.provider }
      })
    )
})

/** A span around every attempt at a provider. */
export const layerTracedProviders: Layer.Layer<MailProviders, never, MailProviders> = Layer.effect(
  MailProviders,
  Effect.map(MailProviders, ({ get }) =>
    MailProviders.of({
      get: (name) => {
        const provider = get(name)
        return provider === undefined ? undefined : tracedProvider(provider)
      }
    })
  )
)

/** A span around the recording of every event, which links to the send that it is about. */
export const layerTracedEvents: Layer.Layer<EventRecording, never, EventRecording | DeliveryLog> =
  Layer.effect(
    EventRecording,
    Effect.gen(function* () {
      const { record, recordFirst } = yield* EventRecording
      const log = yield* DeliveryLog
      const linked = Effect.fnUntraced(function* (sendId: LogRowId) {
        yield* Effect.annotateCurrentSpan("postlane.send_id", sendId)
        const traceparent = yield* log
          .traceparent(sendId)
          .pipe(
            Effect.catch((error) =>
              Effect.as(Effect.logDebug("the span of an event does not link to its send", error), undefined)
            )
          )
        const span = yield* Effect.option(Effect.currentSpan)
        if (Option.isSome(span)) span.value.addLinks(rememberedSpan(traceparent))
      })
      const around = <A extends { readonly sendId: LogRowId }, E>(
        event: { readonly event: string; readonly provider: string },
        recorded: Effect.Effect<A, E>
      ) =>
        Effect.tap(recorded, ({ sendId }) => linked(sendId)).pipe(
          Effect.withSpan(`record ${event.event}`, { attributes: { "postlane.provider": event.provider } })
        )
      return EventRecording.of({
        record: (event, options) => around(event, record(event, options)),
        recordFirst: (event) => around(event, recordFirst(event))
      })
    })
  )
