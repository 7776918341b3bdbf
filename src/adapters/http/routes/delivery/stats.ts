import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { statRows, summarize } from "../../../../domain/delivery/stats.ts"
import { EmailStatus } from "../../../../domain/mail/status.ts"
import { MAX_STATS_DAYS, EmailStats } from "../../../../ports/delivery/email-log-query.ts"
import { AdminAccess } from "../../server/access.ts"
import { apiOf, page } from "../../server/endpoint.ts"
import { InvalidRequest, Unavailable, unavailable } from "../../server/problem.ts"

/** Days of the statistics where the query names no number. */
const DEFAULT_STATS_DAYS = 30

const Rate = Schema.NullOr(Schema.Finite)

const summary = {
  total: Schema.Int,
  byStatus: Schema.Record(EmailStatus, Schema.Int),
  failedOver: Schema.Int,
  undelivered: Schema.Int,
  costUsd: Schema.Finite,
  rates: Schema.Struct({ delivered: Rate, bounced: Rate, complained: Rate })
}

const EmailStatsRow = Schema.Struct({
  day: Schema.String,
  category: Schema.String,
  provider: Schema.NullOr(Schema.String),
  ...summary
}).annotate({ identifier: "EmailStatsRow" })

/** Statistics of the send log, for admins. */
export class StatsGroup extends HttpApiGroup.make("stats")
  .add(
    HttpApiEndpoint.get("emailStats", "/api/admin/email-stats", {
      query: { days: page(DEFAULT_STATS_DAYS, MAX_STATS_DAYS) },
      success: Schema.Struct({
        days: Schema.Int,
        from: Schema.String,
        rows: Schema.Array(EmailStatsRow),
        totals: Schema.Struct(summary).annotate({ identifier: "EmailStatsTotals" })
      }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The send log by day, category and provider",
        description:
          "`days` days in UTC, the last of which is today; newest first. Rates are shares of what a provider accepted, " +
          "null where it accepted nothing; what was opened or reported as spam counts as delivered. `undelivered`: what the " +
          "provider gave up without a status of its own, as Amazon SES after a temporary bounce."
      })
    )
  )
  .middleware(AdminAccess) {}

/** `GET /api/admin/email-stats`. */
export const statsHandlers = HttpApiBuilder.group(
  apiOf(StatsGroup),
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
        Effect.catch(unavailable("the send log cannot be counted", "The send log does not answer now"))
      )
    })
  })
)
