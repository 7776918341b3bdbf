import { once } from "node:events"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"

import { Effect, type Scope } from "effect"

/** A span as OTLP's JSON has it; attributes by name. */
export interface CollectedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly attributes: Readonly<Record<string, unknown>>
}

interface Value {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

const attributesOf = (values: ReadonlyArray<Value>) =>
  Object.fromEntries(values.map(({ key, value }) => [key, Object.values(value)[0]]))

/** A collector of OTLP in JSON on the loopback interface. */
export const startCollector: Effect.Effect<
  {
    readonly url: string
    readonly spans: () => ReadonlyArray<CollectedSpan>
    /** Units by the name of the metric. */
    readonly units: () => Readonly<Record<string, string>>
    /** All that came, or what came to one path. */
    readonly text: (path?: string) => string
  },
  never,
  Scope.Scope
> = Effect.gen(function* () {
  const bodies: Array<{ readonly path: string; readonly body: string }> = []
  const server = createServer((request, response) => {
    const take = async () => {
      bodies.push({ path: request.url ?? "", body: await text(request) })
      response.end("{}")
    }
    void take()
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => server.close())
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const parsed = (path: string) =>
    bodies.filter((one) => one.path === path).map(({ body }) => JSON.parse(body))
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () =>
      parsed("/v1/traces").flatMap(({ resourceSpans }) =>
        resourceSpans[0].scopeSpans[0].spans.map(
          (span: CollectedSpan & { readonly attributes: ReadonlyArray<Value> }) => ({
            ...span,
            attributes: attributesOf(span.attributes)
          })
        )
      ),
    units: () =>
      Object.fromEntries(
        parsed("/v1/metrics").flatMap(({ resourceMetrics }) =>
          resourceMetrics[0].scopeMetrics[0].metrics.map(
            ({ name, unit }: { readonly name: string; readonly unit: string }) => [name, unit]
          )
        )
      ),
    text: (path) =>
      bodies
        .filter((one) => path === undefined || one.path === path)
        .map(({ body }) => body)
        .join("\n")
  }
})
