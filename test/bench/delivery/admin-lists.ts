import { Effect, Layer, Redacted } from "effect"

import { layer as clients, layerSingle, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layer as layerLog } from "../../../src/adapters/postgres/delivery/email-log-query.ts"
import { closeStatsDays, layer as layerStats } from "../../../src/adapters/postgres/delivery/email-stats.ts"
import {
  EmailLogQuery,
  type EmailLogFilter,
  EmailStats
} from "../../../src/ports/delivery/email-log-query.ts"
import { median } from "../measure.ts"
import { withTargets } from "../run.ts"

/** One read of the admin's, and how long it took at its median and at its longest, milliseconds. */
export interface AdminTime {
  readonly read: string
  readonly median: number
  readonly longest: number
}

const FILTERS: ReadonlyArray<Partial<EmailLogFilter>> = [
  {},
  { status: "bounced" },
  { category: "alert" },
  { provider: "provider_b" },
  { recipient: "user4711@example.com" },
  { recipient: "nobody@example.com" },
  { subject: "Order 77777 has" },
  { subject: "nothing of the kind" },
  { status: "failed", category: "marketing", provider: "provider_b" }
]

/** A year of mail, in parts: one statement for all of it would be one transaction of gigabytes. */
const fill = (rows: number) =>
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const part = 250_000
    yield* sql.unsafe("set statement_timeout = 0").unprepared
    // The year is counted by the roll-up, not row by row as it is written.
    yield* sql.unsafe("alter table email_log disable trigger user").unprepared
    for (let from = 1; from <= rows; from += part) {
      yield* sql.unsafe(`insert into email_log (category, source, from_address, to_addresses, recipient_count, subject,
        outcome, status, provider, provider_message_id, last_event, failed_over, cost_usd, raw, created_at)
      select (array['transactional', 'transactional', 'notification', 'marketing', 'auth', 'alert', 'unknown'])[1 + n % 7],
        'api:bench', 'noreply@postlane.test', array['user' || n % 500000 || '@example.com'], 1, 'Order ' || n || ' has shipped',
        'sent', case when n % 50 = 0 then 'bounced' when n % 1000 = 1 then 'failed' else 'delivered' end,
        case when n % 4 = 0 then 'provider_b' else 'provider_a' end, 'admin-' || n, 'delivered', n % 100 = 0, 0.0004,
        jsonb_build_object('type', 'email.delivered', 'data', repeat(md5(n::text), 10)),
        now() - n * make_interval(secs => ${31_536_000 / rows}::float8)
      from generate_series(${from}, ${Math.min(rows, from + part - 1)}) as n`).unprepared
    }
    yield* sql.unsafe("alter table email_log enable trigger user").unprepared
    yield* sql.unsafe("vacuum analyze email_log").unprepared
  })

/** Fills a log with so many rows and times each kind of read. */
export const timeAdminLists = (options: {
  readonly rows: number
  readonly times: number
  readonly databaseUrl?: string
}): Promise<ReadonlyArray<AdminTime>> =>
  withTargets({ ...options, suppressions: 1, eventRows: 1 }, async ({ databaseUrl }) => {
    const url = Redacted.make(databaseUrl)
    await Effect.runPromise(Effect.provide(fill(options.rows), layerSingle({ url })))
    const timed = Effect.fnUntraced(function* <A, E, R>(read: string, use: Effect.Effect<A, E, R>) {
      const all: Array<number> = []
      for (let time = 0; time < options.times; time++) {
        const started = performance.now()
        yield* use
        all.push(performance.now() - started)
      }
      return { read, median: median(all), longest: Math.max(...all) }
    })
    const all = Effect.gen(function* () {
      const list = yield* EmailLogQuery
      const stats = yield* EmailStats
      const lists = yield* Effect.forEach(FILTERS, (filter) =>
        timed(`email-log ${JSON.stringify(filter)}`, list.page({ limit: 50, ...filter }))
      )
      const counts = (log: string) =>
        Effect.forEach([1, 30, 366], (days) => timed(`email-stats ${days} days${log}`, stats.since(days)))
      const live = yield* counts(", no day rolled up")
      const closing = yield* timed("rolling up a year, once", closeStatsDays)
      return [...lists, ...live, closing, ...(yield* counts(""))]
    })
    return Effect.runPromise(
      Effect.provide(all, Layer.mergeAll(layerLog, layerStats).pipe(Layer.provideMerge(clients({ url }))))
    )
  })
