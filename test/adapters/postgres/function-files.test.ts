import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, FileSystem, Layer, Path } from "effect"

import { layerSqlClient, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { migrate, pending } from "../../../src/adapters/postgres/migrator.ts"
import { layerClients, layerEmptyDatabase } from "../../support/postgres/postgres.ts"
import { untilFound } from "../../support/until.ts"

const layerEmpty = layerSqlClient.pipe(
  Layer.provideMerge(layerClients()),
  Layer.provideMerge(layerEmptyDatabase),
  Layer.provideMerge(NodeServices.layer)
)

const fn = (name: string, body: string, head = "() returns integer", language = "sql") =>
  `-- What it does.\ncreate or replace function ${name}${head}\nlanguage ${language}\nas $$ ${body} $$;\n`

/** A table whose check calls a function, and functions that call what is made after them. */
const FILES = {
  "0001_first.sql": "create table one (id integer check (is_fine(id))); insert into one values (1)",
  "functions/words/is_fine.sql": fn("is_fine", "select p_id > 0", "(p_id integer) returns boolean"),
  "functions/above.sql": fn("above", "select below() + (select count(*)::integer from one)"),
  "functions/words/below.sql": fn("below", "select 1"),
  "functions/rows.sql": fn("rows", "select * from one", "() returns setof one")
}

/** A folder with these files; each change of them is what a version of Postlane has. */
const folder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped()
  const write = Effect.fnUntraced(function* (name: string, text: string) {
    yield* fs.makeDirectory(path.dirname(path.join(directory, name)), { recursive: true })
    yield* fs.writeFileString(path.join(directory, name), text)
  })
  yield* Effect.forEach(Object.entries(FILES), ([name, text]) => write(name, text))
  return {
    write,
    remove: (name: string) => fs.remove(path.join(directory, name)),
    version: (version: string) => ({ directory, version })
  }
})

const migrated = Effect.gen(function* () {
  const files = yield* folder
  yield* migrate(files.version("1.0.0"))
  return files
})

const above = Effect.flatMap(
  WriteSql,
  (sql) => sql<{ readonly n: number }>`select above() as n`.unprepared
).pipe(Effect.map(([row]) => row?.n))

describe("functions in files of their own", () => {
  it.live("are applied in any order, before the tables that need them and after those that they need", () =>
    Effect.gen(function* () {
      const files = yield* folder
      assert.lengthOf((yield* pending(files.version("1.0.0"))).functions, 4)
      const raced = yield* Effect.all([migrate(files.version("1.0.0")), migrate(files.version("1.0.0"))], {
        concurrency: "unbounded"
      })
      assert.lengthOf(
        raced.flatMap((one) => one.files),
        1
      )
      assert.strictEqual(yield* above, 2)
      assert.deepStrictEqual((yield* pending(files.version("1.0.0"))).functions, [])
    }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )

  it.live(
    "a process that found no table of migrations, and waits while another one makes it, goes on from there",
    () =>
      Effect.gen(function* () {
        const files = yield* folder
        const version = files.version("1.0.0")
        const sql = yield* WriteSql
        // Each connection has looked for the table, and knows that there is none.
        yield* Effect.all(
          Array.from({ length: 4 }, () => pending(version)),
          { concurrency: "unbounded" }
        )
        const isLocked = yield* Deferred.make<void>()
        const second = yield* Effect.forkChild(Effect.andThen(Deferred.await(isLocked), migrate(version)))
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`select pg_advisory_xact_lock(hashtextextended('postlane_migrations lock', 0))`
              .unprepared
            yield* Deferred.succeed(isLocked, undefined)
            yield* untilFound(
              "the second process waits for its turn",
              Effect.map(
                sql`select from pg_locks where locktype = 'advisory' and not granted`.unprepared,
                (waiting) => waiting.length > 0
              )
            )
            yield* sql`create table postlane_migrations (
            id integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now()
          )`.unprepared
          })
        )
        assert.lengthOf((yield* Fiber.join(second)).files, 1)
      }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )

  it.live("are applied anew where the text is another, and only these; a comment is none", () =>
    Effect.gen(function* () {
      const { version, write } = yield* migrated
      yield* write("functions/words/below.sql", `/* Mended. */ ${fn("below", "select /* one */ 1")}`)
      assert.deepStrictEqual(yield* migrate(version("1.0.0")), { files: [], functions: [] })
      yield* write("functions/words/below.sql", fn("below", "select 10"))
      assert.deepStrictEqual((yield* pending(version("1.0.0"))).functions, ["below"])
      assert.deepStrictEqual((yield* migrate(version("1.0.0"))).functions, ["below"])
      assert.strictEqual(yield* above, 11)
    }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )

  it.live("make room for another signature or result, and go with their file", () =>
    Effect.gen(function* () {
      const { remove, version, write } = yield* migrated
      yield* write(
        "functions/words/below.sql",
        fn("below", "select p_n::bigint", "(p_n integer default 7) returns bigint")
      )
      yield* write("functions/above.sql", fn("above", "select below()::integer"))
      yield* remove("functions/rows.sql")
      assert.deepStrictEqual((yield* pending(version("1.0.0"))).functions, ["above", "below", "rows"])
      assert.sameMembers([...(yield* migrate(version("1.0.0"))).functions], ["above", "below", "rows"])
      assert.strictEqual(yield* above, 7)
      const sql = yield* WriteSql
      const rows = yield* sql`select p.oid::regprocedure::text as name from pg_proc p
        where p.pronamespace = 'public'::regnamespace and proname in ('below', 'rows')`
      assert.deepStrictEqual(rows, [{ name: "below(integer)" }])
    }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )

  it.live("change together or not at all; the one that fails is named, also where only its body does", () =>
    Effect.gen(function* () {
      const { version, write } = yield* migrated
      yield* write("functions/words/below.sql", fn("below", "select 10"))
      const refused = (text: string) =>
        Effect.gen(function* () {
          yield* write("functions/above.sql", text)
          const { message } = yield* Effect.flip(migrate(version("1.0.0")))
          assert.strictEqual(yield* above, 2)
          return message
        })
      assert.match(
        yield* refused(fn("above", "select none_such()")),
        /function above: function none_such\(\) does not exist/
      )
      assert.match(
        yield* refused(fn("above", "begin return = 1; end", "() returns integer", "plpgsql")),
        /function above: syntax error/
      )
      assert.match(
        yield* refused(fn("above", "select 1", "(p none_such) returns integer")),
        /^function above failed/
      )
      assert.match(yield* refused(fn("under", "select 1")), /above\.sql has to hold/)
      yield* write("functions/above.sql", FILES["functions/above.sql"])
      yield* write(
        "functions/words/is_fine.sql",
        fn("is_fine", "select true", "(p_n integer) returns boolean")
      )
      assert.match(
        (yield* Effect.flip(migrate(version("1.0.0")))).message,
        /^function is_fine failed.*depend/s
      )
    }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )

  it.live("of a newer version stay where an older one migrates, which works on them", () =>
    Effect.gen(function* () {
      const { remove, version, write } = yield* migrated
      yield* write("functions/words/below.sql", fn("below", "select 10"))
      yield* write("functions/more.sql", fn("more", "select 5"))
      assert.lengthOf((yield* migrate(version("1.10.0-rc.1"))).functions, 2)
      yield* write("functions/words/below.sql", FILES["functions/words/below.sql"])
      yield* remove("functions/more.sql")
      for (const older of ["1.0.0", "1.9.2"]) {
        assert.deepStrictEqual(yield* pending(version(older)), {
          missing: [],
          functions: [],
          newer: ["the functions of 1.10.0-rc.1"]
        })
        assert.deepStrictEqual(yield* migrate(version(older)), { files: [], functions: [] })
      }
      assert.strictEqual(yield* above, 11)
      // The release after the candidate has the old text again.
      assert.sameMembers([...(yield* migrate(version("1.10.0"))).functions], ["below", "more"])
      assert.strictEqual(yield* above, 2)
    }).pipe(Effect.scoped, Effect.provide(layerEmpty))
  )
})
