import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { JobReport } from "../../../ports/job-report.ts"
import { Api } from "../api/api.ts"
import { DEFAULT_COST_DAYS } from "../api/jobs.ts"
import { DEFAULT_PAGE } from "../api/query.ts"
import { invalidCursor, problem } from "../problem.ts"

const unavailable = (error: { readonly cause: unknown }) =>
  Effect.logWarning("conversion jobs cannot be read", error.cause).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "Conversion jobs cannot be read now")))
  )

/** `GET /api/admin/jobs` and `GET /api/admin/costs`. */
export const jobHandlers = HttpApiBuilder.group(
  Api,
  "jobs",
  Effect.fnUntraced(function* (handlers) {
    const report = yield* JobReport
    return handlers.handleAll({
      jobs: ({ query }) =>
        report
          .jobs({
            status: query.status || undefined,
            cursor: query.cursor || undefined,
            limit: query.limit || DEFAULT_PAGE
          })
          .pipe(
            Effect.catchTags({
              ConversionStoreError: unavailable,
              InvalidCursor: () => invalidCursor("list")
            })
          ),
      costs: ({ query }) => report.costs(query.days || DEFAULT_COST_DAYS).pipe(Effect.catch(unavailable))
    })
  })
)
