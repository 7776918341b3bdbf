import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { PersistedQueue } from "effect/persistence"

import { layerSqlClient, WriteSql } from "../../../src/adapters/postgres/client.ts"
import type { MigrationFiles } from "../../../src/adapters/postgres/migration-files.ts"
import { migrate, pending as standing } from "../../../src/adapters/postgres/migrator.ts"
import { MIGRATIONS } from "../../../src/runtime/process/package.ts"
import { layerClients, layerEmptyDatabase, layerPostgres } from "../../support/postgres/postgres.ts"

const layerEmpty = layerSqlClient.pipe(
  Layer.provideMerge(layerClients()),
  Layer.provideMerge(layerEmptyDatabase),
  Layer.provideMerge(NodeServices.layer)
)

/** A directory of migrations with these files, and a version that they belong to. */
const directory = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped()
  const write = Effect.fnUntraced(function* (name: string, text: string) {
    yield* fs.makeDirectory(path.dirname(path.join(folder, name)), { recursive: true })
    yield* fs.writeFileString(path.join(folder, name), text)
  })
  yield* Effect.forEach(Object.entries(files), ([name, text]) => write(name, text))
  const of = (version: string): MigrationFiles => ({ directory: folder, version })
  return { folder: of("1.0.0"), of, write, remove: (name: string) => fs.remove(path.join(folder, name)) }
})

const pending = (folder: MigrationFiles) => Effect.map(standing(folder), ({ missing }) => missing)

const FIRST = { "0001_first.sql": "create table one (id integer); insert into one values (1)" }

describe("migrator", () => {
  it.live("applies what is pending, once, and says what is left", () =>
    Effect.gen(function* () {
      const { folder, write } = yield* directory(FIRST)
      assert.lengthOf(yield* pending(folder), 1)
      assert.deepStrictEqual(
        (yield* migrate(folder)).files.map(({ id, name }) => [id, name]),
        [[1, "first"]]
      )
      yield* write("0010_second.sql", "insert into one values (2);\r\n-- the end; really\r\n")
      assert.deepStrictEqual(
        (yield* pending(folder)).map(({ id }) => id),
        [10]
      )
      assert.lengthOf((yield* migrate(folder)).files, 1)
      assert.deepStrictEqual(yield* migrate(folder), { files: [], functions: [] })
      assert.lengthOf(yield* pending(folder), 0)
      const sql = yield* WriteSql
      assert.lengthOf(yield* sql`select * from one`, 2)
    }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )

  it.live("raced by two processes, applies each file once", () =>
    Effect.gen(function* () {
      const { missing } = yield* standing(MIGRATIONS)
      assert.isAtLeast(missing.length, 10)
      const applied = yield* Effect.all([migrate(MIGRATIONS), migrate(MIGRATIONS), migrate(MIGRATIONS)], {
        concurrency: "unbounded"
      })
      const numbers = applied.flatMap(({ files }) => files.map(({ id }) => id))
      assert.deepStrictEqual(
        numbers.toSorted((a, b) => a - b),
        missing.map(({ id }) => id)
      )
      assert.lengthOf((yield* standing(MIGRATIONS)).missing, 0)
    }).pipe(Effect.provide(layerEmpty))
  )

  it.live(
    "refuses a changed file, a missing one, one with a number too low, and two of one number, by name",
    () =>
      Effect.gen(function* () {
        const { folder, remove, write } = yield* directory({ ...FIRST, "0003_third.sql": "select 3" })
        yield* migrate(folder)
        const refusal = Effect.map(Effect.flip(migrate(folder)), ({ message }) => message)
        yield* write("0003_third.sql", "select 4")
        assert.include(
          yield* refusal,
          "0003_third was applied to this database from a file with other contents"
        )
        assert.include(
          (yield* Effect.flip(pending(folder))).message,
          "0003_third was applied to this database from a file with other contents"
        )
        yield* write("0003_third.sql", "select 3")
        yield* write("0002_second.sql", "select 2")
        assert.include(yield* refusal, "0002_second comes before 3")
        yield* remove("0002_second.sql")
        yield* write("0004_fourth.sql", "select 4")
        yield* write("4_again.sql", "select 4")
        assert.include(yield* refusal, "two migrations have the number 4")
        yield* remove("4_again.sql")
        yield* remove("0001_first.sql")
        assert.include(yield* refusal, "0001_first was applied to this database and its file is missing")
      }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )

  it.live("refuses a database that other files made, and says what to do", () =>
    Effect.gen(function* () {
      const made = yield* directory({ "0001_service_role.sql": "select 1", "0048_turns.sql": "select 1" })
      yield* migrate(made.folder)
      for (const refused of [Effect.asVoid(migrate(MIGRATIONS)), Effect.asVoid(pending(MIGRATIONS))]) {
        assert.strictEqual(
          (yield* Effect.flip(refused)).message,
          "migration 0001_service_role was applied to this database, and this version has 0001_roles in its place: a version from before the first release made the database, and there is no upgrade from there. Migrate an empty database, and copy over what you want to keep"
        )
      }
    }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )

  it.live("takes back all of a file that fails, and names it", () =>
    Effect.gen(function* () {
      const { folder } = yield* directory({
        ...FIRST,
        "0002_bad.sql": "create table two (id integer); insert into two values ('no number')"
      })
      assert.include((yield* Effect.flip(migrate(folder))).message, "0002_bad failed")
      assert.deepStrictEqual(
        (yield* pending(folder)).map(({ name }) => name),
        ["bad"]
      )
      const sql = yield* WriteSql
      assert.deepStrictEqual(yield* sql`select to_regclass('two') as found`, [{ found: null }])
    }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )
})

describe("migrated database", () => {
  it.live("has row-level security without policies on every table, and nothing for the public", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const open = yield* sql`select relname from pg_class
        where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and not relrowsecurity`
      const policies = yield* sql`select policyname from pg_policies where schemaname = 'public'`
      const granted = yield* sql`select table_name, privilege_type from information_schema.role_table_grants
        where table_schema = 'public' and grantee = 'PUBLIC'`
      const callable = yield* sql`select p.proname from pg_proc p
        where p.pronamespace = 'public'::regnamespace and has_function_privilege('public', p.oid, 'execute')
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`
      const floating = yield* sql`select p.proname from pg_proc p
        where p.pronamespace = 'public'::regnamespace
          and p.prosqlbody is null and not coalesce(p.proconfig::text like '%search_path=%', false)
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`
      assert.deepStrictEqual([open, policies, granted, callable, floating], [[], [], [], [], []])
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("lets the service role work with every table and function, and another role with none", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`set local role service_role`
          yield* sql`select * from record_email_event('provider_a', 'm', 'delivered')`
          assert.lengthOf(yield* sql`select id from email_log`, 1)
          yield* sql`insert into email_defer_queue
            (id, queue_name, element, state, visible_at, created_at, updated_at)
            values ('i', 'q', '{}', 'pending', now(), now(), now())`
        })
      )
      yield* sql`create role nobody_of_this_test`.pipe(Effect.ignore)
      const denied = sql.withTransaction(
        Effect.andThen(sql`set local role nobody_of_this_test`, sql`select * from email_log`)
      )
      assert.strictEqual((yield* Effect.flip(denied)).reason._tag, "AuthorizationError")
      yield* sql`drop role nobody_of_this_test`.pipe(Effect.ignore)
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("closes a table and a function to roles that the server gives all rights on what is new", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const open = Effect.gen(function* () {
        yield* sql`do $$
          declare name text;
          begin
            foreach name in array array['anon', 'authenticated'] loop
              if not exists (select from pg_roles where rolname = name) then execute format('create role %I', name); end if;
            end loop;
          end $$`
        yield* sql`create table thing ()`
        yield* sql`create function thing() returns void language sql as ''`
        yield* sql`grant all on table thing to anon, authenticated, public`
        yield* sql`grant all on function thing() to anon, authenticated`
        yield* sql`select secure_table('thing'), secure_function('thing()')`
        return yield* sql`select role, has_table_privilege(role, 'thing', 'select') as reads,
            has_function_privilege(role, 'thing()', 'execute') as calls
          from unnest(array['anon', 'authenticated', 'service_role']) as role`
      })
      // Roles are the whole server's: with the transaction they are gone.
      const rights = yield* Effect.flip(sql.withTransaction(Effect.flip(open)))
      assert.deepStrictEqual(rights, [
        { role: "anon", reads: false, calls: false },
        { role: "authenticated", reads: false, calls: false },
        { role: "service_role", reads: true, calls: true }
      ])
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("gives Effect's queue nothing to migrate, and has the table that it would make", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const shape = (
        table: string
      ) => sql`select column_name, data_type, character_maximum_length, is_nullable
        from information_schema.columns where table_name = ${table} order by column_name`
      const indices = (table: string) =>
        sql`select replace(indexdef, ${table}, 'q') as definition from pg_indexes
          where tablename = ${table} order by 1`
      yield* Effect.scoped(PersistedQueue.makeStoreSql({ tableName: "email_defer_queue" }))
      yield* Effect.scoped(PersistedQueue.makeStoreSql({ tableName: "made_by_effect" }))
      assert.deepStrictEqual(yield* shape("email_defer_queue"), yield* shape("made_by_effect"))
      assert.deepStrictEqual(yield* indices("email_defer_queue"), yield* indices("made_by_effect"))
      const [ours, theirs] = [
        yield* sql`select migration_id, name from email_defer_queue_migrations order by 1`,
        yield* sql`select migration_id, name from made_by_effect_migrations order by 1`
      ]
      assert.deepStrictEqual(ours, theirs)
    }).pipe(Effect.provide(layerSqlClient.pipe(Layer.provideMerge(layerPostgres))))
  )

  it.live("ranks statuses as the domain does", () =>
    Effect.gen(function* () {
      const { EmailStatus, statusRank } = yield* Effect.promise(
        () => import("../../../src/domain/mail/status.ts")
      )
      const sql = yield* WriteSql
      for (const status of EmailStatus.literals) {
        const [row] = yield* sql`select email_status_rank(${status}) as rank`
        assert.strictEqual(row?.["rank"], statusRank(status))
      }
      assert.deepStrictEqual(yield* sql`select email_status_rank('scheduled') as rank`, [{ rank: null }])
    }).pipe(Effect.provide(layerPostgres))
  )
})
