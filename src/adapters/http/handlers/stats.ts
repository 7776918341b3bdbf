import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { statRows, summarize } from "../../../domain/delivery/stats.ts"
import { EmailStats } from "../../../ports/email-stats.ts"
import { Api } from "../api/api.ts"
import { DEFAULT_STATS_DAYS } from "../api/stats.ts"
import { problem } from "../problem.ts"

/** `GET /api/admin/email-stats`. */
export const statsHandlers = HttpApiBuilder.group(
  Api,
  "stats",
  Effect.fnUntraced(function* (handlers) {
    const stats = yield* EmailStats
    return handlers.handle("emailStats", ({ query }) => {
      const days = query.days || DEFAULT_STATS_DAYS
      return stats.since(days).pipe(
        Effect.map(({ from, stats: counted }) => ({
          days,
          from,
          rows: statRows(counted),
          totals: summarize(counted)
        })),
        Effect.catch(({ cause }) =>
          Effect.logWarning("The send log cannot be counted", cause).pipe(
            Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The send log does not answer now")))
          )
        )
      )
    })
  })
)
