import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"

import { type ReadSql, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { closeStatsDays, layer, pruneLog } from "../../../../src/adapters/postgres/delivery/email-stats.ts"
import { EmailStats } from "../../../../src/ports/delivery/email-log-query.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

/** What the log itself says, without any roll-up. */
const counted = WriteSql.use(
  (sql) => sql`select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, category, provider, status,
    count(*)::int as count, (count(*) filter (where failed_over))::int as "failedOver",
    (count(*) filter (where error is not null and status in ('sent', 'delivery_delayed')))::int as undelivered,
    coalesce(sum(cost_usd), 0)::float8 as "costUsd"
  from email_log group by 1, 2, 3, 4 order by 1 desc, 2, 3, 4`
)

const shown = Effect.map(
  EmailStats.use((stats) => stats.since(366)),
  ({ stats }) => stats
)

const clean = empty(
  "email_log, email_alerts, email_send_claims, email_stats_days, email_stats_closed, email_stats_changes"
)

/** A row of so many days ago. */
const insert = (days: number, values: Record<string, unknown> = {}) =>
  WriteSql.use(
    (sql) =>
      sql`insert into email_log ${sql.insert({
        category: "transactional",
        provider: "provider_a",
        status: "sent",
        cost_usd: 0.5,
        created_at: new Date(Date.now() - days * 86_400_000),
        ...values
      })}`
  )

const STATUSES = ["sent", "delivered", "bounced", "failed"] as const

/** What happens to the log, and the leader's work between. */
const step = fc.oneof(
  fc.record({
    what: fc.constant("insert" as const),
    days: fc.nat({ max: 6 }),
    status: fc.constantFrom(...STATUSES)
  }),
  fc.record({
    what: fc.constant("event" as const),
    row: fc.nat({ max: 20 }),
    status: fc.constantFrom(...STATUSES)
  }),
  fc.record({ what: fc.constant("bounce" as const), row: fc.nat({ max: 20 }) }),
  fc.record({ what: fc.constant("move" as const), row: fc.nat({ max: 20 }), days: fc.nat({ max: 6 }) }),
  fc.record({ what: fc.constant("delete" as const), row: fc.nat({ max: 20 }) }),
  fc.constant({ what: "close" as const })
)

type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const take = (one: Step) =>
  WriteSql.use((sql): Effect.Effect<unknown, unknown, WriteSql> => {
    const row = (at: number) => sql`(select id from email_log order by id offset ${at} limit 1)`
    switch (one.what) {
      case "insert":
        return insert(one.days, { status: one.status, failed_over: one.status === "failed" })
      case "event":
        return sql`update email_log set status = ${one.status}, cost_usd = 0.25 where id = ${row(one.row)}`
      case "bounce":
        return sql`update email_log set error = 'Transient/MailboxFull' where id = ${row(one.row)}`
      case "move":
        return sql`update email_log set created_at = now() - make_interval(days => ${one.days}::int) where id = ${row(one.row)}`
      case "delete":
        return sql`delete from email_log where id = ${row(one.row)}`
      case "close":
        return closeStatsDays
    }
  })

/** What a statement read. */
interface Explained {
  readonly "QUERY PLAN": ReadonlyArray<{
    readonly Plan: { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number }
  }>
}

suiteLayer(layer.pipe(Layer.provideMerge(layerPostgres)))("statistics by day (EVENT-65)", (it) => {
  it.effect("whatever is written, changed and deleted on whatever day: they say what the log says", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<WriteSql | ReadSql | EmailStats>()
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), (steps) =>
            Effect.runPromiseWith(context)(
              Effect.gen(function* () {
                yield* clean
                for (const one of steps) {
                  yield* take(one)
                  assert.deepStrictEqual(yield* shown, (yield* counted) as never)
                }
              })
            )
          ),
          { numRuns: 25 }
        )
      )
    })
  )

  it.effect("changes while a day is being closed and folded are counted once", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      // Not yesterday, which is closed an hour after midnight.
      for (let day = 2; day <= 6; day++) for (let n = 0; n < 20; n++) yield* insert(day)
      const events = Effect.forEach(
        Array.from({ length: 60 }, (_, n) => n),
        (n) => sql`update email_log set status = ${STATUSES[n % 4]!}
          where id = (select id from email_log order by id offset ${n} limit 1)`,
        { concurrency: 4 }
      )
      const leaders = Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => closeStatsDays, { concurrency: 2 })
      yield* Effect.all([events, leaders, events], { concurrency: 3 })
      assert.deepStrictEqual(yield* shown, (yield* counted) as never)
      yield* closeStatsDays
      assert.deepStrictEqual(yield* shown, (yield* counted) as never)
      const [left] = yield* sql<{ readonly n: number }>`select count(*)::int as n from email_stats_changes`
      assert.strictEqual(left?.n, 0)
    })
  )

  it.effect(
    "the log is kept for as long as the setting says; what is open stays, and so do the statistics (EVENT-64)",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const old = { updated_at: new Date(Date.now() - 40 * 86_400_000) }
        for (let n = 0; n < 2; n++) yield* insert(40, { ...old, subject: "goes" })
        yield* insert(40, { ...old, subject: "deferred", status: "deferred" })
        yield* insert(40, { ...old, subject: "bound", key_hash: "k" })
        yield* sql`insert into email_send_claims
        (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at)
        values ('k', '', 'accepted', 'provider_a', false, 'o', now())`
        yield* insert(40, { ...old, subject: "alert", id: "00000000-0000-0000-0000-0000000000aa" })
        yield* sql`insert into email_alerts (send_id, due_at, details)
        values ('00000000-0000-0000-0000-0000000000aa', now(), '{}')`
        yield* insert(40, { ...old, subject: "goes", id: "00000000-0000-0000-0000-0000000000bb" })
        yield* insert(29, { ...old, subject: "young", id: "00000000-0000-0000-0000-0000000000cc" })
        yield* sql`insert into email_alerts (send_id, confirmed_at, details) values
          ('00000000-0000-0000-0000-0000000000bb', now(), '{}'), ('00000000-0000-0000-0000-0000000000cc', now(), '{}')`
        yield* insert(40, { subject: "heard of" })
        yield* sql`insert into email_events select id, 1, 'sent', now(), false, null, 0 from email_log`
        const subjects = Effect.map(
          sql<{ readonly subject: string }>`select subject from email_log order by subject`,
          (rows) => rows.map(({ subject }) => subject)
        )
        yield* pruneLog(30)
        assert.lengthOf(yield* subjects, 8, "nothing goes before its day is closed")
        yield* closeStatsDays
        const before = yield* shown
        yield* pruneLog(undefined)
        assert.lengthOf(yield* subjects, 8)
        yield* pruneLog(30)
        assert.deepStrictEqual(yield* subjects, ["alert", "bound", "deferred", "heard of", "young"])
        assert.lengthOf(yield* sql`select from email_events`, 5, "events go with their rows")
        assert.lengthOf(yield* sql`select from email_alerts`, 2, "so do alerts that went out")
        yield* closeStatsDays
        assert.deepStrictEqual(yield* shown, before)
        yield* sql`delete from email_log where subject = 'young'`
        assert.notDeepEqual(yield* shown, before, "what is deleted by hand leaves the statistics")
      })
  )

  it.effect(
    "days are closed one after the other, the newest first, once each has been over for an hour",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const dayBefore = (days: number) => {
          const at = new Date(Date.now() - 3_600_000 - days * 86_400_000)
          return at.toISOString().slice(0, 10)
        }
        yield* insert(6)
        const closed = Effect.map(
          sql<{ readonly day: string }>`select day::text as day from email_stats_closed order by day desc`,
          (rows) => rows.map(({ day }) => day)
        )
        const close = sql`select close_email_stats_day()`
        const before = dayBefore(1)
        yield* close
        // Midnight may have passed meanwhile.
        const [newest = "", ...others] = yield* closed
        assert.include([before, dayBefore(1)], newest)
        assert.deepStrictEqual(others, [])
        yield* closeStatsDays
        const all = yield* closed
        assert.lengthOf(all, (Date.parse(all[0]!) - Date.parse(all.at(-1)!)) / 86_400_000 + 1)
        assert.lengthOf(
          yield* sql`select from email_log where (created_at at time zone 'UTC')::date = ${all.at(-1)}::date`,
          1
        )
      })
  )

  const errors = [null, "Transient/MailboxFull"]
  const changes = [
    ["the status alone", { status: "delivered" }],
    ["the cost alone", { cost_usd: 0.25 }],
    ["a fail-over alone", { failed_over: true }],
    ["an error alone", { error: "Transient/MailboxFull" }]
  ] as const
  it.effect.each(changes)("of a day that is closed say what changes later: %s", ([, change]) =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      for (const status of ["sent", "delivery_delayed", "bounced"] as const)
        for (const error of errors) yield* insert(3, { status, error, cost_usd: 0 })
      yield* insert(2)
      yield* closeStatsDays
      assert.deepStrictEqual(yield* shown, (yield* counted) as never)
      yield* sql`update email_log set ${sql.update(change)} where status = 'sent' and error is null`
      yield* closeStatsDays
      assert.lengthOf(yield* sql`select from email_stats_changes`, 0)
      assert.deepStrictEqual(yield* shown, (yield* counted) as never)
    })
  )

  it.effect("pruning begins with the oldest, and leaves what changed within a week (EVENT-64)", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const days = (count: number) => new Date(Date.now() - count * 86_400_000)
      const old = { updated_at: days(7.5) }
      // In another order than their ages.
      yield* insert(40.0001, { updated_at: days(7.9), subject: "third" })
      yield* insert(40.0002, { ...old, subject: "second" })
      yield* insert(42, { ...old, subject: "first" })
      yield* insert(42, { updated_at: days(6.5), subject: "changed" })
      yield* closeStatsDays
      yield* sql`analyze email_stats_closed`
      const left = sql<{
        readonly subject: string
      }>`select subject from email_log order by created_at, subject`
      const pruned = Effect.gen(function* () {
        const before = yield* left
        yield* sql`select prune_email_log('30 days', 1)`
        const after = new Set((yield* left).map(({ subject }) => subject))
        return before.map(({ subject }) => subject).filter((subject) => !after.has(subject))
      })
      for (const subject of ["first", "second", "third"]) assert.deepStrictEqual(yield* pruned, [subject])
      assert.deepStrictEqual(yield* pruned, [])
    })
  )

  it.effect(
    "only what pruning deletes keeps its place in the statistics, not what its caller deletes after it",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const old = { updated_at: new Date(Date.now() - 40 * 86_400_000) }
        yield* insert(40, old)
        yield* insert(20)
        yield* closeStatsDays
        const before = yield* shown
        yield* sql.withTransaction(
          Effect.andThen(sql`select prune_email_log('30 days')`, sql`delete from email_log`)
        )
        assert.deepStrictEqual(yield* shown, before.slice(1))
      })
  )

  it.effect("pruning reads little more than it deletes, also beside days that are open (EVENT-64)", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const log = (from: number, days: number) =>
        sql.unsafe(`insert into email_log (category, status, provider, created_at, updated_at)
          select 'auth', 'sent', 'provider_a', x.at, x.at from (
            select date_trunc('day', now(), 'UTC') - make_interval(days => ${from} + day, secs => n * 400) as at
            from generate_series(1, ${days}) as day, generate_series(1, 200) as n) as x`).unprepared
      // In one transaction, hence on one connection: what a first call reads there of the catalogue is not counted.
      const prune = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select prune_email_log('100 years', 100)`.unprepared
          const [row] =
            yield* sql<Explained>`explain (analyze, buffers, format json) select prune_email_log('30 days', 100)`
              .unprepared
          const { Plan } = row!["QUERY PLAN"][0]!
          return Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"]
        })
      )
      const rows = Effect.map(
        sql<{ readonly n: number }>`select count(*)::int as n from email_log`,
        ([found]) => found?.n
      )
      yield* log(30, 100)
      yield* sql.unsafe("vacuum analyze email_log").unprepared
      assert.isBelow(yield* prune, 200, "no day is closed")
      assert.strictEqual(yield* rows, 20_000)
      yield* closeStatsDays
      // Older days, whose statistics nobody has made: younger days that are closed go before them.
      yield* log(400, 50)
      const first = yield* prune
      assert.strictEqual(yield* rows, 29_900)
      for (let call = 0; call < 60; call++) yield* prune
      assert.isBelow(yield* prune, 3 * first, "the last of many calls")
      assert.strictEqual(yield* rows, 30_000 - 62 * 100)
    })
  )
})
