import { Effect, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

import { greatest } from "../../domain/lists.ts"
import { MIGRATIONS_TABLE as TABLE, settle } from "./database-rights.ts"
import { readFunctions } from "./function-files.ts"
import {
  applyAll,
  applyNeeded,
  compareApplied,
  makeFunctionsTable,
  type VersionOfFunctions
} from "./function-migrator.ts"
import {
  CONCURRENT,
  describe,
  label,
  type Migration,
  MigrationError,
  type MigrationFiles,
  readMigrations
} from "./migration-files.ts"
import { requireServer, requireSessions } from "./requirements.ts"

const AppliedRows = Schema.Array(
  Schema.Struct({ id: Schema.Int, name: Schema.String, checksum: Schema.String })
)
type AppliedRow = (typeof AppliedRows.Type)[number]

/** A major version's files have numbers of one thousand: within it, processes of all versions work on one database. */
const majorOf = ({ id }: { readonly id: number }) => Math.floor(id / 1000)

const REINSTALL =
  "install this version of Postlane again: a file in its folder of migrations differs from the released one"

/** The first row that these files cannot have made. */
const misfit = (files: ReadonlyArray<Migration>, row: AppliedRow): MigrationError | undefined => {
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
  /** Functions that are not as in the files, by name. */
  readonly functions: ReadonlyArray<string>
  /**
   * Applied by a newer version. This one continues to work, since within a major version no file or function removes what another
   * version uses.
   */
  readonly newer: ReadonlyArray<string>
}

/**
 * Compares the numbered files; fails where the database has another history, an applied file is missing or changed, a new one has too low a
 * number, or a newer major version migrated it.
 */
const compare = Effect.fnUntraced(function* (
  files: ReadonlyArray<Migration>,
  applied: ReadonlyArray<AppliedRow>
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
  return { missing, newer: applied.filter(({ id }) => id > newestFile.id).map(label) }
})

const selectApplied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql<{ readonly owner: string; readonly role: string; readonly mine: boolean }>`
    select quote_ident(pg_get_userbyid(relowner)) as owner, quote_ident(current_user) as role, has_table_privilege(oid, 'select') as mine
    from pg_class where oid = to_regclass(${TABLE})`.unprepared
  if (table === undefined) return []
  if (!table.mine) {
    const { owner, role } = table
    return yield* new MigrationError({
      message: `the tables belong to ${owner}, and ${role} may not read them`,
      remedy: `connect as ${owner}; if a dump was restored, restore it again with pg_restore --no-owner --role=${role}`
    })
  }
  const rows = yield* sql`select id, name, checksum from ${sql(TABLE)} order by id`.unprepared
  return yield* Schema.decodeUnknownEffect(AppliedRows)(rows)
})

const refail = (cause: MigrationError | SqlError | Schema.SchemaError) =>
  cause._tag === "MigrationError"
    ? cause
    : new MigrationError({
        message: `the database's migrations cannot be read or applied: ${isSqlError(cause) ? describe(cause) : cause.message}`,
        cause
      })

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

/**
 * What is there is left alone, for roles that may make nothing. `if not exists` as well: a connection that once found no table, and waits
 * for its turn while another process makes it, still finds none.
 */
const makeTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql`select to_regclass(${TABLE}) is not null as found`.unprepared
  if (table?.["found"] === true) return
  yield* sql`create table if not exists ${sql(TABLE)} (
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

/** False where another process was first. */
const note = (migration: Migration) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.map(
      sql`insert into ${sql(TABLE)} (id, name, checksum)
      values (${migration.id}, ${migration.name}, ${migration.checksum}) on conflict (id) do nothing returning id`
        .unprepared,
      (rows) => rows.length > 0
    )
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

interface Files extends VersionOfFunctions {
  readonly migrations: ReadonlyArray<Migration>
}

const read = ({ directory, version }: MigrationFiles) =>
  Effect.map(
    Effect.all([readMigrations(directory), readFunctions(directory)]),
    ([migrations, functions]): Files => ({ migrations, functions, version })
  )

/** Applies the next file that is missing, and returns it. */
const applyNext = Effect.fnUntraced(function* (files: Files) {
  const sql = yield* SqlClient.SqlClient
  const [next] = (yield* compare(files.migrations, yield* selectApplied)).missing
  if (next === undefined) return undefined
  if (next.isConcurrent) {
    yield* untilFree(`migration ${label(next)}`, Effect.mapError(applyConcurrently(next), failed(next)))
    return (yield* note(next)) ? next : undefined
  }
  return yield* inTurn(
    `migration ${label(next)}`,
    Effect.gen(function* () {
      // Another process may have applied it before it was our turn.
      const { missing } = yield* compare(files.migrations, yield* selectApplied)
      if (!missing.some(({ id }) => id === next.id)) return undefined
      yield* applyNeeded(files, next.statements)
      for (const statement of next.statements)
        yield* sql.unsafe(statement).unprepared.pipe(Effect.mapError(failed(next)))
      yield* note(next)
      return next
    })
  )
})

/** What a migration did. */
interface Applied {
  readonly files: ReadonlyArray<Migration>
  /** The names of the functions that were made, replaced or dropped after the files. */
  readonly functions: ReadonlyArray<string>
}

/**
 * Applies every pending migration, each file in one transaction, all or nothing, except a file that builds indexes concurrently,
 * which can be run again. Then applies the functions with a changed text, all in one separate transaction: it locks no table, and
 * until it ends the functions of the earlier version work on the new tables, as they do for that version's processes.
 */
export const migrate = Effect.fn("postgres.migrate")(function* (from: MigrationFiles) {
  const files = yield* read(from)
  return yield* Effect.gen(function* () {
    yield* requireServer
    yield* inTurn("the tables of migrations", Effect.andThen(makeTable, makeFunctionsTable))
    const applied: Array<Migration> = []
    for (let more = true; more;) {
      const next = yield* applyNext(files)
      if (next !== undefined) applied.push(next)
      more = next !== undefined || (yield* compare(files.migrations, yield* selectApplied)).missing.length > 0
    }
    const { changed, gone } = yield* compareApplied(files)
    const functions =
      changed.length + gone.length + applied.length === 0
        ? []
        : yield* inTurn("the functions", applyAll(files))
    const made = [
      ...files.migrations.flatMap(({ makes }) => makes),
      ...files.functions.map(({ name }) => name)
    ]
    yield* inTurn("the closing of tables", settle(made))
    const done: Applied = { files: applied, functions }
    return done
  }).pipe(Effect.mapError(refail))
})

/** The database compared with the files, for a process that must not migrate it. */
export const pending = Effect.fn("postgres.pending")(function* (from: MigrationFiles) {
  const files = yield* read(from)
  return yield* Effect.gen(function* () {
    yield* requireServer
    yield* requireSessions
    const { missing, newer } = yield* compare(files.migrations, yield* selectApplied)
    const functions = yield* compareApplied(files)
    const found: Comparison = {
      missing,
      functions: [...functions.changed.map(({ name }) => name), ...functions.gone],
      newer: functions.newer === undefined ? newer : [...newer, `the functions of ${functions.newer}`]
    }
    return found
  }).pipe(Effect.mapError(refail))
})
