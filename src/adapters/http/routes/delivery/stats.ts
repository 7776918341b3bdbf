import { Effect, Schema, Stream } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { isWanted } from "../../../../domain/delivery/health.ts"
import { statRows, summarize } from "../../../../domain/delivery/stats.ts"
import { Provider } from "../../../../domain/mail/provider.ts"
import { EmailStatus } from "../../../../domain/mail/status.ts"
import { Category, UNKNOWN_CATEGORY } from "../../../../domain/mail/suppression/policy.ts"
import { MAX_STATS_DAYS, EmailStats } from "../../../../ports/delivery/email-log-query.ts"
import { AdminAccess } from "../../server/access.ts"
import { type CsvColumns, csvResponse } from "../../server/csv.ts"
import { apiOf, filter, page } from "../../server/endpoint.ts"
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
  .add(
    HttpApiEndpoint.get("emailStatsCsv", "/api/admin/email-stats.csv", {
      query: {
        days: page(DEFAULT_STATS_DAYS, MAX_STATS_DAYS),
        category: filter(Schema.Literals([...Category.literals, UNKNOWN_CATEGORY])),
        provider: filter(Provider)
      },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv; charset=utf-8" })),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The same as CSV, of one category or provider where they are given",
        description: "A row a day, category and provider, with the number of mails in each status."
      })
    )
  )
  .middleware(AdminAccess) {}

const COLUMNS: CsvColumns<ReturnType<typeof statRows>[number]> = {
  day: ({ day }) => day,
  category: ({ category }) => category,
  provider: ({ provider }) => provider,
  mails: ({ total }) => String(total),
  ...Object.fromEntries(
    EmailStatus.literals.map((status) => [
      status,
      ({ byStatus }: ReturnType<typeof statRows>[number]) => String(byStatus[status])
    ])
  ),
  failed_over: ({ failedOver }) => String(failedOver),
  undelivered: ({ undelivered }) => String(undelivered),
  cost_usd: ({ costUsd }) => String(costUsd)
}

const away = unavailable("the send log cannot be counted", "The send log does not answer now")

/** `GET /api/admin/email-stats`, and the same as CSV. */
export const statsHandlers = HttpApiBuilder.group(
  apiOf(StatsGroup),
  "stats",
  Effect.fnUntraced(function* (handlers) {
    const stats = yield* EmailStats
    return handlers.handleAll({
      emailStats: ({ query }) => {
        const days = query.days || DEFAULT_STATS_DAYS
        return stats.since(days).pipe(
          Effect.map(({ from, stats: counted }) => ({
            days,
            from,
            rows: statRows(counted),
            totals: summarize(counted)
          })),
          Effect.catch(away)
        )
      },
      emailStatsCsv: ({ query, request }) => {
        const wanted = { provider: query.provider, category: query.category }
        return stats.since(query.days || DEFAULT_STATS_DAYS).pipe(
          Effect.map(({ stats: counted }) => {
            const rows = statRows(counted.filter((stat) => isWanted(stat, wanted)))
            return csvResponse("email-stats", request, COLUMNS, Stream.make(rows))
          }),
          Effect.catch(away)
        )
      }
    })
  })
)
