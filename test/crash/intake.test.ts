import { readdir, readFile, rename } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createTransport } from "nodemailer"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { type Child, makeFolder, runChild } from "../support/processes/child.ts"
import { untilFound } from "../support/until.ts"
import { makeGates, type Moment } from "./intake-gates.ts"

/**
 * At which write each mail of a process's life stands when the process is killed. A process has two that read, two that convert
 * and two that reply; the library waits for its own store for 2.5 s only, so that its writes come last. A claim to convert holds
 * the turn of all converters, so that nothing after it in its life is converted.
 */
const LIVES: ReadonlyArray<ReadonlyArray<Moment>> = [
  ["take processing-started", "claim", "receive", "begin success"],
  ["sent processing-started", "finish", "identify", "log success"],
  ["take success", "sent success", "admit", "claim to convert"]
]

/** Every life twice: the last writes are lost, or committed although nobody hears of it. */
const DEATHS = LIVES.flatMap((moments) => [
  { moments, commits: false },
  { moments, commits: true }
])

interface Mail {
  readonly who: string
  readonly moment: Moment
}

/** The port, once it listens; where it ends instead, what it said. */
const smtpPort = (child: Child) =>
  child
    .line((line) => /"smtpPort":(\d+)/.exec(line)?.[1])
    .then(Number, (cause: unknown) => {
      throw new Error(`${String(cause)}\n${child.lines.slice(-10).join("\n")}`, { cause })
    })

const CONTENT = numbered(2)

/** False where the server went away before it said 250. */
const deliver = async (port: number, who: string) => {
  const client = createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
  try {
    await client.sendMail({
      from: who,
      to: "convert@legacy.postlane.test",
      messageId: `<${who}>`,
      attachments: [{ filename: "a.pdf", content: CONTENT }]
    })
    return true
  } catch {
    return false
  } finally {
    client.close()
  }
}

/** How many messages of the outbox each address has, with the result and without. */
const outbox = async (folder: string) => {
  const path = join(folder, "outbox")
  const names = (await readdir(path)).filter((name) => name.endsWith(".eml"))
  const mails = await Promise.all(names.map((name) => readFile(join(path, name), "utf8")))
  return (who: string) => {
    const own = mails.filter((mail) => new RegExp(`^to: .*${who}`, "im").test(mail))
    const results = own.filter((mail) => /^content-disposition: attachment/im.test(mail)).length
    return { results, others: own.length - results }
  }
}

/** The names in a folder; none where it is gone: the program removes the objects of ended mails meanwhile. */
const namesIn = (path: string) =>
  readdir(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return []
    throw cause
  })

/** Objects of mails: their files, and the mails' ids. */
const mailObjects = async (folder: string) => {
  const mails = join(folder, "objects", "convert-email-files", "mails")
  const lists = (await namesIn(mails)).map(async (id) =>
    (await namesIn(join(mails, id))).map((name) => ({ path: join(mails, id, name), id }))
  )
  return (await Promise.all(lists)).flat()
}

/** Makes an object's mail two days older: its id tells when it came in. */
const grow = async (path: string) => {
  const folder = dirname(path)
  const at = (Date.now() - 48 * 60 * 60 * 1000).toString(16).padStart(12, "0")
  const id = `${at.slice(0, 8)}-${at.slice(8)}${basename(folder).slice(13)}`
  await rename(folder, join(dirname(folder), id))
}

describe("I1, F2: convert-by-email killed by SIGKILL", () => {
  it.live(
    "at every write, before it is committed and after: one result, one charge, one row, nothing left",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const sql = yield* WriteSql
        const gates = yield* makeGates
        const folder = yield* Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) =>
          Effect.promise(remove)
        )
        const start = Effect.gen(function* () {
          const child = yield* Effect.acquireRelease(
            Effect.sync(() =>
              runChild("src/runtime/entries/serve.ts", [], {
                PORT: "0",
                SMTP_PORT: "0",
                SUBMISSION_PORT: "0",
                POSTLANE_EMBEDDED: "1",
                DB_URL: url,
                POSTLANE_DATA_DIR: folder.path
              })
            ),
            ({ destroy }) => Effect.promise(destroy)
          )
          return { port: yield* Effect.promise(() => smtpPort(child)), kill: Effect.promise(child.destroy) }
        })
        /** Whatever time a dead process's work is left alone for is over. */
        const pass = Effect.gen(function* () {
          yield* sql`update intake_mails set not_before = now(), heartbeat_at = now() - interval '1 hour' where step <> 'ended'`
          yield* sql`update intake_replies set not_before = now() where status = 'queued'`
          yield* sql`update email_send_claims set lease_until = now() where state = 'held'`
        })
        const none = (statement: string) =>
          untilFound(
            `nothing is left of ${statement}`,
            Effect.map(sql.unsafe(statement), ({ length }) => length === 0)
          )
        /** The life before, too, removes the objects of what ended in it, where it lasts for a while. */
        const wasCleaned = (who: string) =>
          sql`select 1 from intake_mails where envelope_from = ${who} and cleaned is not null`.pipe(
            Effect.map(({ length }) => length > 0)
          )
        const stands = ({ moment, who }: Mail) =>
          untilFound(
            `${who} stands at ${moment}`,
            Effect.flatMap(gates.atGate(moment, who), (is) =>
              is || moment !== "clean" ? Effect.succeed(is) : wasCleaned(who)
            )
          )
        /** Every mail has its result; those that the sender sent again have ended as well. */
        const settled = Effect.andThen(
          none(`select 1 from intake_mails where step <> 'ended'`),
          none(`select 1 from intake_replies where status = 'queued'`)
        )
        const again = (port: number, mails: ReadonlyArray<Mail>) =>
          Effect.forEach(mails, ({ who }) =>
            Effect.map(
              Effect.promise(() => deliver(port, who)),
              (taken) => assert.isTrue(taken)
            )
          )

        const lives: Array<ReadonlyArray<Mail>> = []
        for (const [life, { commits, moments }] of DEATHS.entries()) {
          const before = lives.at(-1) ?? []
          // The first thing that a process does is to remove the objects of mails that had ended before it began.
          const ended = (lives.at(-2) ?? []).slice(0, 1).map(({ who }): Mail => ({ moment: "clean", who }))
          for (const { moment, who } of ended) yield* gates.shut(moment, who)
          const { kill, port } = yield* start
          // Their sender did not hear the 250, or believes so.
          yield* again(port, before)
          yield* settled
          for (const mail of ended) yield* stands(mail)
          const mails = moments.map((moment, n) => ({ moment, who: `a${life}-${n}@x.test` }))
          const connections: Array<Promise<boolean>> = []
          for (const mail of mails) {
            yield* sql`insert into customers (email, plan_type, credits_remaining) values (${mail.who}, 'paid', 10)`
            yield* gates.shut(mail.moment, mail.who)
            connections.push(deliver(port, mail.who))
            yield* stands(mail)
          }
          // At once: what waits for the library's store goes on without it after 2.5 s.
          yield* kill
          yield* Effect.promise(() => Promise.all(connections))
          for (const { moment, who } of [...ended, ...mails]) yield* gates.open(moment, who, commits)
          yield* pass
          lives.push(mails)
        }
        const last = yield* start
        yield* again(last.port, lives.at(-1) ?? [])
        yield* settled
        yield* last.kill

        const sent = yield* Effect.promise(() => outbox(folder.path))
        for (const { moment, who } of lives.flat()) {
          const { others, results } = sent(who)
          assert.strictEqual(results, 1, `${moment}: results`)
          assert.isAtMost(others, 1, `${moment}: acknowledgements`)
          const rows = yield* sql`select j.status, j.credits_charged, c.credits_remaining,
              (select count(*)::integer from credit_charges x where x.customer_id = c.id) as charges,
              (select count(*)::integer from funds_holds h where h.customer_id = c.id and h.state = 'held') as holds
            from customers c left join conversion_jobs j on j.customer_id = c.id where c.email = ${who}`
          assert.deepStrictEqual(
            rows,
            [{ status: "success", credits_charged: 2, credits_remaining: 8, charges: 1, holds: 0 }],
            moment
          )
        }
        const known = yield* sql<{ readonly id: string }>`select id from intake_mails`
        const ids = new Set(known.map(({ id }) => id))
        // What was stored and never got its row is gone once it is old.
        const orphans = (yield* Effect.promise(() => mailObjects(folder.path))).filter(
          ({ id }) => !ids.has(id)
        )
        // None where the process had the time to give its database up: it takes the mail back, as its sender will send it again.
        assert.isAtMost(orphans.length, 1)
        yield* Effect.promise(() => Promise.all(orphans.map(({ path }) => grow(path))))
        yield* start
        yield* untilFound(
          "no object is left",
          Effect.map(
            Effect.promise(() => mailObjects(folder.path)),
            ({ length }) => length === 0
          )
        )
      }).pipe(Effect.provide(layerPostgres))
  )
})
