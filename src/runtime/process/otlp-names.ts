import type { OtlpMetrics, OtlpTracer } from "effect/observability"

type TraceData = OtlpTracer.TraceData
type MetricsData = OtlpMetrics.MetricsData

/** OTLP's number of a span that serves a request. */
const SERVER = 2

type Span = TraceData["resourceSpans"][number]["scopeSpans"][number]["spans"][number]

const textOf = (span: Span, key: string): string | undefined => {
  const found = span.attributes.find((attribute) => attribute.key === key)?.value.stringValue
  return typeof found === "string" ? found : undefined
}

/** What a statement does, and to what: `SELECT record_email_sends`. */
export const statementName = (
  text: string
): { readonly operation: string; readonly target: string | undefined } => {
  const operation = /^[\s(]*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? "SQL"
  const target =
    /^\s*select (?:\* from )?([a-z_][\w.]*)\(/i.exec(text)?.[1] ??
    /\b(?:from|into|update|table)\s+"?([a-z_][\w.]*)/i.exec(text)?.[1]
  return { operation, target }
}

/** A span's name by the conventions, which its beginning does not know: `{method} {route}`, `{operation} {target}`. */
const nameOf = (span: Span): string => {
  const method = textOf(span, "http.request.method")
  if (span.kind === SERVER && method !== undefined) {
    const route = textOf(span, "http.route")
    return route === undefined ? method : `${method} ${route}`
  }
  const statement = textOf(span, "db.query.text")
  if (statement === undefined) return span.name
  const { operation, target } = statementName(statement)
  return `${operation} ${target ?? textOf(span, "db.namespace") ?? ""}`.trimEnd()
}

/** One part of an address of the web: a part of its path, a name or a value of its query. */
const PART = /[^/?&=#\s]+/g

const withoutPersons = (url: string): string =>
  url.replace(PART, (part) => (/@|%40/.test(part) ? "<redacted>" : part))

/** Paths and queries may hold the addresses that somebody looked for. */
const withoutAddresses = (span: Span): Span["attributes"] =>
  span.attributes.map((attribute) =>
    attribute.key.startsWith("url.") && typeof attribute.value.stringValue === "string"
      ? { ...attribute, value: { stringValue: withoutPersons(attribute.value.stringValue) } }
      : attribute
  )

/** The spans under the names of the semantic conventions, and without addresses of mail. */
export const conventionalSpans = (data: TraceData): TraceData => ({
  resourceSpans: data.resourceSpans.map((resource) => ({
    ...resource,
    scopeSpans: resource.scopeSpans.map((scope) => ({
      ...scope,
      spans: scope.spans.map((span) => ({ ...span, name: nameOf(span), attributes: withoutAddresses(span) }))
    }))
  }))
})

/** Units as UCUM writes them, by the end of a metric's name. */
const UNITS: ReadonlyArray<readonly [RegExp, string]> = [
  [/_seconds(?:_total)?$/, "s"],
  [/_minutes$/, "min"],
  [/_bytes$/, "By"]
]

/** The metrics with their units. */
export const conventionalMetrics = (data: MetricsData): MetricsData => ({
  resourceMetrics: data.resourceMetrics.map((resource) => ({
    ...resource,
    scopeMetrics: resource.scopeMetrics.map((scope) => ({
      ...scope,
      metrics: scope.metrics.map((metric) => ({
        ...metric,
        unit: UNITS.find(([end]) => end.test(metric.name))?.[1] ?? "1"
      }))
    }))
  }))
})
