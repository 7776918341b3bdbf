import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createTransport } from "nodemailer"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { type Child, makeFolder, runChild } from "../support/child.ts"
import { numbered } from "../support/pdf-samples.ts"
import { layerPostgres, TestDatabase } from "../support/postgres.ts"

const PATIENCE_MS = 60_000

/** The process dies as soon as this gives a row. */
const MOMENTS: Readonly<Record<string, string>> = {
  "once it has said 250": "select 1",
  "once the conversion has begun": "select 1 from intake_mails where step <> 'received'",
  "once the charge is made": "select 1 from credit_charges"
}

const smtpPort = (child: Child) =>
  child.line((line) => /"smtpPort":(\d+)/.exec(line)?.[1]).then((port) => Number(port))

const deliver = async (port: number) => {
  const client = createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
  try {
    await client.sendMail({
      from: "ann@reader.test",
      to: "convert@legacy.postlane.test",
      messageId: "<one@reader.test>",
      attachments: [{ filename: "a.pdf", content: numbered(4) }]
    })
  } finally {
    client.close()
  }
}

/** Messages of the outbox with an attachment. */
const results = async (folder: string) => {
  const outbox = join(folder, "outbox")
  const names = (await readdir(outbox)).filter((name) => name.endsWith(".eml"))
  const mails = await Promise.all(names.map((name) => readFile(join(outbox, name), "utf8")))
  return mails.filter((mail) => /^content-disposition: attachment/im.test(mail)).length
}

describe("I1, F2: convert-by-email killed by SIGKILL", () => {
  for (const [about, moment] of Object.entries(MOMENTS)) {
    it.live(
      `${about}: one result, one charge, one row`,
      () =>
        Effect.gen(function* () {
          const { url } = yield* TestDatabase
          const sql = yield* WriteSql
          const folder = yield* Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) =>
            Effect.promise(remove)
          )
          yield* sql`insert into customers (email, plan_type, credits_remaining) values ('ann@reader.test', 'paid', 10)`
          const start = Effect.acquireRelease(
            Effect.sync(() =>
              runChild("src/runtime/serve.ts", [], {
                PORT: "0",
                SMTP_PORT: "0",
                POSTLANE_EMBEDDED: "1",
                DB_URL: url,
                POSTLANE_DATA_DIR: folder.path,
                CHUNK_HEARTBEAT_INTERVAL_MS: "300"
              })
            ),
            ({ destroy }) => Effect.promise(destroy)
          )
          const until = Effect.fnUntraced(function* (statement: string) {
            const deadline = Date.now() + PATIENCE_MS
            while ((yield* sql.unsafe(statement)).length === 0) {
              if (Date.now() > deadline)
                return yield* Effect.die(new Error(`it never came that ${statement}`))
              yield* Effect.promise(() => sleep(5))
            }
          })
          const first = yield* start
          const port = yield* Effect.promise(() => smtpPort(first))
          yield* Effect.promise(() => deliver(port))
          yield* until(moment)
          yield* Effect.promise(first.destroy)
          // The minute for which a dead process's reply is left alone is over.
          yield* sql`update intake_replies set not_before = now() where status = 'queued'`
          const second = yield* start
          const again = yield* Effect.promise(() => smtpPort(second))
          // The sender did not hear the 250, and tries again.
          yield* Effect.promise(() => deliver(again))
          yield* until("select 1 from intake_replies where kind = 'success' and status = 'sent'")
          yield* until("select 1 where (select count(*) from intake_mails where step = 'ended') = 2")
          assert.strictEqual(yield* Effect.promise(() => results(folder.path)), 1)
          const rows = yield* sql`select status, credits_charged,
            (select count(*)::integer from credit_charges) as charges,
            (select credits_remaining from customers where email = 'ann@reader.test') as credits from conversion_jobs`
          assert.deepStrictEqual(rows, [{ status: "success", credits_charged: 4, charges: 1, credits: 6 }])
        }).pipe(Effect.provide(layerPostgres)),
      { timeout: 3 * PATIENCE_MS }
    )
  }
})
