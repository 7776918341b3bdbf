import { createHash } from "node:crypto"

import { Data, Effect, FileSystem, Path, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

import { greatest } from "../../domain/lists.ts"

/** Comments, quoted texts and names, dollar-quoted bodies, the separator, and everything else. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[^;'"$\-/]+|[\s\S]/g

/**
 * The statements of an SQL file, without comments between them: the extended protocol takes one statement per call. Does
 * not support `E''` text with an escaped quote, nested comments and `begin atomic` bodies.
 */
export const splitStatements = (text: string): ReadonlyArray<string> => {
  const statements = [""]
  for (const [part] of text.matchAll(TOKEN)) {
    if (part === ";") statements.push("")
    else if (!part.startsWith("--") && !part.startsWith("/*")) statements[statements.length - 1] += part
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "")
}

/** Why the database was not migrated; `message` is for the operator. */
export class MigrationError extends Data.TaggedError("MigrationError")<{
  readonly message: string
  readonly cause?: unknown
}> {}

/** One numbered file. */
interface Migration {
  readonly id: number
  readonly name: string
  /** SHA-256 hex of the text with line ends as LF, so that a checkout with CRLF has the same checksum. */
  readonly checksum: string
  readonly statements: ReadonlyArray<string>
}

const TABLE = "postlane_migrations"

const AppliedRows = Schema.Array(
  Schema.Struct({ id: Schema.Int, name: Schema.String, checksum: Schema.String })
)
type Applied = (typeof AppliedRows.Type)[number]

const FILE = /^(\d+)_([^.]+)\.sql$/

/** Reads the numbered `.sql` files of a directory, lowest id first. */
const readMigrations = Effect.fn("postgres.readMigrations")(
  function* (directory: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const files = yield* fs.readDirectory(directory)
    const found = yield* Effect.forEach(
      files,
      Effect.fnUntraced(function* (file) {
        const match = FILE.exec(file)
        if (match === null) return []
        const text = (yield* fs.readFileString(path.join(directory, file))).replaceAll("\r\n", "\n")
        const migration: Migration = {
          id: Number(match[1]),
          name: match[2]!,
          checksum: createHash("sha256").update(text).digest("hex"),
          statements: splitStatements(text)
        }
        return [migration]
      })
    )
    const sorted = found.flat().sort((a, b) => a.id - b.id)
    for (const [index, { id }] of sorted.entries()) {
      if (sorted[index + 1]?.id === id) {
        return yield* new MigrationError({ message: `two migrations have the number ${id} in ${directory}` })
      }
    }
    if (sorted.length === 0) {
      return yield* new MigrationError({ message: `there is no numbered .sql file in ${directory}` })
    }
    return sorted
  },
  Effect.mapError((cause) =>
    cause._tag === "MigrationError"
      ? cause
      : new MigrationError({ message: `the migrations cannot be read: ${cause.message}`, cause })
  )
)

/** Number and name, as in its file name. */
export const label = (migration: { readonly id: number; readonly name: string }) =>
  `${String(migration.id).padStart(4, "0")}_${migration.name}`

/**
 * The migrations still to apply; fails where the database has another history, an applied file is missing or changed, or a
 * new one has too low a number.
 */
const remaining = Effect.fnUntraced(function* (
  files: ReadonlyArray<Migration>,
  applied: ReadonlyArray<Applied>
) {
  for (const row of applied) {
    const file = files.find(({ id }) => id === row.id)
    if (file !== undefined && file.name !== row.name) {
      return yield* new MigrationError({
        message: `migration ${label(row)} was applied to this database, and this version has ${label(file)} in its place: a version from before the first release made the database, and there is no upgrade from there. Migrate an empty database, and copy over what you want to keep`
      })
    }
    if (file === undefined) {
      return yield* new MigrationError({
        message: `migration ${label(row)} was applied to this database and its file is missing`
      })
    }
    if (file.checksum !== row.checksum) {
      return yield* new MigrationError({
        message: `migration ${label(file)} was changed after it was applied: put it back, and make the change in a new migration`
      })
    }
  }
  const newest = greatest([0, ...applied.map(({ id }) => id)])
  const todo = files.filter(({ id }) => !applied.some((row) => row.id === id))
  const late = todo.find(({ id }) => id < newest)
  if (late !== undefined) {
    return yield* new MigrationError({
      message: `migration ${label(late)} comes before ${newest}, which was applied already: give it a higher number`
    })
  }
  return todo
})

const selectApplied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select id, name, checksum from ${sql(TABLE)} order by id`.unprepared
  return yield* Schema.decodeUnknownEffect(AppliedRows)(rows)
})

/**
 * The limits of the role that connects, in this database: they hold for every session, also for those that a pooler in transaction mode
 * shares out. A statement's is longer than any caller waits, so that one that nobody waits for still ends; the last one lets go of what a
 * frozen process has locked. Compiling a plan takes half a second of the statistics, and makes nothing quicker. What is set already stays.
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

/** What is set for the role, a migration is not held to. */
const LIFT_LIMITS = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"].map(
  (name) => `set local ${name} = 0`
)

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
 * Applies every pending migration in one transaction, all or none, and returns those applied. A lock that ends with the
 * transaction serialises processes that race, so that it works behind a pooler too. No statement of a migration may be
 * one that cannot run in a transaction (`create index concurrently`).
 */
export const migrate = Effect.fn("postgres.migrate")(function* (directory: string) {
  const sql = yield* SqlClient.SqlClient
  const files = yield* readMigrations(directory)
  const run = Effect.gen(function* () {
    for (const statement of LIFT_LIMITS) yield* sql.unsafe(statement).unprepared
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${`${TABLE} lock`}, 0))`.unprepared
    yield* sql`create table if not exists ${sql(TABLE)} (
      id integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`.unprepared
    yield* sql`alter table ${sql(TABLE)} enable row level security`.unprepared
    yield* sql`revoke all on table ${sql(TABLE)} from public`.unprepared
    const todo = yield* remaining(files, yield* selectApplied)
    for (const migration of todo) {
      for (const statement of migration.statements) {
        yield* sql.unsafe(statement).unprepared.pipe(
          Effect.mapError(
            (cause) =>
              new MigrationError({
                message: `migration ${label(migration)} failed: ${describe(cause)}`,
                cause
              })
          )
        )
      }
      yield* sql`insert into ${sql(TABLE)} (id, name, checksum)
        values (${migration.id}, ${migration.name}, ${migration.checksum})`.unprepared
    }
    // A serving process reads what is pending, as the service role where it does not own the tables.
    yield* sql.unsafe(`do $$
      begin
        if exists (select from pg_roles where rolname = 'service_role') then
          grant select on table ${TABLE} to service_role;
        end if;
      end
    $$`).unprepared
    yield* sql.unsafe(SET_LIMITS).unprepared
    return todo
  })
  return yield* sql.withTransaction(run).pipe(Effect.mapError(refail))
})

/** The migrations that the database still lacks, for a process that must not apply them itself. */
export const pending = Effect.fn("postgres.pending")(function* (directory: string) {
  const sql = yield* SqlClient.SqlClient
  const files = yield* readMigrations(directory)
  const found = yield* sql`select to_regclass(${TABLE}) is not null as found`.unprepared.pipe(
    Effect.mapError(refail)
  )
  if (found[0]?.["found"] !== true) return files
  return yield* remaining(files, yield* selectApplied.pipe(Effect.mapError(refail)))
})

/** What the server said, which the driver keeps in the cause. */
const describe = (error: SqlError): string => {
  const { cause, message } = error.reason
  const said = cause instanceof Error ? cause.message : undefined
  return said === undefined || said === message ? error.message : `${error.message}: ${said}`
}
