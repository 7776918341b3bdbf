import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { endOfOutput } from "../../../src/runtime/cli/main.ts"
import { layerDatabase, layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { makeFolder, runChild } from "../../support/processes/child.ts"

/** `postlane` in a process of its own, to its end. */
const postlane = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  file = "src/runtime/entries/cli.ts"
) =>
  Effect.acquireUseRelease(
    Effect.sync(() => runChild(file, args, env)),
    (child) =>
      Effect.map(
        Effect.promise(() => child.ended),
        ({ code }) => ({ code, out: child.lines.join("\n"), err: child.errors() })
      ),
    (child) => Effect.promise(child.destroy)
  )

const folder = Effect.map(
  Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) => Effect.promise(remove)),
  ({ path }) => path
)

const MAIL = ["--to", "you@example.com", "--subject", "Hello", "--text", "First mail"]
const KIND = ["--category", "transactional", "--source", "cli"]

describe.concurrent("the process postlane", () => {
  it.live("help and version; a slip gets a suggestion and code 1", () =>
    Effect.gen(function* () {
      const help = yield* postlane(["--help"])
      assert.strictEqual(help.code, 0)
      for (const name of ["send", "log", "suppress", "unsuppress", "dead-letters", "convert", "doctor"])
        assert.match(help.out, new RegExp(`\\n +${name} +\\S`))
      const version = yield* postlane(["--version"])
      assert.match(version.out, /\d+\.\d+\.\d+/)
      const slip = yield* postlane(["docter"])
      assert.strictEqual(slip.code, 1)
      assert.include(slip.err, "doctor")
    })
  )

  it("ends without a word where its reader is gone, and says it where the disk is full", () => {
    const failing = (code: string) => endOfOutput(Object.assign(new Error(`${code}: write`), { code }))
    assert.deepStrictEqual(failing("EPIPE"), { code: 141, words: "" })
    assert.strictEqual(failing("ENOSPC").code, 1)
    assert.match(failing("ENOSPC").words, /cannot be written, and is not whole: ENOSPC/)
  })

  it.live("works on a configured database: output holds the result alone, notes go to the error output", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const env = { DB_URL: url, POSTLANE_DATA_DIR: "/nonexistent" }
      const added = yield* postlane(["suppress", "a@x.test", "--json"], env)
      assert.strictEqual(added.code, 0, added.err)
      assert.include(JSON.parse(added.out), { email: "a@x.test", reason: "manual" })
      const removed = yield* postlane(["unsuppress", "a@x.test"], env)
      assert.strictEqual(removed.code, 0, removed.err)
      const unsent = yield* postlane(["send", ...MAIL, ...KIND, "--json"], env)
      assert.strictEqual(unsent.code, 1)
      assert.include(JSON.parse(unsent.out), { ok: false, status: "failed", kind: "unavailable" })
      const logged = yield* postlane(["log"], env)
      assert.match(logged.out, /\tfailed\ttransactional\t.*\tyou@example\.com\tHello\t/)
    }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live("log --follow shows rows as they arrive and change, until it is stopped", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const sql = yield* WriteSql
      const insert = (subject: string) =>
        sql`insert into email_log (status, category, to_addresses, subject)
            values ('sent', 'marketing', array['a@x.test'], ${subject})`
      yield* insert("first")
      const follow = yield* Effect.acquireRelease(
        Effect.sync(() =>
          runChild("src/runtime/entries/cli.ts", ["log", "--follow", "--json"], { DB_URL: url })
        ),
        ({ destroy }) => Effect.promise(destroy)
      )
      const sees = (subject: string, status: string) =>
        Effect.promise(() =>
          follow.line((line) =>
            line.includes(`"subject":"${subject}"`) && line.includes(`"status":"${status}"`)
              ? true
              : undefined
          )
        )
      yield* sees("first", "sent")
      yield* insert("second")
      yield* sees("second", "sent")
      yield* sql`update email_log set status = 'delivered' where subject = 'first'`
      yield* sees("first", "delivered")
      assert.lengthOf(follow.lines, 3, "each row once a status")
      follow.signal("SIGINT")
      assert.deepStrictEqual(yield* Effect.promise(() => follow.ended), { code: 130, signal: null })
    }).pipe(Effect.scoped, Effect.provide(layerPostgres))
  )

  it.live(
    "log --follow begins with the newest rows and shows no older one that nothing has happened to",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const sql = yield* WriteSql
        const old = (subject: string, status: string, count: number, days: number) =>
          sql`insert into email_log (status, category, to_addresses, subject, created_at, updated_at)
            select ${status}, 'marketing', array['a@x.test'], ${subject}, t, t
            from generate_series(1, ${count}) n, lateral (select now() - make_interval(days => ${days}, secs => n)) as at (t)`
        yield* old("before", "sent", 170, 2)
        yield* old("waited", "deferred", 1, 3)
        yield* old("newest", "sent", 50, 1)
        const follow = yield* Effect.acquireRelease(
          Effect.sync(() =>
            runChild("src/runtime/entries/cli.ts", ["log", "-f", "-n", "5", "--status", "sent", "--json"], {
              DB_URL: url
            })
          ),
          ({ destroy }) => Effect.promise(destroy)
        )
        const sees = (subject: string) =>
          Effect.promise(() =>
            follow.line((line) => (line.includes(`"subject":"${subject}"`) ? true : undefined))
          )
        yield* sees("newest")
        yield* sql`update email_log set status = 'delivered', updated_at = now() where subject = 'newest'`
        yield* sql`update email_log set status = 'sent', updated_at = now() where subject = 'waited'`
        yield* sees("waited")
        assert.deepStrictEqual(
          follow.lines.map((line) => JSON.parse(line).subject),
          Array.from({ length: 6 }, (_, at) => (at < 5 ? "newest" : "waited"))
        )
      }).pipe(Effect.scoped, Effect.provide(layerPostgres))
  )

  it.live(
    "works on the local instance of a data folder while that runs, and says what to do once it does not",
    () =>
      Effect.gen(function* () {
        const env = { POSTLANE_DATA_DIR: yield* folder }
        const server = yield* Effect.acquireRelease(
          Effect.sync(() =>
            runChild("src/runtime/entries/start.ts", [], {
              PORT: "0",
              SMTP_PORT: "0",
              SUBMISSION_PORT: "0",
              ...env
            })
          ),
          ({ destroy }) => Effect.promise(destroy)
        )
        yield* Effect.promise(() => server.line((line) => /API +(http:\S+)/.exec(line)?.[1]))
        const sent = yield* postlane(["send", ...MAIL, ...KIND], env)
        assert.strictEqual(sent.code, 0, sent.err)
        assert.match(sent.out, /^Sent by provider_a/)
        const logged = yield* postlane(["log", "--recipient", "you@example.com"], env)
        assert.match(logged.out, /\tsent\ttransactional\t/)
        const doctor = yield* postlane(["doctor"], env)
        assert.strictEqual(doctor.code, 0, doctor.out)
        assert.include(doctor.out, "provider_a is simulated or not used")
        server.signal("SIGTERM")
        yield* Effect.promise(() => server.ended)
        for (const args of [["log"], ["send", ...MAIL, ...KIND], ["doctor"]]) {
          const refused = yield* postlane(args, env, "./src/runtime/entries/cli.ts")
          assert.strictEqual(refused.code, 1, args[0])
          assert.include(refused.err + refused.out, "is not running. Start it with: npm start")
        }
      }).pipe(Effect.scoped)
  )
})
