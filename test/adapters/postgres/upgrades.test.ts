import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"

import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Redacted, Schedule } from "effect"

import { layerSingle, layerSqlClient, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layer as layerMailStore } from "../../../src/adapters/postgres/mail/mail-store.ts"
import { migrate, pending } from "../../../src/adapters/postgres/migrator.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { MIGRATIONS } from "../../../src/runtime/process/package.ts"
import { asking, mail } from "../../contracts/mail/mail-store/mails.ts"
import { startTestServer } from "../../support/postgres/postgres-server.ts"
import {
  layerClients,
  layerDatabase,
  layerEmptyDatabase,
  layerForeignDatabase,
  TestDatabase
} from "../../support/postgres/postgres.ts"
import { TEMPORARY } from "../../support/temporary.ts"

const on = (database: Layer.Layer<TestDatabase>) =>
  layerSqlClient.pipe(
    Layer.provideMerge(layerMailStore),
    Layer.provideMerge(layerClients()),
    Layer.provideMerge(database),
    Layer.provideMerge(NodeServices.layer)
  )

/** Migrated, with the clients and the store of a process that works on it. */
const layerStanding = on(layerDatabase)

/** The migrations as a newer version has them: with these beside them, or in place of theirs. */
const filesOf = (files: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp(join(TEMPORARY, "postlane-migrations-"))
      await cp(MIGRATIONS.directory, folder, { recursive: true })
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
      return { directory: folder, version: MIGRATIONS.version }
    }),
    ({ directory }) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )

/** In a session of its own. */
const elsewhere = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(
      use,
      Layer.fresh(Layer.provideMerge(layerSqlClient, layerSingle({ url: Redacted.make(url) })))
    )
  )

/** What is logged meanwhile, too. */
const withLog = <A, E, R>(run: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    return Effect.provide(run(lines), Logger.layer([logger]))
  })

/** Until a session waits for the whole of the table. */
const isQueuedFor = (table: string) =>
  WriteSql.use(
    (sql) =>
      sql`select 1 as one from pg_locks where relation = ${table}::regclass and not granted and mode = 'AccessExclusiveLock'`
  ).pipe(Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("20 millis") }))

const columnsNamedNext = WriteSql.use(
  (sql) => sql`select table_name from information_schema.columns where column_name = 'next'`
)

describe("an upgrade", () => {
  it.live(
    "holds nobody up behind a long read: sends have their look-ups while it goes on, and the upgrade is done after it",
    () =>
      withLog((lines) =>
        Effect.gen(function* () {
          const folder = yield* filesOf({ "0099_next.sql": "alter table email_log add column next text" })
          const sql = yield* WriteSql
          const store = yield* MailStore
          yield* sql`insert into email_suppressions (email, reason) values ('ann@x.test', 'manual')`
          const upgrade = yield* sql.withTransaction(
            Effect.gen(function* () {
              // A report, or a dump.
              yield* sql`select 1 from email_log limit 1`
              const begun = yield* Effect.forkScoped(elsewhere(migrate(folder)))
              yield* elsewhere(isQueuedFor("email_log"))
              const { suppressions } = yield* store
                .begin(asking(mail({ to: ["ann@x.test"] })))
                .pipe(Effect.retry({ schedule: Schedule.spaced("20 millis") }))
              assert.deepStrictEqual(
                suppressions.map(({ reason }) => reason),
                ["manual"]
              )
              yield* elsewhere(isQueuedFor("email_log"))
              assert.deepStrictEqual(yield* columnsNamedNext, [])
              return begun
            })
          )
          assert.deepStrictEqual(
            (yield* Fiber.join(upgrade)).files.map(({ name }) => name),
            ["next"]
          )
          assert.deepStrictEqual(yield* columnsNamedNext, [{ table_name: "email_log" }])
          assert.match(lines.join("\n"), /0099_next waits for a table that another session uses/)
        })
      ).pipe(Effect.scoped, Effect.provide(layerStanding))
  )

  it.live("builds an index beside writers, by itself, also after one that was broken off, and raced", () =>
    Effect.gen(function* () {
      const folder = yield* filesOf({
        "0099_index.sql":
          "-- beside writers\ncreate index concurrently if not exists next on email_log (subject);"
      })
      const sql = yield* WriteSql
      yield* sql`insert into email_log (status, subject) values ('sent', 'one'), ('sent', 'one')`
      // What a session leaves that ended amid the work.
      yield* Effect.flip(sql`create unique index concurrently next on email_log (subject)`)
      const valid = sql`select indisvalid as valid, indisunique as only from pg_index where indexrelid = 'next'::regclass`
      assert.deepStrictEqual(yield* valid, [{ valid: false, only: true }])
      yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`insert into email_log (status, subject) values ('sent', 'two')`
            const racing = yield* Effect.forkScoped(
              Effect.all([elsewhere(migrate(folder)), elsewhere(migrate(folder))], { concurrency: 2 })
            )
            yield* Effect.repeat(
              elsewhere(
                WriteSql.use(
                  (own) => own`select 1 as one from pg_stat_activity
              where query ~ '^(create|drop) index concurrently' and wait_event_type = 'Lock' and datname = current_database()`
                )
              ),
              {
                until: (rows) => rows.length > 0,
                schedule: Schedule.spaced("20 millis")
              }
            )
            // Writers go on.
            yield* elsewhere(
              WriteSql.use((own) => own`insert into email_log (status, subject) values ('sent', 'three')`)
            )
            return racing
          })
        )
        .pipe(Effect.flatMap(Fiber.join))
      assert.deepStrictEqual(yield* valid, [{ valid: true, only: false }])
      assert.deepStrictEqual((yield* pending(folder)).missing, [])
      const mixed = yield* filesOf({
        "0099_mixed.sql": "create index concurrently next on email_log (subject); select 1"
      })
      assert.include((yield* Effect.flip(migrate(mixed))).message, "0099_mixed builds an index concurrently")
    }).pipe(Effect.scoped, Effect.provide(layerStanding))
  )

  it.live(
    "leaves the version before at work: its files are behind, a comment may differ; another major version may not",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const newer = yield* filesOf({ "0099_next.sql": "create table next (id integer)" })
        assert.lengthOf((yield* migrate(newer)).files, 1)
        for (const again of [1, 2]) {
          assert.deepStrictEqual(
            yield* pending(MIGRATIONS),
            { missing: [], functions: [], newer: ["0099_next"] },
            `${again}`
          )
          assert.deepStrictEqual(yield* migrate(MIGRATIONS), { files: [], functions: [] })
          assert.deepStrictEqual(yield* pending(newer), { missing: [], functions: [], newer: [] })
        }
        const worded = yield* filesOf({
          "0099_next.sql": "/* mended */\ncreate table next\n  (id -- the number\n integer)\n;"
        })
        assert.deepStrictEqual((yield* pending(worded)).missing, [])
        const other = yield* filesOf({ "0099_next.sql": "create table next (id bigint)" })
        const refused = yield* Effect.flip(pending(other))
        assert.include(
          refused.message,
          "0099_next was applied to this database from a file with other contents"
        )
        assert.include(refused.remedy, "install this version of Postlane again")
        yield* sql`insert into postlane_migrations (id, name, checksum) values (1001, 'second_major', '')`
        const major = yield* Effect.flip(pending(MIGRATIONS))
        assert.include(major.message, "1001_second_major of a newer major version")
        assert.strictEqual(major.remedy, "use that version")
      }).pipe(Effect.scoped, Effect.provide(layerStanding))
  )

  it.live("tells a comment in the body of a function from what the function does", () =>
    Effect.gen(function* () {
      const body = (text: string) =>
        `create function next() returns text language plpgsql as $$ begin ${text} end $$;`
      yield* migrate(yield* filesOf({ "0099_next.sql": body("return 'a -- b';") }))
      const same = yield* filesOf({
        "0099_next.sql": body("-- Don't; it's said.\n return /* so */ 'a -- b';")
      })
      assert.deepStrictEqual((yield* pending(same)).missing, [])
      const other = yield* filesOf({ "0099_next.sql": body("return 'a -- c';") })
      assert.include((yield* Effect.flip(pending(other))).message, "from a file with other contents")
    }).pipe(Effect.scoped, Effect.provide(layerStanding))
  )
})

describe("a server or a role that cannot bear the migrations", () => {
  it.live("is named: an old PostgreSQL before its syntax errors", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`create schema old`
      yield* sql.unsafe(`create function old.current_setting(text) returns text language sql as
        $$ select case $1 when 'server_version_num' then '140012' else pg_catalog.current_setting($1) end $$`)
      const [row] = yield* sql<{ readonly name: string }>`select current_database() as name`
      yield* sql.unsafe(`alter database ${row!.name} set search_path = old, pg_catalog, public`)
      for (const refused of [Effect.asVoid(migrate(MIGRATIONS)), Effect.asVoid(pending(MIGRATIONS))]) {
        assert.strictEqual(
          (yield* Effect.flip(elsewhere(refused))).message,
          "PostgreSQL 14.12 is too old: the migrations need 15 or later"
        )
      }
    }).pipe(Effect.provide(on(layerEmptyDatabase)))
  )

  for (const encoding of ["LATIN1", "SQL_ASCII"])
    it.live(`is named: a database in ${encoding}, whose rows cannot hold every subject`, () =>
      Effect.gen(function* () {
        for (const refused of [Effect.asVoid(migrate(MIGRATIONS)), Effect.asVoid(pending(MIGRATIONS))]) {
          const error = yield* Effect.flip(elsewhere(refused))
          assert.strictEqual(error.message, `the database's encoding is ${encoding}, and mail needs UTF8`)
          assert.include("remedy" in error ? error.remedy : "", "encoding 'UTF8'")
        }
      }).pipe(Effect.provide(on(layerForeignDatabase(`encoding '${encoding}' locale 'C'`))))
    )

  it.live(
    "is named: a schema before public, such as the role's own, in which half of everything would stand",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const [row] = yield* sql<{
          readonly name: string
        }>`select quote_ident(current_database()) as name`
        yield* sql`create schema postgres`
        for (const refused of [Effect.asVoid(migrate(MIGRATIONS)), Effect.asVoid(pending(MIGRATIONS))]) {
          const error = yield* Effect.flip(elsewhere(refused))
          assert.include(error.message, "look in schema postgres first")
          const [remedy] = /^alter role .+ = public/.exec("remedy" in error ? (error.remedy ?? "") : "") ?? []
          assert.strictEqual(remedy, `alter role postgres in database ${row!.name} set search_path = public`)
        }
        yield* sql.unsafe(`alter role postgres in database ${row!.name} set search_path = public`)
        yield* elsewhere(migrate(MIGRATIONS))
        assert.deepStrictEqual((yield* elsewhere(pending(MIGRATIONS))).missing, [])
      }).pipe(Effect.provide(on(layerEmptyDatabase)))
  )

  it.live(
    "a restore as a role that may make no roles: migrate says what is missing, and closes what stands open",
    () =>
      Effect.gen(function* () {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => startTestServer()),
          ({ stop }) => Effect.promise(stop)
        )
        const administrator = Layer.fresh(layerSingle({ url: Redacted.make(server.url) }))
        const least = new URL(server.url)
        least.username = "least"
        least.pathname = "/restored"
        const asLeast = Layer.fresh(
          Layer.mergeAll(layerSqlClient, NodeServices.layer).pipe(
            Layer.provideMerge(layerSingle({ url: Redacted.make(least.href) }))
          )
        )
        const run = (statement: string) => WriteSql.use((sql) => sql.unsafe(statement).unprepared)
        yield* Effect.provide(
          Effect.andThen(run("create role least login"), run("create database restored owner least")),
          administrator
        )
        const open = run(`select p.proname from pg_proc p where p.pronamespace = 'public'::regnamespace
          and has_function_privilege('public', p.oid, 'execute')
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
          union select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
          and (not relrowsecurity or has_table_privilege('public', oid, 'select'))`)
        yield* withLog((lines) =>
          Effect.gen(function* () {
            yield* migrate(MIGRATIONS)
            assert.match(lines.join("\n"), /service_role is missing/)
            // A dump's "revoke …; grant … to service_role;" fails as a whole where there is no such role.
            yield* run("grant execute on all functions in schema public to public")
            yield* run("alter table email_log disable row level security")
            yield* run("grant select on email_log to public")
            assert.isAbove((yield* open).length, 100)
            yield* migrate(MIGRATIONS)
            assert.deepStrictEqual(yield* open, [])
          })
        ).pipe(Effect.provide(asLeast))
        yield* Effect.provide(run("create role service_role nologin"), administrator)
        yield* withLog((lines) =>
          Effect.andThen(migrate(MIGRATIONS), () =>
            Effect.sync(() => assert.match(lines.join("\n"), /service_role sees no rows/))
          )
        ).pipe(Effect.provide(asLeast))
        yield* Effect.provide(run("alter role service_role bypassrls"), administrator)
        yield* withLog((lines) =>
          Effect.andThen(migrate(MIGRATIONS), () => Effect.sync(() => assert.deepStrictEqual(lines, [])))
        ).pipe(Effect.provide(asLeast))
        const closed = run(`select p.proname from pg_proc p where p.pronamespace = 'public'::regnamespace
          and not has_function_privilege('service_role', p.oid, 'execute')
          union select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
          and not has_table_privilege('service_role', oid, 'select')`)
        assert.deepStrictEqual(yield* Effect.provide(closed, asLeast), [])

        // A role that is no owner has to see rows itself: what its group may see it does not inherit.
        yield* Effect.provide(run("create role clerk login"), administrator)
        least.username = "clerk"
        const asClerk = Layer.fresh(
          Layer.mergeAll(layerSqlClient, NodeServices.layer).pipe(
            Layer.provideMerge(layerSingle({ url: Redacted.make(least.href) }))
          )
        )
        const looks = () => Effect.provide(Layer.fresh(asClerk))(pending(MIGRATIONS))
        for (const statement of ["grant service_role to clerk", "alter role clerk bypassrls"]) {
          const error = yield* Effect.flip(looks())
          assert.include(error.message, "the role clerk sees no rows")
          assert.include("remedy" in error ? error.remedy : "", statement)
          yield* Effect.provide(run(statement), administrator)
        }
        assert.deepStrictEqual((yield* looks()).missing, [])
        yield* Effect.provide(run("revoke service_role from clerk"), administrator)
        // As where an administrator restored the dump without naming the role: the tables are his.
        const migrates = Effect.provide(Layer.fresh(asClerk))(migrate(MIGRATIONS))
        for (const reads of [Effect.asVoid(looks()), Effect.asVoid(migrates)]) {
          const error = yield* Effect.flip(reads)
          assert.include(error.message, 'the tables belong to "least", and clerk may not read them')
          assert.include("remedy" in error ? error.remedy : "", "--no-owner --role=clerk")
        }
      }).pipe(Effect.scoped)
  )
})
