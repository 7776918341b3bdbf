import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"

/** What the database waited for, and how many connections the processes had, while something ran. */
export interface Watched {
  readonly connections: number
  /** Share of the samples of busy connections, by what they waited for; `running`: for nothing. */
  readonly waits: ReadonlyArray<readonly [event: string, share: number]>
  /** Rows changed by table, those changed most first. */
  readonly tables: ReadonlyArray<{ readonly table: string; readonly changes: number }>
  /** By time in the database, where pg_stat_statements is loaded. */
  readonly statements: ReadonlyArray<{
    readonly statement: string
    readonly calls: number
    readonly meanMs: number
  }>
}

const SAMPLE_EVERY = "25 millis"

const ACTIVITY = `select coalesce(wait_event_type || ': ' || wait_event, 'running') as event, state
from pg_stat_activity where backend_type = 'client backend' and application_name = 'postlane' and datname = current_database()`

const CHANGES = `select relname as table, (n_tup_ins + n_tup_upd + n_tup_del)::int as changes from pg_stat_user_tables`

const STATEMENTS = `select left(regexp_replace(query, '\\s+', ' ', 'g'), 70) as statement, calls::int as calls,
  mean_exec_time::float8 as "meanMs"
from pg_stat_statements s join pg_database d on d.oid = s.dbid and d.datname = current_database()
order by total_exec_time desc limit 5`

interface Sampled {
  readonly event: string
  readonly state: string | null
}

/** Watches the database while `run` runs. */
export const watched = <A>(databaseUrl: string, run: () => Promise<A>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.make({ url: Redacted.make(databaseUrl), maxConnections: 1 })
    const counts = new Map<string, number>()
    let connections = 0
    const sample = Effect.gen(function* () {
      const all = yield* sql.unsafe<Sampled>(ACTIVITY)
      connections = Math.max(connections, all.length)
      for (const { event, state } of all)
        if (state === "active") counts.set(event, (counts.get(event) ?? 0) + 1)
    })
    const samples = Effect.forever(Effect.andThen(sample, Effect.sleep(SAMPLE_EVERY)))
    const changes = Effect.map(
      sql.unsafe<{ readonly table: string; readonly changes: number }>(CHANGES),
      (rows) => new Map(rows.map((row) => [row.table, row.changes]))
    )
    yield* Effect.option(sql.unsafe("select pg_stat_statements_reset()"))
    const before = yield* changes
    yield* sample
    const value = yield* Effect.raceFirst(Effect.promise(run), samples)
    const after = yield* changes
    const statements = yield* sql
      .unsafe<Watched["statements"][number]>(STATEMENTS)
      .pipe(Effect.catch(() => Effect.succeed([])))
    const busy = [...counts.values()].reduce((sum, count) => sum + count, 0)
    const found: Watched = {
      connections,
      waits: [...counts]
        .map(([event, count]) => [event, count / busy] as const)
        .sort(([, a], [, b]) => b - a)
        .slice(0, 4),
      tables: [...after]
        .map(([table, count]) => ({ table, changes: count - (before.get(table) ?? 0) }))
        .filter(({ changes: count }) => count > 0)
        .sort((a, b) => b.changes - a.changes)
        .slice(0, 4),
      statements
    }
    return { value, found }
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.runPromise)
