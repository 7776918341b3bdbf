import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { SUPERVISOR_STATES } from "../../../ports/readiness.ts"
import { problemSchema } from "../server/problem.ts"

const lastError = Schema.optionalKey(Schema.NullOr(Schema.String))

const parts = {
  checks: Schema.Record(
    Schema.String,
    Schema.Struct({ status: Schema.Literals(["ok", "failed"]), lastError })
  ),
  supervisors: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      state: Schema.Literals(SUPERVISOR_STATES),
      restarts: Schema.Int,
      lastRunAt: Schema.NullOr(Schema.String),
      lastError
    })
  )
}

/** The 200 of `/ready`; `lastError` is there for admins only. */
const ReadyAnswer = Schema.Struct({ status: Schema.Literal("ready"), ...parts }).annotate({
  identifier: "Readiness"
})

/** The 503 of `/ready`: the same parts in a problem. */
const NotReady = problemSchema("NOT_READY", parts)

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
  ) {}
