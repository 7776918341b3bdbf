import { Effect, Layer, Logger, Option, Redacted, References, Tracer, type LogLevel } from "effect"
import { FetchHttpClient, HttpBody } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"

import { decodedPercent } from "../settings/percent-encoding.ts"
import type { Settings } from "../settings/settings.ts"
import { lineLogger, type LogSink, type Scrub, scrubOf } from "./log-lines.ts"
import { conventionalMetrics, conventionalSpans } from "./otlp-names.ts"
import { samplerOf } from "./sampler.ts"

const LEVELS: Readonly<Record<Settings["telemetry"]["logLevel"], LogLevel.LogLevel>> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  fatal: "Fatal"
}

/** `a=1,b=two%20words` as headers; what has no `=` is left out. */
const parseHeaders = (text: string): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (const pair of text.split(",")) {
    const at = pair.indexOf("=")
    if (at < 1) continue
    const value = pair.slice(at + 1).trim()
    headers[pair.slice(0, at).trim()] = decodedPercent(value) ?? value
  }
  return headers
}

/** OTLP in JSON, with known secrets taken out of spans and log records. */
const scrubbedJson = (scrub: Scrub) => {
  const body = (data: unknown) =>
    HttpBody.text(
      scrub(
        JSON.stringify(data, (_, value: unknown) =>
          typeof value === "number" && !Number.isFinite(value) ? String(value) : value
        )
      ),
      "application/json"
    )
  return Layer.succeed(OtlpSerialization.OtlpSerialization, {
    traces: (data) => body(conventionalSpans(data)),
    metrics: (data) => body(conventionalMetrics(data)),
    logs: body
  })
}

/** Discards a collector's answer unread, whatever its length. */
const fetchUnread: typeof fetch = async (...request) => {
  const answer = await fetch(...request)
  await answer.body?.cancel()
  return new Response(null, { status: answer.status, headers: answer.headers })
}

const otlp = (settings: Settings["telemetry"], endpoint: string, version: string, scrub: Scrub) =>
  Otlp.layer({
    baseUrl: endpoint,
    resource: { serviceName: settings.serviceName, serviceVersion: version },
    headers:
      settings.otlpHeaders === undefined ? undefined : parseHeaders(Redacted.value(settings.otlpHeaders)),
    loggerMergeWithExisting: true
  }).pipe(
    Layer.provide([
      scrubbedJson(scrub),
      FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetchUnread)))
    ])
  )

/** A span that nothing is recorded of. */
const unrecorded = (options: Parameters<Tracer.Tracer["span"]>[0]) =>
  new Tracer.NativeSpan({ ...options, sampled: false })

/**
 * The tracer of the settings' sampler. A call of a database or a vendor that belongs to no work is how somebody looks for work: a
 * poll that found nothing is no trace.
 */
const sampled = (settings: Settings["telemetry"]) =>
  Layer.effect(
    Tracer.Tracer,
    Effect.gen(function* () {
      const inner = yield* Tracer.Tracer
      const { notes, sampler } = samplerOf(settings.tracesSampler, settings.tracesSamplerArg)
      for (const note of notes) yield* Effect.logWarning(note)
      return Tracer.make({
        ...(inner.context === undefined ? {} : { context: inner.context }),
        span: (options) => {
          if (options.kind === "client" && Option.isNone(options.parent)) return unrecorded(options)
          const span = inner.span({ ...options, sampled: true })
          return sampler({ parent: options.parent, traceId: span.traceId }) ? span : unrecorded(options)
        }
      })
    })
  )

/**
 * Logs to the sink at the level of `POSTLANE_LOG_LEVEL`, and, where `OTEL_EXPORTER_OTLP_ENDPOINT` is set, traces, metrics
 * and logs to that collector. Provide it last, so that every span and line is seen.
 */
export const layerTelemetry = (
  settings: Settings,
  options: { readonly sink: LogSink; readonly version: string }
): Layer.Layer<never> => {
  const scrub = scrubOf(settings)
  const logs = Layer.merge(
    Logger.layer([lineLogger(options.sink, scrub)]),
    Layer.succeed(References.MinimumLogLevel, LEVELS[settings.telemetry.logLevel])
  )
  const endpoint = settings.telemetry.otlpEndpoint
  return endpoint === undefined
    ? logs
    : sampled(settings.telemetry).pipe(
        Layer.provideMerge(otlp(settings.telemetry, endpoint, options.version, scrub)),
        Layer.provideMerge(logs)
      )
}

/** The part of a Node stream on which errors are reported. */
interface ErrorSource {
  readonly on: (event: "error", listener: (error: Error) => void) => unknown
}

/**
 * Keeps the process alive when the reader of its output is gone (EPIPE), or the disk behind it is full: without a listener a
 * stream's error ends the process. Lines are then lost; the service continues. Holds for the rest of the process.
 */
export const surviveClosedOutput = (streams: ReadonlyArray<ErrorSource>): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const stream of streams) stream.on("error", () => undefined)
  })
