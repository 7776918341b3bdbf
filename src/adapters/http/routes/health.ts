import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { MetricsPage } from "../../../ports/metrics-page.ts"
import { Readiness, type ReadinessReport, SUPERVISOR_STATES } from "../../../ports/readiness.ts"
import { makeAdminCheck } from "../server/access.ts"
import { constantAnswer, constantBody } from "../server/constant-body.ts"
import { apiOf, openQuery } from "../server/endpoint.ts"
import { problem, problemSchema } from "../server/problem.ts"

const LastError = Schema.optionalKey(Schema.NullOr(Schema.String))

const Parts = {
  checks: Schema.Record(
    Schema.String,
    Schema.Struct({ status: Schema.Literals(["ok", "failed"]), lastError: LastError })
  ),
  supervisors: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      state: Schema.Literals(SUPERVISOR_STATES),
      restarts: Schema.Int,
      lastRunAt: Schema.NullOr(Schema.String),
      lastError: LastError
    })
  )
}

/** The 200 of `/ready`; `lastError` is there for admins only. */
const ReadyAnswer = Schema.Struct({ status: Schema.Literal("ready"), ...Parts }).annotate({
  identifier: "Readiness"
})

/** The 503 of `/ready`: the same parts in a problem. */
const NotReady = problemSchema("NOT_READY", Parts)

/** The answer of `/metrics`: Prometheus text, version 0.0.4. */
const PrometheusText = Schema.String.pipe(
  HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" })
)

/** Health, metrics and the OpenAPI document (HTTP-7). */
export class HealthGroup extends HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("health", "/health", {
      success: Schema.Struct({ status: Schema.Literal("ok") })
    }).annotate(OpenApi.Summary, "Whether the process is alive")
  )
  .add(
    HttpApiEndpoint.get("ready", "/ready", { success: ReadyAnswer, error: NotReady }).annotate(
      OpenApi.Summary,
      "Whether database, queue and object store answer and every supervised part is up"
    )
  )
  .add(
    HttpApiEndpoint.get("metrics", "/metrics", { success: PrometheusText }).annotate(
      OpenApi.Summary,
      "Metrics in Prometheus text"
    )
  )
  .add(
    HttpApiEndpoint.get("openapi", "/openapi.json", {
      success: Schema.Record(Schema.String, Schema.Json)
    }).annotate(OpenApi.Summary, "This document")
  )
  .annotateEndpointsMerge(openQuery) {}

/** What `/ready` shows of a report; errors are shown to admins only. */
const shown = (report: ReadinessReport, admin: boolean) => ({
  checks: Object.fromEntries(
    report.checks.map(({ name, ok, lastError }) => [
      name,
      { status: ok ? ("ok" as const) : ("failed" as const), ...(admin ? { lastError } : {}) }
    ])
  ),
  supervisors: report.supervisors.map(({ lastError, ...snapshot }) =>
    admin ? { ...snapshot, lastError } : snapshot
  )
})

const whatIsNotReady = ({ checks, supervisors }: ReadinessReport): string => {
  const names = [
    ...checks.filter(({ ok }) => !ok).map(({ name }) => name),
    ...supervisors.filter(({ state }) => state !== "running").map(({ name }) => name)
  ]
  return names.length === 0 ? "Not ready yet" : `Not ready: ${names.join(", ")}`
}

/** `/health`, `/ready`, `/metrics`, `/openapi.json`; `document` is the text of the last of them, which describes this group too. */
export const healthHandlers = (document: () => string) =>
  HttpApiBuilder.group(
    apiOf(HealthGroup),
    "health",
    Effect.fnUntraced(function* (handlers) {
      const readiness = yield* Readiness
      const page = yield* MetricsPage
      const isAdmin = yield* makeAdminCheck
      const openapi = yield* Effect.cached(
        Effect.flatMap(Effect.sync(document), (text) => constantBody(text, "application/json"))
      )
      return handlers.handleAll({
        health: () => Effect.succeed({ status: "ok" as const }),
        ready: Effect.fnUntraced(function* ({ request }) {
          const [report, admin] = yield* Effect.all(
            [readiness.report, isAdmin(request.headers["authorization"])],
            { concurrency: 2 }
          )
          const parts = shown(report, admin)
          if (report.ready) return { status: "ready" as const, ...parts }
          return yield* Effect.fail({ ...problem("NOT_READY", whatIsNotReady(report)), ...parts })
        }),
        metrics: () => page.text,
        openapi: ({ request }) => Effect.map(openapi, (body) => constantAnswer(body, request, "no-cache"))
      })
    })
  )
