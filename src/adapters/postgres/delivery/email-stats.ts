import { Effect, Layer, Schema } from "effect"

import { EmailStatus } from "../../../domain/mail/status.ts"
import { type EmailStat, EmailStats } from "../../../ports/delivery/email-log-query.ts"
import { WriteSql } from "../client.ts"
import { statements, storeUnavailable } from "../statement.ts"

/** Time limit of one count: a year of five million rows takes a few seconds. */
const ask = statements({ within: "15 seconds" })

const FirstDay = { firstDay: Schema.String }
const STAT = {
  day: Schema.String,
  category: Schema.String,
  provider: Schema.NullOr(Schema.String),
  status: EmailStatus,
  count: Schema.Int,
  failedOver: Schema.Int,
  costUsd: Schema.Finite
}
const Hour = Schema.Struct(STAT)
const Counted = Schema.Struct({ ...FirstDay, ...STAT })
const Nothing = Schema.Struct({ ...FirstDay, day: Schema.Null })
const Row = Schema.Union([Counted, Nothing])

/** The first of `$1` days, the last of which is today, UTC. */
const FIRST = `date_trunc('day', now() at time zone 'UTC') - make_interval(days => $1::int - 1)`

/** What is counted: an index-only scan of `email_log_created` answers it. */
const counts = (
  unit: "day" | "hour",
  first: string
) => `select date_trunc('${unit}', created_at at time zone 'UTC') as day, category, provider, status,
  count(*)::int as count, (count(*) filter (where failed_over))::int as failed_over,
  coalesce(sum(cost_usd), 0)::float8 as cost_usd
from email_log
where created_at >= (${first}) at time zone 'UTC'
group by 1, 2, 3, 4`

/** Returns the first day even where the log has nothing since then. */
const STATS = `select to_char(first.day, 'YYYY-MM-DD') as first_day, to_char(c.day, 'YYYY-MM-DD') as day,
  c.category, c.provider, c.status, c.count, c.failed_over, c.cost_usd
from (select ${FIRST} as day) as first left join (${counts("day", FIRST)}) as c on true
order by c.day desc, c.category, c.provider, c.status`

const HOURS = `select to_char(c.day, 'YYYY-MM-DD"T"HH24') as day, c.category, c.provider, c.status, c.count, c.failed_over, c.cost_usd
from (${counts("hour", "date_trunc('hour', now() at time zone 'UTC') - interval '23 hours'")}) as c
order by c.day, c.category, c.provider, c.status`

/**
 * Counts in Postgres. On a connection of its own: on a shared one it would delay the look-ups that sends wait for.
 */
export const layer: Layer.Layer<EmailStats, never, WriteSql> = Layer.effect(
  EmailStats,
  Effect.map(WriteSql, (sql) =>
    EmailStats.of({
      since: Effect.fnUntraced(function* (days) {
        const rows = yield* ask.rows("emailStats", Row, sql.unsafe(STATS, [days]))
        if (rows[0] === undefined) return yield* storeUnavailable("emailStats")("the statement gave no row")
        const stats = rows.flatMap((row): ReadonlyArray<EmailStat> => {
          if (row.day === null) return []
          const { firstDay: _, ...stat } = row
          return [stat]
        })
        return { from: rows[0].firstDay, stats }
      }),
      lastDay: ask.rows("emailStats", Hour, sql.unsafe(HOURS))
    })
  )
)
