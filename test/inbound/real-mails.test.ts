import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

import { Result } from "effect"
import SMTPConnection from "nodemailer/lib/smtp-connection"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { readHead } from "../../src/adapters/postal-mime/read-head.ts"
import { addressKey, parseMailbox } from "../../src/domain/mail/address.ts"
import { strangeMails } from "../support/files/strange-mails.ts"
import { CONVERT, type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

/** Messages of public MIME test sets; beside the project where they are at all. */
const FOLDER = fileURLToPath(new URL("../../../shared/data/mail", import.meta.url))

const realMails = existsSync(FOLDER)
  ? readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:eml|msg)$/.test(name))
      .map((name) => ({ name, raw: readFileSync(join(FOLDER, name)) }))
  : []
if (realMails.length === 0) console.log("no public MIME test set beside the project: own fixtures only")

/** Connections at once. */
const AT_ONCE = 20

const WITH_REPLY = new Set([
  "success",
  "error",
  "insufficient",
  "no_attachment",
  "unsupported",
  "too_large",
  "misaddressed"
])

/** Sends the bytes as they are. */
const deliver = (port: number, raw: Buffer) =>
  new Promise<string>((resolve, reject) => {
    const connection = new SMTPConnection({ host: "127.0.0.1", port, ignoreTLS: true })
    connection.once("error", reject)
    connection.connect(() =>
      connection.send({ from: "someone@x.test", to: [CONVERT] }, raw, (error, info) => {
        connection.quit()
        if (error) reject(error)
        else resolve(info.response)
      })
    )
  })

const ABOUT = realMails.length > 0 ? "and public sets" : "the folder of public sets is not here"

describe(`mails as the world writes them (own ones, ${ABOUT})`, () => {
  let world: IntakeWorld
  beforeAll(async () => {
    world = await startIntake({ pipeline: "real" })
  })
  afterAll(() => world.stop())

  const ended = async (response: string) => {
    const id = /queued as (\S+)/.exec(response)?.[1] ?? ""
    const [row] = await world.sql<{
      readonly outcome: string
      readonly reason: string
      readonly replies: number
    }>(
      `select outcome, reason, (
          select count(*)::integer from intake_replies where mail_id = m.id and kind <> 'processing-started' and status = 'sent'
        ) as replies
        from intake_mails m where id = $1::uuid and step = 'ended'`,
      [id]
    )
    return row
  }

  for (const { about, outcome, raw } of strangeMails("strange@reader.test")) {
    it(`${about}: ${outcome}`, async () => {
      await world.sql(
        `insert into customers (email, plan_type, credits_remaining) values ('strange@reader.test', 'paid', 1000)
          on conflict do nothing`
      )
      const response = await deliver(world.port, Buffer.from(raw, "latin1")).catch(String)
      if (outcome === "refused") return assert.match(response, /554 5\.6\.0/)
      await world.drain()
      const row = await ended(response)
      assert.strictEqual(row?.outcome, outcome, row?.reason ?? "")
      assert.strictEqual(row?.replies, WITH_REPLY.has(outcome) ? 1 : 0)
    })
  }

  const onPublicSets = () =>
    it("every message of the public sets ends in a reply or a logged decision", async () => {
      assert.isAtLeast(realMails.length, 150)
      const senders = new Set<string>()
      for (const { raw } of realMails) {
        const [from] = readHead(raw).from
        const box = from === undefined ? undefined : Result.getOrUndefined(parseMailbox(from))
        if (box !== undefined) senders.add(addressKey(box))
      }
      for (const sender of senders) await world.customer(sender, { credits: 1000 })
      const outcomes: Record<string, number> = {}
      const responses: Array<string> = []
      for (let at = 0; at < realMails.length; at += AT_ONCE) {
        const some = realMails.slice(at, at + AT_ONCE)
        responses.push(...(await Promise.all(some.map(({ raw }) => deliver(world.port, raw)))))
      }
      await world.drain()
      for (const [at, { name }] of realMails.entries()) {
        const row = await ended(responses[at] ?? "")
        assert.isDefined(row, name)
        outcomes[row.outcome] = (outcomes[row.outcome] ?? 0) + 1
        assert.strictEqual(row.replies, WITH_REPLY.has(row.outcome) ? 1 : 0, `${name}: ${row.outcome}`)
        if (row.replies === 0) assert.notStrictEqual(row.reason, "", name)
      }
      // They hold PDFs, other files, plain mails and mails of programs.
      for (const outcome of ["no_attachment", "unsupported", "automatic"])
        assert.isAbove(outcomes[outcome] ?? 0, 0, JSON.stringify(outcomes))
      console.log(`${realMails.length} public messages: ${JSON.stringify(outcomes)}`)
    })
  if (realMails.length > 0) onPublicSets()
})
