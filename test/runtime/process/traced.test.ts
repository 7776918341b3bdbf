import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Metric, Result, type Scope } from "effect"

import * as MemoryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import { Alerts } from "../../../src/application/delivery/alerts.ts"
import * as EventRecording from "../../../src/application/delivery/event-recording.ts"
import { asksServer, answeredWith } from "../../../src/application/mail/attempt-span.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import { RetryHandler } from "../../../src/application/mail/retry.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { conventionalSpans, statementName } from "../../../src/runtime/process/otlp-names.ts"
import { layerTelemetry } from "../../../src/runtime/process/telemetry.ts"
import { layerTraced, layerTracedEvents, layerTracedProviders } from "../../../src/runtime/process/traced.ts"
import { decodeSettings } from "../../../src/runtime/settings/settings.ts"
import { mail, makeHarness } from "../../application/mail/harness.ts"
import { deliveryEvent } from "../../contracts/delivery/delivery-log.ts"
import { type CollectedSpan, startCollector } from "../../support/processes/otlp-collector.ts"

/** Runs an effect under the telemetry of a process, and gives what its collector got. */
const collected = <A, E>(
  body: Effect.Effect<A, E, Scope.Scope>,
  env: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    const collector = yield* startCollector
    const lines: Array<string> = []
    const settings = Result.getOrThrow(
      decodeSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }, { embedded: true })
    )
    const telemetry = layerTelemetry(settings, {
      sink: { write: (line: string) => lines.push(line) },
      version: "1.0.0"
    })
    // The last spans go out as the scope closes.
    const value = yield* Effect.scoped(
      Effect.flatMap(Layer.build(telemetry), (context) => Effect.provide(body, context))
    )
    return { ...collector, value, lines }
  })

const named = (spans: ReadonlyArray<CollectedSpan>, name: string) => {
  const found = spans.filter((span) => span.name === name)
  assert.lengthOf(found, 1, name)
  return found[0]!
}

/** A send that is deferred, its retry, and the event of its mail, as a process of the product runs them. */
const oneMail = Effect.gen(function* () {
  const harness = yield* makeHarness({ wrapProviders: tracedAttempts })
  harness.scripts.provider_a.push("ambiguous-lost")
  const parts = Layer.mergeAll(
    Layer.succeed(Mailer, Mailer.of({ send: harness.send })),
    Layer.succeed(RetryHandler, RetryHandler.of({ handle: harness.retry }))
  )
  const mails = yield* Layer.build(Layer.provide(layerTraced, parts))
  const log = MemoryLog.layer(harness.database)
  const recording = EventRecording.layer.pipe(Layer.provideMerge(Layer.merge(log, Layer.mock(Alerts, {}))))
  const events = yield* Layer.build(Layer.provide(layerTracedEvents, recording))
  const sent = yield* Context.get(mails, Mailer).send(
    mail({ to: "secret@x.test", subject: "private", idempotencyKey: "order-17" })
  )
  const [message] = yield* harness.queued
  yield* Context.get(mails, RetryHandler).handle(message!)
  const row = harness.database.rows().find(({ providerMessageId }) => providerMessageId !== null)!
  yield* Context.get(events, EventRecording.EventRecording).record(
    deliveryEvent({
      event: "delivered",
      provider: "provider_a",
      providerMessageId: row.providerMessageId!,
      alertable: false
    })
  )
  return { sent, message: message!, row }
})

/** Providers that ask a server and say so. */
const tracedAttempts = (
  providers: MailProviders["Service"]
): Effect.Effect<MailProviders["Service"], never, Scope.Scope> =>
  Effect.map(
    Layer.build(
      Layer.provide(
        layerTracedProviders,
        Layer.succeed(MailProviders, {
          get: (name) => {
            const provider = providers.get(name)
            return (
              provider && {
                ...provider,
                send: (request) =>
                  Effect.andThen(
                    asksServer("https://api.vendor.test"),
                    Effect.tap(provider.send(request), () => answeredWith(200))
                  )
              }
            )
          }
        })
      )
    ),
    (context) => Context.get(context, MailProviders)
  )

describe("traces of mail", () => {
  it.live("a send with its attempt; the retry and the event are traces of their own that link to it", () =>
    Effect.gen(function* () {
      const { spans, text, value } = yield* collected(oneMail)
      const all = spans()
      const send = named(all, "send transactional")
      assert.deepInclude(send.attributes, {
        "postlane.send_id": value.sent.sendId,
        "postlane.idempotency_key": "order-17",
        "postlane.category": "transactional",
        "postlane.source": "api:test",
        "postlane.status": "deferred",
        "postlane.provider": "provider_a"
      })
      const attempts = all.filter(({ name }) => name === "attempt provider_a")
      assert.deepStrictEqual(
        attempts.map(({ attributes }) => attributes["postlane.outcome"]),
        ["ambiguous", "accepted"]
      )
      assert.deepStrictEqual([attempts[0]?.traceId, attempts[0]?.parentSpanId], [send.traceId, send.spanId])
      assert.deepInclude(attempts[1]?.attributes, {
        "server.address": "api.vendor.test",
        "http.response.status_code": 200,
        "postlane.provider": "provider_a"
      })
      const retry = named(all, "retry transactional")
      const event = named(all, "record delivered")
      for (const later of [retry, event]) {
        assert.notStrictEqual(later.traceId, send.traceId)
        assert.deepStrictEqual(
          later.links.map(({ spanId, traceId }) => [traceId, spanId]),
          [[send.traceId, send.spanId]]
        )
      }
      assert.strictEqual(retry.attributes["postlane.send_id"], value.message.rowId)
      assert.strictEqual(event.attributes["postlane.send_id"], value.row.id)
      assert.strictEqual(value.row.traceparent, `00-${send.traceId}-${send.spanId}-01`)
      assert.notMatch(text(), /secret@|private/)
    })
  )

  it.live("nothing is kept with the row where nothing is recorded", () =>
    Effect.gen(function* () {
      const { spans, value } = yield* collected(oneMail, { OTEL_TRACES_SAMPLER: "always_off" })
      assert.deepStrictEqual([spans(), value.row.traceparent], [[], null])
    })
  )

  it.live("a key that may name a person is no attribute", () =>
    Effect.gen(function* () {
      const { spans } = yield* collected(
        Effect.gen(function* () {
          const harness = yield* makeHarness()
          const mails = yield* Layer.build(
            Layer.provide(
              layerTraced,
              Layer.mergeAll(
                Layer.succeed(Mailer, Mailer.of({ send: harness.send })),
                Layer.succeed(RetryHandler, RetryHandler.of({ handle: harness.retry }))
              )
            )
          )
          yield* Context.get(mails, Mailer).send(mail({ idempotencyKey: "welcome/ann@x.test" }))
        })
      )
      assert.notProperty(named(spans(), "send transactional").attributes, "postlane.idempotency_key")
    })
  )
})

describe("the spans of a process", () => {
  it.live("a call that belongs to no work is none; a sampler that is not known is said", () =>
    Effect.gen(function* () {
      const { lines, spans } = yield* collected(
        Effect.gen(function* () {
          const statement = Effect.withSpan(Effect.void, "postgres", {
            kind: "client",
            attributes: { "db.query.text": "select * from record_email_sends($1)" }
          })
          yield* statement
          yield* Effect.withSpan(statement, "work")
        }),
        { OTEL_TRACES_SAMPLER: "jaeger_remote" }
      )
      assert.deepStrictEqual(
        spans().map(({ name }) => name),
        ["SELECT record_email_sends", "work"]
      )
      assert.include(lines.join(""), "OTEL_TRACES_SAMPLER names no sampler that is known")
    })
  )

  it.live("metrics have the units of the conventions", () =>
    Effect.gen(function* () {
      const { units } = yield* collected(
        Effect.all([
          Metric.update(Metric.gauge("postlane_oldest_waiting_seconds"), 1),
          Metric.update(Metric.gauge("process_resident_memory_bytes"), 1),
          Metric.update(Metric.counter("postlane_failovers_total"), 1)
        ])
      )
      assert.deepInclude(units(), {
        postlane_oldest_waiting_seconds: "s",
        process_resident_memory_bytes: "By",
        postlane_failovers_total: "1"
      })
    })
  )

  it("are named by what they do and to what", () => {
    for (const [text, name] of [
      ["select * from record_email_events($1::jsonb)", "SELECT record_email_events"],
      ["\n  select note_event_intake($1)", "SELECT note_event_intake"],
      ["with recent as (select 1 from email_log) select 2", "WITH email_log"],
      ["INSERT INTO email_defer_queue (id) VALUES ($1)", "INSERT email_defer_queue"],
      ["update email_log set status = $1", "UPDATE email_log"],
      ["delete from leases where name = $1", "DELETE leases"],
      ["begin", "BEGIN"]
    ] as const) {
      const { operation, target } = statementName(text)
      assert.strictEqual(target === undefined ? operation : `${operation} ${target}`, name)
    }
    assert.deepStrictEqual(conventionalSpans({ resourceSpans: [] }), { resourceSpans: [] })
  })
})
