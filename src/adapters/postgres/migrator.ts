import { Effect, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

import { whyTooOld } from "../../domain/doctor/database.ts"
import { greatest } from "../../reader/model/lists.ts"
import { CONCURRENT, label, type Migration, MigrationError, readMigrations } from "./migration-files.ts"

const TABLE = "postlane_migrations"

const AppliedRows = Schema.Array(
  Schema.Struct({ id: Schema.Int, name: Schema.String, checksum: Schema.String })
)
type Applied = (typeof AppliedRows.Type)[number]

/** A major version's files have numbers of one thousand: within it, processes of all versions work on one database. */
const majorOf = ({ id }: { readonly id: number }) => Math.floor(id / 1000)

const REINSTALL =
  "install this version of Postlane again: a file in its folder of migrations differs from the released one"

/** The first row that these files cannot have made. */
const misfit = (files: ReadonlyArray<Migration>, row: Applied): MigrationError | undefined => {
  const file = files.find(({ id }) => id === row.id)
  if (file === undefined)
    return new MigrationError({
      message: `migration ${label(row)} was applied to this database and its file is missing`,
      remedy: REINSTALL
    })
  if (file.name !== row.name)
    return new MigrationError({
      message: `migration ${label(row)} was applied to this database, and this version has ${label(file)} in its place: a version from before the first release made the database, and there is no upgrade from there. Migrate an empty database, and copy over what you want to keep`
    })
  if (file.checksum !== row.checksum)
    return new MigrationError({
      message: `migration ${label(file)} was applied to this database from a file with other contents`,
      remedy: REINSTALL
    })
  return undefined
}

/** A database compared with these files. */
interface Comparison {
  /** Not applied yet. */
  readonly missing: ReadonlyArray<Migration>
  /** Applied by a newer version. This one continues to work, since within a major version no file removes what another version uses. */
  readonly newer: ReadonlyArray<string>
}

/**
 * Compares; fails where the database has another history, an applied file is missing or changed, a new one has too low a
 * number, or a newer major version migrated it.
 */
const compare = Effect.fnUntraced(function* (
  files: ReadonlyArray<Migration>,
  applied: ReadonlyArray<Applied>
) {
  const newestFile = files.at(-1)!
  for (const row of applied) {
    if (row.id <= newestFile.id) {
      const why = misfit(files, row)
      if (why !== undefined) return yield* why
    } else if (majorOf(row) > majorOf(newestFile)) {
      return yield* new MigrationError({
        message: `migration ${label(row)} of a newer major version of Postlane was applied to this database`,
        remedy: "use that version"
      })
    }
  }
  const newest = greatest([0, ...applied.map(({ id }) => id)])
  const missing = files.filter(({ id }) => !applied.some((row) => row.id === id))
  const late = missing.find(({ id }) => id < newest)
  if (late !== undefined) {
    return yield* new MigrationError({
      message: `migration ${label(late)} comes before ${newest}, which was applied already: give it a higher number`
    })
  }
  return {
    missing,
    newer: applied.filter(({ id }) => id > newestFile.id).map(label)
  } satisfies Comparison
})

const selectApplied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql`select to_regclass(${TABLE}) is not null as found`.unprepared
  if (table?.["found"] !== true) return []
  const rows = yield* sql`select id, name, checksum from ${sql(TABLE)} order by id`.unprepared
  return yield* Schema.decodeUnknownEffect(AppliedRows)(rows)
})

/** Before anything else: what an older server says about the files is a syntax error. */
const requireNewEnough = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select current_setting('server_version_num')::int as version`.unprepared
  const why = whyTooOld(Number(row?.["version"]))
  if (why !== undefined) return yield* new MigrationError({ message: why })
})

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

const refail = (cause: MigrationError | SqlError | Schema.SchemaError) =>
  cause._tag === "MigrationError"
    ? cause
    : new MigrationError({ message: `the database was not migrated: ${cause.message}`, cause })

/**
 * How long a lock on a table is waited for: what comes after waits behind us for as long, and a send waits no longer than
 * `EMAIL_DB_TIMEOUT_MS` for its look-up before it goes out without one.
 */
const LOCK_WAIT = "2s"

/** Pause between two tries, in which statements queued behind the first one run. */
const NEXT_TRY = Schedule.spaced("1 second")

const isHeldUp = (error: MigrationError | SqlError | Schema.SchemaError): boolean => {
  const cause = error._tag === "MigrationError" ? error.cause : error
  return (
    isSqlError(cause) && (cause.reason._tag === "LockTimeoutError" || cause.reason._tag === "DeadlockError")
  )
}

const untilFree = <A, R>(
  what: string,
  run: Effect.Effect<A, MigrationError | SqlError | Schema.SchemaError, R>
) =>
  run.pipe(
    Effect.tapError((error) =>
      isHeldUp(error)
        ? Effect.logWarning(
            `${what} waits for a table that another session uses (a long read, a dump): tried again until it is free`
          )
        : Effect.void
    ),
    Effect.retry({ while: isHeldUp, schedule: NEXT_TRY })
  )

/**
 * Runs it in a separate transaction, one process at a time, without the role's limit of a statement, and again when a lock was not
 * given in time. The first lock ends with the transaction, so that it works behind a pooler, too. Waiting for it is harmless,
 * since it blocks no other work.
 */
const inTurn = <A, R>(
  what: string,
  run: Effect.Effect<A, MigrationError | SqlError | Schema.SchemaError, R>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const once = sql.withTransaction(
      Effect.gen(function* () {
        for (const name of ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"])
          yield* sql.unsafe(`set local ${name} = 0`).unprepared
        yield* sql`select pg_advisory_xact_lock(hashtextextended(${`${TABLE} lock`}, 0))`.unprepared
        yield* sql.unsafe(`set local lock_timeout = '${LOCK_WAIT}'`).unprepared
        return yield* run
      })
    )
    return yield* untilFree(what, once)
  })

const makeTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql`select to_regclass(${TABLE}) is not null as found`.unprepared
  if (table?.["found"] === true) return
  yield* sql`create table ${sql(TABLE)} (
    id integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
  )`.unprepared
  yield* sql`alter table ${sql(TABLE)} enable row level security`.unprepared
  yield* sql`revoke all on table ${sql(TABLE)} from public`.unprepared
})

const failed = (migration: Migration) => (cause: SqlError) =>
  new MigrationError({ message: `migration ${label(migration)} failed: ${describe(cause)}`, cause })

const note = (migration: Migration) =>
  SqlClient.SqlClient.use(
    (sql) =>
      sql`insert into ${sql(TABLE)} (id, name, checksum)
      values (${migration.id}, ${migration.name}, ${migration.checksum}) on conflict (id) do nothing`
        .unprepared
  )

/** Finds an invalid index left by a broken-off statement, which no process is building: it blocks the next attempt. */
const LEFTOVER = `select from pg_index i join pg_class c on c.oid = i.indexrelid
  where not i.indisvalid and c.relname = $1 and pg_table_is_visible(c.oid)
    and not exists (select from pg_stat_progress_create_index p where p.index_relid = i.indexrelid)`

/**
 * Builds and drops indexes concurrently with readers and writers, each statement by itself on one connection. The table's lock
 * orders processes that race: the second one finds the work done, or tries again after a deadlock. A lock of ours would need a
 * transaction, and the first process would wait for that.
 */
const applyConcurrently = Effect.fnUntraced(function* (migration: Migration) {
  const sql = yield* SqlClient.SqlClient
  const connection = yield* sql.reserve
  const run = (statement: string, values: ReadonlyArray<unknown> = []) =>
    connection.executeUnprepared(statement, values, undefined)
  const limits = ["statement_timeout", "lock_timeout"]
  yield* Effect.acquireRelease(
    Effect.forEach(limits, (name) => run(`set ${name} = 0`)),
    () => Effect.ignore(Effect.forEach(limits, (name) => run(`reset ${name}`)))
  )
  for (const statement of migration.statements) {
    const name = CONCURRENT.exec(statement)![1]!
    if ((yield* run(LEFTOVER, [name])).length > 0) yield* run(`drop index concurrently if exists ${name}`)
    yield* run(statement)
  }
}, Effect.scoped)

/** Applies the next file that is missing, and returns it. */
const applyNext = Effect.fnUntraced(function* (files: ReadonlyArray<Migration>) {
  const sql = yield* SqlClient.SqlClient
  const [next] = (yield* compare(files, yield* selectApplied)).missing
  if (next === undefined) return undefined
  if (next.isConcurrent) {
    yield* untilFree(`migration ${label(next)}`, Effect.mapError(applyConcurrently(next), failed(next)))
    yield* note(next)
    return next
  }
  return yield* inTurn(
    `migration ${label(next)}`,
    Effect.gen(function* () {
      // Another process may have applied it before it was our turn.
      const { missing } = yield* compare(files, yield* selectApplied)
      if (!missing.some(({ id }) => id === next.id)) return undefined
      for (const statement of next.statements)
        yield* sql.unsafe(statement).unprepared.pipe(Effect.mapError(failed(next)))
      yield* note(next)
      return next
    })
  )
})

/** Reports the role that works with the tables when the migrating role cannot create it, since nothing else reports it. */
const SERVICE_ROLE = `select case
    when not exists (select from pg_roles where rolname = 'service_role') then
      'the role service_role is missing, and the role of DB_URL may not make it: only the owner of the tables works with them. Where others connect, have an administrator run "create role service_role nologin bypassrls", and migrate again'
    when exists (select from pg_roles where rolname = 'service_role' and not rolbypassrls) then
      'the role service_role sees no rows, and the role of DB_URL may not change that: have an administrator run "alter role service_role bypassrls"'
  end as lacks`

/**
 * Closes what the files made and a restore, or a role that was missing, left open: a dump takes a privilege back in the same breath as it
 * grants one to a role that may not exist.
 */
const secure = Effect.fnUntraced(function* (files: ReadonlyArray<Migration>) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`select to_regproc('secure_function') is not null as found`.unprepared
  if (found?.["found"] !== true) return
  const names = JSON.stringify(files.flatMap(({ makes }) => makes))
  yield* sql`select secure_function(p.oid) from pg_proc p
    where p.pronamespace = 'public'::regnamespace and pg_has_role(p.proowner, 'usage')
      and p.proname in (select jsonb_array_elements_text(${names}::jsonb))
      and (has_function_privilege('public', p.oid, 'execute')
        or not coalesce(has_function_privilege((select r.oid from pg_roles r where r.rolname = 'service_role'), p.oid, 'execute'), true))
    `.unprepared
  yield* sql`select secure_table(c.oid) from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'usage')
      and c.relname in (select jsonb_array_elements_text(${names}::jsonb))
      and (not c.relrowsecurity or has_table_privilege('public', c.oid, 'select')
        or not coalesce(has_table_privilege((select r.oid from pg_roles r where r.rolname = 'service_role'), c.oid, 'select'), true))
    `.unprepared
})

/** Grants and limits: a serving process reads what is pending, as the service role where it does not own the tables. */
const settle = Effect.fnUntraced(function* (files: ReadonlyArray<Migration>) {
  const sql = yield* SqlClient.SqlClient
  yield* secure(files)
  yield* sql.unsafe(`do $$
    begin
      if exists (select from pg_roles where rolname = 'service_role') then
        grant select on table ${TABLE} to service_role;
      end if;
    end
  $$`).unprepared
  yield* sql.unsafe(SET_LIMITS).unprepared
  const [row] = yield* sql.unsafe<{ readonly lacks: string | null }>(SERVICE_ROLE).unprepared
  if (typeof row?.lacks === "string") yield* Effect.logWarning(row.lacks)
})

/**
 * Applies every pending migration and returns those applied. Each file is one transaction, all or nothing, except a file that
 * builds indexes concurrently, which can be run again.
 */
export const migrate = Effect.fn("postgres.migrate")(function* (directory: string) {
  const files = yield* readMigrations(directory)
  return yield* Effect.gen(function* () {
    yield* requireNewEnough
    yield* inTurn("the table of migrations", makeTable)
    const applied: Array<Migration> = []
    for (let more = true; more;) {
      const next = yield* applyNext(files)
      if (next !== undefined) applied.push(next)
      more = next !== undefined || (yield* compare(files, yield* selectApplied)).missing.length > 0
    }
    yield* inTurn("the closing of tables", settle(files))
    return applied
  }).pipe(Effect.mapError(refail))
})

/** The database compared with the files, for a process that must not migrate it. */
export const pending = Effect.fn("postgres.pending")(function* (directory: string) {
  const files = yield* readMigrations(directory)
  return yield* Effect.andThen(
    requireNewEnough,
    Effect.flatMap(selectApplied, (applied) => compare(files, applied))
  ).pipe(Effect.mapError(refail))
})

/** What the server said, which the driver keeps in the cause. */
const describe = (error: SqlError): string => {
  const { cause, message } = error.reason
  const said = cause instanceof Error ? cause.message : undefined
  return said === undefined || said === message ? error.message : `${error.message}: ${said}`
}
