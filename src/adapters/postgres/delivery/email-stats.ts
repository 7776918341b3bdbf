import { Effect, Layer, Schema } from "effect"

import { drain } from "../../../application/drain.ts"
import type { EmailStat } from "../../../domain/delivery/email-log-row.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import { EmailStats } from "../../../ports/delivery/email-log-query.ts"
import { SlowSql, WriteSql } from "../client.ts"
import { slowReads, statements, storeUnavailable } from "../statement.ts"

/** Time limit of one count: a year of five million rows takes a few seconds. */

const FirstDay = { firstDay: Schema.String }
const STAT = {
  day: Schema.String,
  category: Schema.String,
  provider: Schema.NullOr(Schema.String),
  status: EmailStatus,
  count: Schema.Int,
  failedOver: Schema.Int,
  undelivered: Schema.Int,
  costUsd: Schema.Finite
}
const Hour = Schema.Struct(STAT)
const Counted = Schema.Struct({ ...FirstDay, ...STAT })
const Nothing = Schema.Struct({ ...FirstDay, day: Schema.Null })
const Row = Schema.Union([Counted, Nothing])

/** The first of `$1` days, the last of which is today, UTC. */
const FIRST = `date_trunc('day', now() at time zone 'UTC') - make_interval(days => $1::int - 1)`

const UNDELIVERED = "error is not null and status in ('sent', 'delivery_delayed')"

/**
 * Days that are closed from their roll-up and what has changed since; the others from the log, by an index-only scan of
 * `email_log_created` each, and of `email_log_undelivered`. One statement, so that a change is seen in one of them.
 */
const COUNTS = `select x.day, x.category, x.provider, x.status, sum(x.count)::int as count,
  sum(x.failed_over)::int as failed_over, sum(x.undelivered)::int as undelivered, sum(x.cost_usd)::float8 as cost_usd
from (
  select s.* from email_stats_days s where s.day >= (${FIRST})::date
  union all
  select c.* from email_stats_changes c join email_stats_closed d on d.day = c.day where c.day >= (${FIRST})::date
  union all
  select o.day::date, l.category, l.provider, l.status, l.count, l.failed_over, l.undelivered, l.cost_usd
  from generate_series(${FIRST}, date_trunc('day', now() at time zone 'UTC'), interval '1 day') as o(day)
  cross join lateral (
    select category, provider, status, count(*) as count, count(*) filter (where failed_over) as failed_over,
      0 as undelivered, coalesce(sum(cost_usd), 0) as cost_usd
    from email_log
    where created_at >= o.day at time zone 'UTC' and created_at < (o.day + interval '1 day') at time zone 'UTC'
    group by 1, 2, 3
    union all
    select category, provider, status, 0, 0, count(*), 0
    from email_log
    where created_at >= o.day at time zone 'UTC' and created_at < (o.day + interval '1 day') at time zone 'UTC'
      and ${UNDELIVERED}
    group by 1, 2, 3
  ) l
  where not exists (select from email_stats_closed d where d.day = o.day::date)
) x
group by 1, 2, 3, 4
having sum(x.count) <> 0`

/** Returns the first day even where the log has nothing since then. */
const STATS = `select to_char(first.day, 'YYYY-MM-DD') as first_day, to_char(c.day, 'YYYY-MM-DD') as day,
  c.category, c.provider, c.status, c.count, c.failed_over, c.undelivered, c.cost_usd
from (select ${FIRST} as day) as first left join (${COUNTS}) as c on true
order by c.day desc, c.category, c.provider, c.status`

const HOURS = `select to_char(c.day, 'YYYY-MM-DD"T"HH24') as day, c.category, c.provider, c.status, c.count, c.failed_over, c.undelivered, c.cost_usd
from (
  select date_trunc('hour', created_at at time zone 'UTC') as day, category, provider, status, count(*)::int as count,
    (count(*) filter (where failed_over))::int as failed_over,
    (count(*) filter (where ${UNDELIVERED}))::int as undelivered, coalesce(sum(cost_usd), 0)::float8 as cost_usd
  from email_log
  where created_at >= (date_trunc('hour', now() at time zone 'UTC') - interval '47 hours') at time zone 'UTC'
  group by 1, 2, 3, 4
) as c
order by c.day, c.category, c.provider, c.status`

/** A day of a million rows, or a batch of old ones, takes longer than what somebody waits for. */
const upkeep = statements({ repeatable: true, within: "1 minute" })

/** Closes days that are over, one after another: what a leader that dies leaves is done by the next one. */
export const closeStatsDays = WriteSql.use((sql) =>
  drain(1, upkeep.answer("closeStatsDays", Schema.Int, sql`select close_email_stats_day() as answer`))
)

/** Rows deleted by one statement: few, so that its locks are held briefly. */
const ROWS_AT_ONCE = 5_000

/** Deletes rows of the log that were kept for so many days; undefined: none are. */
export const pruneLog = (keepDays: number | undefined) =>
  keepDays === undefined
    ? Effect.void
    : WriteSql.use((sql) =>
        drain(
          ROWS_AT_ONCE,
          upkeep.answer(
            "pruneLog",
            Schema.Int,
            sql`select prune_email_log(make_interval(days => ${keepDays}::integer), ${ROWS_AT_ONCE}::integer) as answer`
          )
        )
      )

/** Counts in Postgres. */
export const layer: Layer.Layer<EmailStats, never, SlowSql> = Layer.effect(
  EmailStats,
  Effect.map(SlowSql, (sql) =>
    EmailStats.of({
      since: Effect.fnUntraced(function* (days) {
        const rows = yield* slowReads.rows("emailStats", Row, sql.unsafe(STATS, [days]))
        if (rows[0] === undefined) return yield* storeUnavailable("emailStats")("the statement gave no row")
        const stats = rows.flatMap((row): ReadonlyArray<EmailStat> => {
          if (row.day === null) return []
          const { firstDay: _, ...stat } = row
          return [stat]
        })
        return { from: rows[0].firstDay, stats }
      }),
      lastHours: slowReads.rows("emailStats", Hour, sql.unsafe(HOURS))
    })
  )
)
