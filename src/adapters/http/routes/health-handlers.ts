import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"

import { Readiness, type ReadinessReport } from "../../../ports/readiness.ts"
import { makeAdminCheck } from "../server/access.ts"
import { apiOf } from "../server/group-api.ts"
import { problem } from "../server/problem.ts"
import { HealthGroup } from "./health.ts"
import { openApiDocument } from "./open-api.ts"

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

/** `/health`, `/ready`, `/metrics`, `/openapi.json`. */
export const healthHandlers = HttpApiBuilder.group(
  apiOf(HealthGroup),
  "health",
  Effect.fnUntraced(function* (handlers) {
    const readiness = yield* Readiness
    const isAdmin = yield* makeAdminCheck
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
      metrics: () => PrometheusMetrics.format(),
      openapi: () => Effect.sync(openApiDocument)
    })
  })
)
