import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What was applied: numbered files, and functions. */
export const MIGRATIONS_TABLE = "postlane_migrations"
export const FUNCTIONS_TABLE = "postlane_functions"

/**
 * The limits of the role that connects, in this database: they hold for every session, also for those that a pooler in transaction mode
 * shares out. The limit of a statement is longer than any caller waits, so that an abandoned one still ends; the last limit
 * releases the locks of a frozen process. Compiling plans is off: it takes half a second for the statistics, and makes nothing
 * quicker. Values that are already set are kept.
 */
const SET_LIMITS = `do $$
  declare
    v_name text;
    v_value text;
  begin
    for v_name, v_value in
      values ('statement_timeout', '15s'), ('lock_timeout', '5s'), ('idle_in_transaction_session_timeout', '30s'),
        ('jit', 'off')
    loop
      if not exists (
        select from pg_db_role_setting s join pg_database d on d.datname = current_database(), unnest(s.setconfig) as c
        where s.setrole = session_user::regrole and s.setdatabase in (0, d.oid) and starts_with(c, v_name || '=')
      ) then
        execute format('alter role session_user in database %I set %I = %L', current_database(), v_name, v_value);
      end if;
    end loop;
  end
$$`

/** Whether the role that is connected has no limit of a statement: another role than the one that migrated. */
export const isUnlimited = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select current_setting('statement_timeout') = '0' as unlimited`.unprepared
  return row?.["unlimited"] === true
})

/** Reports the role that works with the tables when the migrating role cannot create it, since nothing else reports it. */
const SERVICE_ROLE = `select case
    when not exists (select from pg_roles where rolname = 'service_role') then
      'the role service_role is missing, and the role of DB_URL may not make it: only the owner of the tables works with them. Where others connect, have an administrator run "create role service_role nologin bypassrls", and migrate again'
    when exists (select from pg_roles where rolname = 'service_role' and not rolbypassrls) then
      'the role service_role sees no rows, and the role of DB_URL may not change that: have an administrator run "alter role service_role bypassrls"'
  end as lacks`

/**
 * Closes the tables and functions with these names: new functions, and what a restore, or a role that was missing, left open: a
 * dump takes a privilege back in the same breath as it grants one to a role that may not exist.
 */
export const secure = Effect.fnUntraced(function* (made: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`select to_regproc('secure_function') is not null as found`.unprepared
  if (found?.["found"] !== true) return
  const names = JSON.stringify(made)
  yield* sql`select secure_function(p.oid) from pg_proc p
    where p.pronamespace = 'public'::regnamespace and pg_has_role(p.proowner, 'usage')
      and p.proname in (select jsonb_array_elements_text(${names}::jsonb))
      and (has_function_privilege('public', p.oid, 'execute')
        or not coalesce(has_function_privilege((select r.oid from pg_roles r where r.rolname = 'service_role'), p.oid, 'execute'), true)
        or p.prosecdef and not coalesce(has_function_privilege((select r.oid from pg_roles r where r.rolname = 'postlane_enqueue'), p.oid, 'execute'), true))
    `.unprepared
  yield* sql`select secure_table(c.oid) from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'usage')
      and c.relname in (select jsonb_array_elements_text(${names}::jsonb))
      and (not c.relrowsecurity or has_table_privilege('public', c.oid, 'select')
        or not coalesce(has_table_privilege((select r.oid from pg_roles r where r.rolname = 'service_role'), c.oid, 'select'), true))
    `.unprepared
})

/**
 * Grants and limits, for the tables and functions with these names: a serving process reads what is pending, as the service role
 * where it does not own the tables.
 */
export const settle = Effect.fnUntraced(function* (made: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  yield* secure(made)
  yield* sql.unsafe(`do $$
    begin
      if exists (select from pg_roles where rolname = 'service_role') then
        grant select on table ${MIGRATIONS_TABLE}, ${FUNCTIONS_TABLE} to service_role;
      end if;
    end
  $$`).unprepared
  yield* sql.unsafe(SET_LIMITS).unprepared
  const [row] = yield* sql.unsafe<{ readonly lacks: string | null }>(SERVICE_ROLE).unprepared
  if (typeof row?.lacks === "string") yield* Effect.logWarning(row.lacks)
})
