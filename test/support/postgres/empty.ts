import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"

/**
 * A statement that empties these tables (`a, b`) and all that refer to them, as `truncate … cascade` does. For few rows it takes a
 * thirtieth of the processor time: no table gets new files.
 */
export const emptying = (tables: string): string => `do $$
  declare name regclass;
  begin
    perform set_config('session_replication_role', 'replica', true);
    for name in
      with recursive named (id) as (
        select unnest('{${tables}}'::regclass[])
        union
        select conrelid::regclass from pg_constraint join named on confrelid = id where contype = 'f'
      )
      select id from named
    loop
      execute format('delete from %s', name);
    end loop;
  end
$$`

/** Empties these tables and all that refer to them. */
export const empty = (tables: string) =>
  WriteSql.use((sql) => sql.unsafe(emptying(tables)).unprepared).pipe(Effect.asVoid)
