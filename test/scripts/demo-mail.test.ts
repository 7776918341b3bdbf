import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { makeFolder, runChild } from "../support/processes/child.ts"

const run = (file: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => runChild(file, args, env)),
    ({ destroy }) => Effect.promise(destroy)
  )

it.live(
  "npm run demo:mail mails a file to a running Postlane, and names the answers in its outbox up to the result",
  () =>
    Effect.gen(function* () {
      const { url: database } = yield* TestDatabase
      const folder = yield* Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) =>
        Effect.promise(remove)
      )
      const server = yield* run("src/runtime/entries/serve.ts", [], {
        POSTLANE_EMBEDDED: "1",
        PORT: "0",
        SMTP_PORT: "0",
        SUBMISSION_PORT: "0",
        DB_URL: database,
        POSTLANE_DATA_DIR: folder.path
      })
      const printed = (pattern: RegExp) =>
        Effect.promise(() => server.line((line) => pattern.exec(line)?.[1]))
      const [url, port] = [yield* printed(/API +(http:\S+)/), yield* printed(/SMTP listens on \S+:(\d+)/)]
      yield* WriteSql.use(
        (sql) =>
          sql`insert into customers (email, plan_type, credits_remaining) values ('owner@postlane.test', 'paid', 10)
            on conflict do nothing`
      )
      const file = join(folder.path, "report.pdf")
      yield* Effect.promise(() => writeFile(file, numbered(2)))
      const demo = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const flags = ["--url", url, "--port", port, "--wait", "90"]
        const child = yield* run("scripts/demo-mail.ts", [...flags, ...args], {})
        const { code } = yield* Effect.promise(() => child.ended)
        return { code, said: child.lines.join("\n"), errors: child.errors() }
      })
      const { code, errors, said } = yield* demo(file)
      assert.strictEqual(code, 0, `${said}\n${errors}`)
      assert.match(
        said,
        /^sent .*report\.pdf from owner@postlane\.test to convert@legacy\.postlane\.test: 250 /
      )
      const result = /^result: Re: Please convert report\.pdf\n {2}(\S+)$/m.exec(said)?.[1] ?? ""
      const answer = yield* Effect.promise(async () => (await fetch(result)).text())
      assert.include(answer, "Attachments (1)")
      const without = yield* demo()
      assert.strictEqual(without.code, 2)
      assert.match(without.errors, /^usage: npm run demo:mail/)
      const help = yield* demo("--help")
      assert.deepStrictEqual([help.code, help.errors], [0, ""])
      for (const args of [["--what"], [join(folder.path, "gone.pdf")], [file, "--wait", "soon"]]) {
        const wrong = yield* demo(...args)
        assert.strictEqual(wrong.code, 2, wrong.errors)
        assert.notMatch(wrong.errors, /\n\s+at /)
      }
      const refused = yield* demo(
        file,
        "--from",
        "stranger@elsewhere.test",
        "--host",
        "127.0.0.1",
        "--port",
        "1"
      )
      assert.strictEqual(refused.code, 1)
      assert.match(
        refused.errors,
        /^The mail was not taken at 127\.0\.0\.1:1: .*ECONNREFUSED.*\nIs npm start running\?/
      )
    }).pipe(Effect.provide(layerPostgres))
)
