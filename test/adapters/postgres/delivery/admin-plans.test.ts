import { assert, describe, layer as suiteLayer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"

import { SlowSql, ReadSql, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as AlarmBoard from "../../../../src/adapters/postgres/delivery/alarm-board.ts"
import * as EmailLogQuery from "../../../../src/adapters/postgres/delivery/email-log-query.ts"
import * as EmailStats from "../../../../src/adapters/postgres/delivery/email-stats.ts"
import * as HealthBoard from "../../../../src/adapters/postgres/delivery/health-board.ts"
import * as MailStories from "../../../../src/adapters/postgres/delivery/mail-stories.ts"
import * as SuppressionList from "../../../../src/adapters/postgres/mail/suppression-list.ts"
import * as AlarmBoardPort from "../../../../src/ports/delivery/alarm-board.ts"
import {
  EmailLogQuery as Log,
  type EmailLogFilter,
  EmailStats as Stats
} from "../../../../src/ports/delivery/email-log-query.ts"
import * as HealthPort from "../../../../src/ports/delivery/health-board.ts"
import * as StoriesPort from "../../../../src/ports/delivery/mail-stories.ts"
import {
  SuppressionList as Suppressions,
  type SuppressionFilter
} from "../../../../src/ports/mail/suppression-list.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const ROWS = 100_000
const SUPPRESSIONS = 60_000

/** A year of mail, by the statuses, categories and providers that a year has, each row with an event of a vendor's usual size. */
const FILL = [
  `insert into email_log (category, source, from_address, to_addresses, recipient_count, subject, outcome, status, provider,
    provider_message_id, last_event, failed_over, cost_usd, idempotency_key, key_hash, raw,
    created_at)
  select
    (array['transactional', 'transactional', 'notification', 'marketing', 'auth', 'alert', 'unknown'])[1 + n % 7], 'api:test',
    'n@x.test', array['user' || n % 20000 || '@x.test'], 1, 'Order ' || n || ' has shipped', 'sent',
    case when n % 50 = 0 then 'bounced' when n % 1000 = 1 then 'failed' when n % 3 = 0 then 'opened' else 'delivered' end,
    case when n % 4 = 0 then 'provider_b' else 'provider_a' end, 'm-' || n, 'delivered', n % 100 = 0, 0.0004, 'k-' || n,
    encode(sha256(convert_to('k-' || n, 'UTF8')), 'hex'), jsonb_build_object('type', 'email.delivered', 'data', repeat(md5(n::text), 30)),
    now() - n * interval '310 seconds'
  from generate_series(1, ${ROWS}) as n`,
  `insert into email_suppressions (email, reason, created_at)
  select 'blocked' || n || '@x.test', case when n % 500 = 0 then 'manual' when n % 20 = 0 then 'complaint' else 'hard_bounce' end,
    now() - n * interval '1 minute'
  from generate_series(1, ${SUPPRESSIONS}) as n`,
  `insert into email_send_queue (idempotency_key, key_hash, request_hash, category, lane, send_at, due_at, request, state, ended_at, result)
  select 'q-' || n, md5('q-' || n), md5('q-' || n), 'marketing', 5, now(), case when n % 4 = 0 then now() + n * interval '1 second' end,
    case when n % 4 = 0 then '{}'::jsonb end, case when n % 4 = 0 then 'queued' else 'sent' end,
    case when n % 4 <> 0 then now() - n * interval '1 minute' end, '{}'
  from generate_series(1, ${SUPPRESSIONS}) as n`
]

const fill = Effect.gen(function* () {
  const sql = yield* WriteSql
  yield* sql.withTransaction(
    Effect.gen(function* () {
      // The test server commits before it is on disk; until it is, a vacuum cannot say that every row is visible.
      yield* sql`set local synchronous_commit = on`
      // A year of mail may take longer to write than a statement of the product may.
      yield* sql`set local statement_timeout = 0`
      yield* Effect.forEach(FILL, (statement) => sql.unsafe(statement), { discard: true })
    })
  )
  yield* sql.unsafe("vacuum analyze email_log").unprepared
  yield* sql.unsafe("vacuum analyze email_suppressions").unprepared
  yield* sql.unsafe("vacuum analyze email_send_queue").unprepared
})

/** A node of a plan that was run. */
interface RunNode {
  readonly "Node Type": string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly Plans?: ReadonlyArray<RunNode>
}

/** The plans of the statements that went through {@link watched}; `rows`: how many rows their scans have read. */
class Plans extends Context.Service<
  Plans,
  { taken: ReadonlyArray<string>; rows: number; isCounted: boolean }
>()("postlane/test/Plans") {}

/** The rows that a node has read of tables and indexes, those that it left out with them. */
const rowsReadBy = (node: RunNode): number => {
  const own = /^(?:Seq|Index|Index Only|Bitmap Heap|Bitmap Index|Tid) Scan$/.test(node["Node Type"])
    ? node["Actual Rows"] +
      (node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0)
    : 0
  return (node.Plans ?? []).reduce((sum, one) => sum + rowsReadBy(one), own * node["Actual Loops"])
}

/** The client, which explains every statement of text before it runs it. */
const watched = <S extends SqlClient.SqlClient>(sql: S, plans: Plans["Service"]): S =>
  new Proxy(sql, {
    get: (target, name, receiver) =>
      name === "unsafe"
        ? (text: string, parameters?: ReadonlyArray<unknown>) => {
            // Some statements are made once, and run often.
            const explained = Effect.suspend(() => {
              const how = plans.isCounted ? "explain (analyze, timing off, format json)" : "explain"
              return target.unsafe<Record<string, unknown>>(`${how} ${text}`, parameters)
            })
            return explained.pipe(
              Effect.tap((lines) =>
                Effect.sync(() => {
                  const values = lines.flatMap((line) => Object.values(line))
                  if (plans.isCounted)
                    plans.rows += (values.flat() as ReadonlyArray<{ readonly Plan: RunNode }>).reduce(
                      (sum, { Plan }) => sum + rowsReadBy(Plan),
                      0
                    )
                  else plans.taken = [...plans.taken, values.join("\n")]
                })
              ),
              Effect.andThen(target.unsafe(text, parameters))
            )
          }
        : Reflect.get(target, name, receiver)
  })

const layerWatched = Layer.effectContext(
  Effect.gen(function* () {
    const write = yield* WriteSql
    yield* fill
    const plans = Plans.of({ taken: [], rows: 0, isCounted: false })
    return Context.make(Plans, plans).pipe(
      Context.add(SlowSql, watched(yield* SlowSql, plans)),
      Context.add(ReadSql, watched(yield* ReadSql, plans)),
      Context.add(WriteSql, watched(write, plans))
    )
  })
).pipe(Layer.provide(layerPostgres))

const layerAdmin = Layer.mergeAll(
  EmailLogQuery.layer,
  EmailStats.layer,
  SuppressionList.layer,
  AlarmBoard.layer,
  HealthBoard.layer(undefined),
  MailStories.layer
).pipe(Layer.provideMerge(layerWatched))

/** The plans of what `use` asks for. */
const plansOf = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const plans = yield* Plans
    plans.taken = []
    yield* use
    assert.isAbove(plans.taken.length, 0)
    return plans.taken
  })

/** How many rows the statements of `use` have read. */
const rowsOf = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const plans = yield* Plans
    plans.rows = 0
    plans.isCounted = true
    yield* Effect.ensuring(
      use,
      Effect.sync(() => {
        plans.isCounted = false
      })
    )
    return plans.rows
  })

const usesIndexes = <A, E, R>(what: string, use: Effect.Effect<A, E, R>) =>
  Effect.map(plansOf(use), (plans) => {
    for (const plan of plans) {
      // A row a category at most, and one a provider.
      assert.notMatch(plan, /Seq Scan on email_(?!queue_pauses|pace)/, what)
      if (/ Scan /.test(plan)) assert.match(plan, /Index/, what)
    }
  })

/** The plan of the rows that are found, without that of their answer. */
const rowsIn = (plan: string) => plan.split(/^ {2}InitPlan/m)[0] ?? ""

const LOG_FILTERS: ReadonlyArray<Partial<EmailLogFilter>> = [
  {},
  { status: "bounced" },
  { status: "deferred" },
  { status: "delivered" },
  { category: "alert" },
  { provider: "provider_a" },
  { provider: "provider_b" },
  { recipient: "user77@x.test" },
  { recipient: "nobody@x.test" },
  { subject: "Order 77777 has" },
  { subject: "nothing of the kind" },
  { subject: "shipped" },
  { key: "k-500" },
  { by: "mail" },
  { by: "mail", status: "failed" },
  { by: "mail", recipient: "user77@x.test" },
  { source: "api:nowhere", recipient: "user77@x.test" },
  { id: "0199a000-0000-7000-8000-000000000001" },
  { messageId: "m-500" },
  { search: "user77@x.test" },
  { search: "k-500" },
  { since: "2026-01-01" },
  { until: "2025-12-01" },
  { since: "2026-01-01", until: "2026-01-02", status: "bounced" },
  { status: "failed", category: "marketing", provider: "provider_b" },
  { status: "bounced", recipient: "user100@x.test", subject: "shipped" }
]

/** What no index answers, or none alone; each is met by few rows or none. */
const READ_FILTERS: ReadonlyArray<Partial<EmailLogFilter>> = [
  { provider: "provider_a" },
  { category: "alert" },
  { since: "2026-01-01", provider: "provider_b" },
  { status: "bounced", provider: "provider_a" },
  { status: "failed", provider: "provider_b" },
  { status: "opened", category: "marketing", provider: "provider_b" },
  { status: "deferred", category: "alert", provider: "provider_a" },
  { by: "mail" },
  { by: "mail", status: "failed" },
  { by: "mail", status: "failed", provider: "provider_b" },
  { source: "api:nowhere" },
  { source: "api:nowhere", status: "delivered" },
  { tag: "n" },
  { subject: "-7" },
  { subject: "-7", category: "auth" },
  { search: "nothing of the kind" },
  { search: "nothing of the kind", status: "delivered", category: "auth" },
  { search: "nothing of the kind", by: "mail" }
]

/** Rows that such a search may look at, and that its statements may read: once for the rows, once for the place, and a look-up a row. */
const [MOST_LOOKED_AT, MOST_READ] = [1000, 4000]

const SUPPRESSION_FILTERS: ReadonlyArray<Partial<SuppressionFilter>> = [
  {},
  { email: "blocked77@x.test" },
  { reason: "manual" },
  { reason: "complaint" },
  { reason: "hard_bounce" },
  { email: "blocked500@x.test", reason: "manual" }
]

suiteLayer(layerAdmin)("admin reads of a large log", (it) => {
  describe("use an index", () => {
    for (const filter of LOG_FILTERS) {
      it.effect(`email-log ${JSON.stringify(filter)}, first page and next`, () =>
        Effect.gen(function* () {
          const log = yield* Log
          let cursor: string | undefined
          yield* usesIndexes(
            JSON.stringify(filter),
            Effect.map(log.page({ limit: 50, ...filter }), ({ nextCursor }) => {
              cursor = nextCursor ?? undefined
            })
          )
          if (cursor !== undefined)
            yield* usesIndexes("next page", log.page({ limit: 50, ...filter, cursor }))
          // What every row matches is counted by reading the first of them, wherever they are.
          if (filter.subject !== "shipped") yield* usesIndexes("count", log.count(filter, 1000))
          if (filter.subject === undefined) yield* usesIndexes("counts", log.counts(filter, 10))
        })
      )
    }

    for (const filter of READ_FILTERS)
      it.effect(`email-log ${JSON.stringify(filter)}, of so many rows, however large the log`, () =>
        Effect.gen(function* () {
          const log = yield* Log
          const read = {
            page: yield* rowsOf(log.page({ limit: 50, ...filter })),
            count: yield* rowsOf(log.count(filter, 10_000)),
            counts: yield* rowsOf(log.counts(filter, 1000))
          }
          // A count of one filter reads as far as it counts.
          const most = { page: MOST_READ, count: 10_000 + MOST_READ, counts: MOST_READ }
          for (const what of ["page", "count", "counts"] as const)
            assert.isAtMost(read[what], most[what], what)
        }).pipe(Effect.provide(EmailLogQuery.layerReading(MOST_LOOKED_AT)))
      )

    for (const filter of [{ by: "mail" as const }, { source: "api:test" }, { tag: "n" }])
      it.effect(`email-log ${JSON.stringify(filter)}, in the order of the index`, () =>
        Effect.gen(function* () {
          const plans = yield* plansOf(Log.use((log) => log.page({ limit: 50, ...filter })))
          for (const plan of plans) assert.notMatch(rowsIn(plan), /Sort|Hash|Seq Scan on email_/)
        })
      )

    it.effect("email-log by its changes, in the order of the index", () =>
      Effect.gen(function* () {
        const log = yield* Log
        const changedSince = "2026-01-01T00:00:00Z"
        const [, plan] = yield* plansOf(log.changes({ limit: 50, changedSince, status: "bounced" }))
        assert.match(plan ?? "", /Index Scan using email_log_updated/)
        assert.notMatch(rowsIn(plan ?? ""), /Sort|Seq Scan on email_/)
      })
    )

    for (const side of ["older", "newer"] as const) {
      it.effect(`the rows beside one, ${side}, without sorting`, () =>
        Effect.gen(function* () {
          const log = yield* Log
          const { rows } = yield* log.page({ limit: 1, key: "k-500" })
          const [plan] = yield* plansOf(log.beside({ id: rows[0]?.id ?? "", limit: 50, side }))
          assert.match(plan ?? "", /Index (?:Only )?Scan (?:Backward )?using email_log_/)
          assert.notMatch(plan ?? "", /Seq Scan on email_|^\s*->\s+Sort/m)
        })
      )
    }

    for (const filter of SUPPRESSION_FILTERS) {
      it.effect(`email-suppressions ${JSON.stringify(filter)}, first page and next`, () =>
        Effect.gen(function* () {
          const list = yield* Suppressions
          let cursor: string | undefined
          yield* usesIndexes(
            JSON.stringify(filter),
            Effect.map(list.page({ limit: 50, ...filter }), ({ nextCursor }) => {
              cursor = nextCursor ?? undefined
            })
          )
          if (cursor !== undefined)
            yield* usesIndexes("next page", list.page({ limit: 50, ...filter, cursor }))
        })
      )
    }

    it.effect("email-suppressions by reason, the newest first without sorting", () =>
      Effect.gen(function* () {
        const [plan] = yield* plansOf(Suppressions.use((list) => list.page({ limit: 50, reason: "manual" })))
        assert.include(plan, "email_suppressions_reason")
        assert.notMatch(plan ?? "", /^\s*->\s+Sort/m)
      })
    )

    for (const days of [1, 30, 366]) {
      it.effect(`email-stats of ${days} days: the index alone`, () =>
        Effect.gen(function* () {
          const stats = yield* Stats
          const [plan] = yield* plansOf(stats.since(days))
          assert.match(plan ?? "", /Index Only Scan using email_log_created/)
        })
      )
    }

    it.effect("the overview, and the hours of a day", () =>
      Effect.gen(function* () {
        const read = HealthPort.HealthBoard.use((board) => board.read)
        const figures = HealthPort.HealthBoard.use((board) => board.figures)
        const plans = [
          ...(yield* plansOf(read)),
          ...(yield* plansOf(figures)),
          ...(yield* plansOf(Stats.use(({ lastHours }) => lastHours)))
        ]
        assert.notMatch(plans.join("\n"), /Seq Scan on email_log/)
      })
    )

    it.effect("a mail's story", () =>
      Effect.gen(function* () {
        const log = yield* Log
        const { rows } = yield* log.page({ limit: 1, key: "k-500" })
        yield* usesIndexes(
          "story",
          StoriesPort.MailStories.use((stories) => stories.of(rows[0]?.id ?? ""))
        )
      })
    )

    it.effect("each read is planned for its own values, however often it was asked for others", () =>
      Effect.gen(function* () {
        const log = yield* Log
        const sql = yield* SlowSql
        // A statement that is kept is planned for no value from the sixth time on: every row would be read for a rare status.
        yield* Effect.replicateEffect(log.page({ limit: 50, status: "delivered" }), 24, { concurrency: 3 })
        const kept = sql<{ readonly name: string }>`select name from pg_prepared_statements`
        const found = yield* Effect.replicateEffect(kept, 12, { concurrency: 3 })
        assert.deepStrictEqual(found.flat(), [])
      })
    )

    it.effect("the alarms' measures", () =>
      usesIndexes(
        "measures",
        AlarmBoardPort.AlarmBoard.use((board) => board.measure)
      )
    )
  })
})
