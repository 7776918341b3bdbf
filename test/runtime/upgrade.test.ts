import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { type Child, makeFolder, programOf, runChild, startFake } from "../support/processes/child.ts"

const ROOT = join(import.meta.dirname, "../..")

/** What a newer version adds: a column that has a value, another signature beside the old one, an index, and a function. */
const NEXT = {
  "0998_next.sql": `alter table email_log add column next text not null default 'none';
    create function email_status_rank(p_status text, p_next text) returns integer language sql
      set search_path = pg_catalog, public, pg_temp as $$ select email_status_rank(p_status) $$;
    select secure_function('email_status_rank(text, text)');`,
  "0999_index.sql": "create index concurrently if not exists email_log_next on email_log (next);",
  "functions/shared/next_of.sql": `create or replace function next_of(p_id uuid) returns text language sql
    set search_path = pg_catalog, public, pg_temp as $$ select next from email_log where id = p_id $$;`
}
const NEXT_VERSION = "99.0.0"

/** A folder with this version's programs and one migration more, laid out as the package is: its version stands in for the next one. */
const nextVersion = async (folder: string) => {
  const programs = join(folder, "dist/runtime/entries")
  await mkdir(dirname(programs), { recursive: true })
  await cp(dirname(programOf("src/runtime/entries/serve.ts")), programs, { recursive: true })
  await cp(join(ROOT, "migrations"), join(folder, "migrations"), { recursive: true })
  for (const [name, text] of Object.entries(NEXT)) await writeFile(join(folder, "migrations", name), text)
  const manifest: unknown = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"))
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ ...Object(manifest), version: NEXT_VERSION })
  )
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"))
  return (name: string) => relative(ROOT, join(programs, `${name}.js`))
}

const urlOf = (child: Child) => child.line((line) => /"url":"([^"]+)"/.exec(line)?.[1])

describe("two versions on one database", () => {
  it.live("work side by side, each starts again, and the way back is the old version", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const folder = yield* Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) =>
        Effect.promise(remove)
      )
      const next = yield* Effect.promise(() => nextVersion(join(folder.path, "next")))
      const provider = yield* Effect.acquireRelease(
        Effect.promise(() => startFake("resend", folder.path)),
        ({ destroy }) => Effect.promise(destroy)
      )
      const env = {
        PORT: "0",
        POSTLANE_ROLES: "api,retry",
        PROVIDERA_API_KEY: "re_two",
        PROVIDERA_BASE_URL: provider.url,
        PROXY_SHARED_SECRET: "secret",
        EMAIL_DEFER_QUEUE_URL: "postgres:email-defer",
        DB_URL: url,
        DB_SECRET_KEY: "unused"
      }
      const start = (program: string) =>
        Effect.acquireRelease(
          Effect.sync(() => runChild(program, [], env)),
          ({ destroy }) => Effect.promise(destroy)
        )
      const stop = (child: Child) =>
        Effect.promise(async () => {
          child.signal("SIGTERM")
          assert.strictEqual((await child.ended).code, 0)
        })
      /** The id of the send under this key, which is sent where it is new. */
      const send = (child: Child, key: string) =>
        Effect.promise(async () => {
          const response = await fetch(`${await urlOf(child)}/internal/send-email`, {
            method: "POST",
            headers: { "content-type": "application/json", "x-proxy-secret": "secret" },
            body: JSON.stringify({
              to: "ann@x.test",
              subject: key,
              text: "t",
              category: "transactional",
              source: "api:test",
              idempotencyKey: key
            })
          })
          const body = (await response.json()) as { readonly status: string; readonly sendId: string }
          assert.strictEqual(body.status, "sent", JSON.stringify(body))
          return body.sendId
        })
      const OLD = "src/runtime/entries/serve.ts"
      const before = yield* start(OLD)
      const first = yield* send(before, "first")
      const migrated = yield* start(next("migrate"))
      yield* Effect.promise(() => migrated.ended)
      assert.include(migrated.lines.join("\n"), "applied next, index, functions")
      const newer = yield* start(next("serve"))
      // A key is one, whichever version is asked; the old process never stopped.
      assert.strictEqual(yield* send(newer, "first"), first)
      const second = yield* send(newer, "second")
      assert.strictEqual(yield* send(before, "second"), second)
      yield* stop(before)
      const again = yield* start(OLD)
      assert.strictEqual(yield* send(again, "second"), second)
      assert.lengthOf(
        again.lines.filter((line) =>
          line.includes(
            `a newer version of Postlane migrated the database (0998_next, 0999_index, the functions of ${NEXT_VERSION})`
          )
        ),
        1
      )
      yield* stop(newer)
      yield* stop(yield* Effect.tap(start(next("serve")), (child) => send(child, "third")))
      // Back: the old version alone, also its migrate, which finds nothing to do.
      const back = yield* start("src/runtime/entries/migrate.ts")
      yield* Effect.promise(() => back.ended)
      assert.include(back.lines.join("\n"), "is up to date")
      yield* send(again, "fourth")
      const sql = yield* WriteSql
      assert.deepStrictEqual(
        yield* sql`select subject, status, next_of(id) as next from email_log order by created_at`,
        [
          { subject: "first", status: "sent", next: "none" },
          { subject: "second", status: "sent", next: "none" },
          { subject: "third", status: "sent", next: "none" },
          { subject: "fourth", status: "sent", next: "none" }
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(layerPostgres))
  )
})
