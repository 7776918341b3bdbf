import { Effect } from "effect"

import type { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import type { Walk } from "./walks.ts"

type Sql = WriteSql["Service"]

/** What a table gets at least. */
const ROWS = 2000

/** A statement that was run so often is planned for all values, and keeps its plan. */
const ROUNDS = 5

/** A row for each of a few things, however much mail there is. */
const FEW = [
  "admin_notification_preferences",
  "email_alarm_notices",
  "email_alarms",
  "email_pace",
  "email_queue_pauses",
  "email_stats_closed",
  "email_stats_days",
  "email_tag_secrets",
  "event_hooks",
  "intake_link_keys",
  "leases",
  "postlane_functions",
  "postlane_migrations",
  "share_keys",
  "unsubscribe_keys",
  "work_turns"
]

const TABLES = `select c.oid, c.relname from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all ('{${FEW.join(",")}}')`

/** Nothing analyzes the tables meanwhile, after which plans would be made anew. */
const KEEP_PLANS = `do $$
  declare t record;
  begin
    for t in ${TABLES} loop
      execute format('alter table %I set (autovacuum_enabled = false)', t.relname);
    end loop;
  end
$$`

/** Copies what the tables hold, each row with other ids, keys and addresses: those that refer to a row are copied with it. */
const GROW = `do $$
  declare
    t record;
    v_rows integer;
    v_columns text;
    v_values text;
  begin
    perform set_config('session_replication_role', 'replica', true);
    for t in ${TABLES} loop
      execute format('select count(*) from %I', t.relname) into v_rows;
      continue when v_rows = 0;
      select string_agg(quote_ident(a.attname), ', '), string_agg(format(
        case
          when a.attname = 'hook_id' then 'x.%1$I'
          when a.atttypid = 'uuid'::regtype then 'md5(x.%1$I::text || n)::uuid'
          when a.atttypid = 'bytea'::regtype then 'sha256(x.%1$I || n::text::bytea)'
          when a.atttypid = 'text'::regtype
            and a.attname ~ '(email|hash|key|message_id|identity|sender|recipient|turn|owner|target|name|tag|subject)$'
            then 'x.%1$I || ''~'' || n'
          when a.attname ~ '_addresses$' then 'array(select y || ''~'' || n from unnest(x.%1$I) as y)'
          when a.attname = 'sequence' then 'x.%1$I + n * 100000'
          else 'x.%1$I'
        end, a.attname), ', ')
      into v_columns, v_values
      from pg_attribute a where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '';
      execute format('insert into %1$I (%2$s) select %3$s from %1$I x cross join generate_series(1, %4$s) as n on conflict do nothing',
        t.relname, v_columns, v_values, 1 + ${ROWS} / v_rows);
    end loop;
  end
$$`

interface Read {
  readonly rows: number
  readonly pages: number
}

/** Rows and entries of indexes, and pages of both, that were read of each table so far. */
const readSoFar = (sql: Sql) =>
  Effect.gen(function* () {
    yield* sql.unsafe("select pg_stat_force_next_flush()").unprepared
    const tables = yield* sql.unsafe<Read & { readonly name: string }>(`select
        coalesce(i.indrelid, c.oid)::regclass::text as name,
        sum(pg_stat_get_tuples_returned(c.oid))::float8 as rows, sum(pg_stat_get_blocks_fetched(c.oid))::float8 as pages
      from pg_class c left join pg_index i on i.indexrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i')
      group by 1`)
    return new Map(tables.map(({ name, pages, rows }) => [name, { pages, rows }]))
  })

const NOTHING: Read = { rows: 0, pages: 0 }

const less = (read: Read, before = NOTHING): Read => ({
  rows: read.rows - before.rows,
  pages: read.pages - before.pages
})

/** Does all that a world knows; what each step has read of each table, by its scene and place. */
const readBy = ({ scenes, sql }: Walk, n: number) =>
  Effect.gen(function* () {
    const found = new Map<string, { readonly step: string; readonly tables: ReadonlyMap<string, Read> }>()
    for (const scene of scenes) {
      const steps = yield* scene.steps(n)
      let before = yield* readSoFar(sql)
      for (const [at, [step, done]] of steps.entries()) {
        yield* Effect.ignore(done)
        const after = yield* readSoFar(sql)
        const tables = [...after].map(([name, read]) => [name, less(read, before.get(name))] as const)
        found.set(`${scene.name}, ${at}: ${step}`, { step, tables: new Map(tables) })
        before = after
      }
    }
    return found
  })

/**
 * Which steps read the more of a table the more rows of others it holds, as `step table` with the places and counts. A session's plans
 * are made while the tables are nearly empty, never analyzed or with `analyzed` analyzed then; the rows come after, 2000 of each table.
 * `most`: what a step may read more, rows and pages of all kinds.
 */
export const growing = (walk: Walk, analyzed: boolean, most: number) =>
  Effect.gen(function* () {
    yield* walk.sql.unsafe(KEEP_PLANS).unprepared
    if (analyzed) yield* walk.sql.unsafe("analyze").unprepared
    for (let n = 0; n < ROUNDS; n++)
      for (const scene of walk.scenes) {
        yield* walk.sql.unsafe(walk.clean).unprepared
        for (const [, step] of yield* scene.steps(n)) yield* Effect.ignore(step)
      }
    yield* walk.sql.unsafe(walk.clean).unprepared
    const small = yield* readBy(walk, ROUNDS)
    // In another session: one that sets what this sets forgets its plans.
    yield* walk.other.unsafe(GROW).unprepared
    // What it read itself: a session says what it has read at times of its own, else in the middle of the steps.
    yield* walk.other.unsafe("select pg_stat_force_next_flush()").unprepared
    const found = new Map<string, string>()
    for (const [place, { step, tables }] of yield* readBy(walk, ROUNDS))
      for (const [table, read] of tables) {
        const { pages, rows } = less(read, small.get(place)?.tables.get(table))
        if (rows > most || pages > most)
          found.set(`${step} ${table}`, `${place}: ${rows} rows and ${pages} pages more of ${table}`)
      }
    return found
  })
