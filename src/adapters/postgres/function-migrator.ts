import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

import { FUNCTIONS_TABLE as TABLE, secure } from "./database-rights.ts"
import { compareFunctions, FunctionRows, type SqlFunction } from "./function-files.ts"
import { describe, MigrationError } from "./migration-files.ts"

/** The functions of this version of Postlane. */
export interface VersionOfFunctions {
  readonly functions: ReadonlyArray<SqlFunction>
  readonly version: string
}

export const makeFunctionsTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql`select to_regclass(${TABLE}) is not null as found`.unprepared
  if (table?.["found"] === true) return
  yield* sql`create table if not exists ${sql(TABLE)} (
    name text primary key,
    checksum text not null,
    signature text not null,
    version text not null,
    applied_at timestamptz not null default now()
  )`.unprepared
  yield* sql`alter table ${sql(TABLE)} enable row level security`.unprepared
  yield* sql`revoke all on table ${sql(TABLE)} from public`.unprepared
})

const selectRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql`select to_regclass(${TABLE}) is not null as found`.unprepared
  if (table?.["found"] !== true) return []
  const rows = yield* sql`select name, checksum, signature, version from ${sql(TABLE)}`.unprepared
  return yield* Schema.decodeUnknownEffect(FunctionRows)(rows)
})

/** How the database's functions differ from this version's. */
export const compareApplied = ({ functions, version }: VersionOfFunctions) =>
  Effect.map(selectRows, (rows) => compareFunctions(functions, rows, version))

const failed = (name: string) => (cause: SqlError) =>
  new MigrationError({ message: `function ${name} failed: ${describe(cause)}`, cause })

/** Drops what has this name. A function that a trigger or a check uses stays, and the migration fails with its name. */
const drop = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{
    readonly signature: string
  }>`select p.oid::regprocedure::text as signature from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname = ${name}`.unprepared
  for (const { signature } of found)
    yield* sql.unsafe(`drop function ${signature}`).unprepared.pipe(Effect.mapError(failed(name)))
})

/**
 * Creates or replaces functions in the caller's transaction. By default PostgreSQL looks up what a body calls when it is created.
 * Without that check they may come in any order, and {@link CHECK_BODIES} checks them afterwards.
 */
const apply = Effect.fnUntraced(function* (changed: ReadonlyArray<SqlFunction>, version: string) {
  const sql = yield* SqlClient.SqlClient
  if (changed.length === 0) return
  const signatures = new Map((yield* selectRows).map(({ name, signature }) => [name, signature]))
  yield* sql`set local check_function_bodies = off`.unprepared
  for (const { name, signature, statement } of changed) {
    if (signatures.has(name) && signatures.get(name) !== signature) yield* drop(name)
    yield* sql.unsafe(statement).unprepared.pipe(Effect.mapError(failed(name)))
  }
  yield* sql`set local check_function_bodies = on`.unprepared
  const rows = JSON.stringify(changed.map(({ checksum, name, signature }) => ({ name, checksum, signature })))
  yield* sql`insert into ${sql(TABLE)} as f (name, checksum, signature, version)
    select x.name, x.checksum, x.signature, ${version}
    from jsonb_to_recordset(${rows}::jsonb) as x (name text, checksum text, signature text)
    on conflict (name) do update set
      checksum = excluded.checksum, signature = excluded.signature, version = excluded.version, applied_at = now()
    `.unprepared
})

/**
 * Has each language check the bodies of its functions, which it does as they are created otherwise: all that they need is there now. Of
 * functions that were applied before too, since a new file may have taken away what one of them uses.
 */
const CHECK_BODIES = `do $$
  declare
    v record;
  begin
    for v in
      select p.oid, p.proname, l.lanname from ${TABLE} f
      join pg_proc p on p.pronamespace = 'public'::regnamespace and p.proname = f.name
      join pg_language l on l.oid = p.prolang
    loop
      begin
        if v.lanname = 'sql' then perform fmgr_sql_validator(v.oid); end if;
        if v.lanname = 'plpgsql' then perform plpgsql_validator(v.oid); end if;
      exception when others then
        raise exception 'function %: %', v.proname, sqlerrm using errcode = sqlstate;
      end;
    end loop;
  end
$$`

/** Applies the functions that a numbered file's checks, triggers and statements name, since they must exist before it. */
export const applyNeeded = Effect.fnUntraced(function* (
  own: VersionOfFunctions,
  statements: ReadonlyArray<string>
) {
  const { changed } = yield* compareApplied(own)
  const text = statements.join("\n")
  const needed = changed.filter(({ name }) => new RegExp(String.raw`\b${name}\s*\(`).test(text))
  yield* apply(needed, own.version)
})

/** Applies what differs, and drops what has no file any more, in the caller's transaction. Returns the names. */
export const applyAll = Effect.fnUntraced(function* (own: VersionOfFunctions) {
  const sql = yield* SqlClient.SqlClient
  const { changed, gone } = yield* compareApplied(own)
  if (own.functions.length === 0) return []
  yield* apply(changed, own.version)
  for (const name of gone) yield* drop(name)
  if (gone.length > 0)
    yield* sql`delete from ${sql(TABLE)}
      where name in (select jsonb_array_elements_text(${JSON.stringify(gone)}::jsonb))`.unprepared
  yield* sql
    .unsafe(CHECK_BODIES)
    .unprepared.pipe(
      Effect.mapError(
        (cause) =>
          new MigrationError({ message: `the functions do not fit this database: ${describe(cause)}`, cause })
      )
    )
  yield* secure(changed.map(({ name }) => name))
  return [...changed.map(({ name }) => name), ...gone]
})
