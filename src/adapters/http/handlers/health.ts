import { Effect, type Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"

import { Readiness, type ReadinessReport } from "../../../ports/readiness.ts"
import { Api } from "../api/api.ts"
import { openApiDocument } from "../open-api.ts"
import { problem } from "../problem.ts"
import { bearerToken, secretCheck } from "../secret.ts"

/** What `/ready` shows of a report; what things failed with is for admins. */
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

/** `/health`, `/ready`, `/metrics`, `/openapi.json`. */
export const healthHandlers = (adminToken: Redacted.Redacted | undefined) =>
  HttpApiBuilder.group(
    Api,
    "health",
    Effect.fnUntraced(function* (handlers) {
      const readiness = yield* Readiness
      const isAdmin = secretCheck(adminToken)
      return handlers.handleAll({
        health: () => Effect.succeed({ status: "ok" as const }),
        ready: Effect.fnUntraced(function* ({ request }) {
          const report = yield* readiness.report
          const parts = shown(report, isAdmin(bearerToken(request.headers["authorization"])))
          if (report.ready) return { status: "ready" as const, ...parts }
          return yield* Effect.fail({ ...problem("NOT_READY", whatIsNotReady(report)), ...parts })
        }),
        metrics: () => PrometheusMetrics.format(),
        openapi: () => Effect.sync(openApiDocument)
      })
    })
  )
