import { Effect, Layer, Schema } from "effect"

import { TestTime } from "../../ports/test-time.ts"
import { WriteSql } from "./client.ts"
import { statements } from "./statement.ts"

const ask = statements()

/** The schema of the functions below, which sessions find before PostgreSQL's own. */
export const CLOCK_SCHEMA = "postlane_clock"

/** The functions of PostgreSQL that the migrations and our statements tell the time by. */
const TIMES = [
  ["now", "stable"],
  ["clock_timestamp", "volatile"]
] as const

const timeOf = ([name, volatility]: (typeof TIMES)[number]): string =>
  `create function postlane_clock.${name}() returns timestamptz language sql ${volatility} parallel safe
   as 'select pg_catalog.${name}() + (select shifted.by from postlane_clock.shifted)'`

const NAMES = TIMES.map(([name]) => name).join("|")

/**
 * Statements that give a migrated database a time of day that can be put forward: functions of the same names stand before PostgreSQL's own
 * wherever ours look for them. For databases that are thrown away.
 */
export const SHIFTED_TIME: ReadonlyArray<string> = [
  `create schema ${CLOCK_SCHEMA}`,
  "create table postlane_clock.shifted (by interval not null)",
  "insert into postlane_clock.shifted values ('0')",
  ...TIMES.map(timeOf),
  "grant usage on schema postlane_clock to public",
  "grant select on postlane_clock.shifted to public",
  `do $do$
  declare found record;
  begin
    for found in
      select oid::regprocedure as name, case prokind when 'p' then 'procedure' else 'function' end as kind
      from pg_proc
      where pronamespace = 'public'::regnamespace and exists (select from unnest(proconfig) as c where c like 'search_path=%')
    loop
      execute format('alter %s %s set search_path = postlane_clock, pg_catalog, public, pg_temp', found.kind, found.name);
    end loop;
    for found in
      select adrelid::regclass as name, attname, pg_get_expr(adbin, adrelid) as expression
      from pg_attrdef
      join pg_attribute on attrelid = adrelid and attnum = adnum
      where attgenerated = '' and pg_get_expr(adbin, adrelid) ~ '\\m(${NAMES})\\(\\)'
    loop
      execute format(
        'alter table %s alter column %I set default %s', found.name, found.attname,
        regexp_replace(found.expression, '\\m(${NAMES})\\(\\)', 'postlane_clock.\\1()', 'g')
      );
    end loop;
    execute format(
      'alter role %I in database %I set search_path = postlane_clock, pg_catalog, public', current_user, current_database()
    );
  end
  $do$`
]

/** Makes the time of a database one that can be put forward. */
export const installShiftedTime = WriteSql.use((sql) =>
  Effect.forEach(SHIFTED_TIME, (statement) => sql.unsafe(statement).unprepared, { discard: true })
)

/** Puts forward the database's time, and then this process's. */
export const layer = (advanceProcess: (ms: number) => void): Layer.Layer<never, never, WriteSql> =>
  Layer.effect(
    TestTime,
    Effect.map(WriteSql, (sql) => ({
      advance: (ms: number) =>
        ask
          .answer(
            "advance",
            Schema.Boolean,
            sql`update postlane_clock.shifted set by = by + make_interval(secs => ${ms / 1000}) returning true as answer`
          )
          .pipe(
            Effect.andThen(Effect.sync(() => advanceProcess(ms))),
            // What is due gets a turn.
            Effect.andThen(Effect.yieldNow)
          )
    }))
  )
