import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { Effect, Exit, Scope } from "effect"

import { startAttacked } from "../../hostile/server.ts"
import { talk } from "../../support/processes/smtp-talk.ts"
import { startDns } from "../../support/vendors/fake-dns.ts"
import { startPostfix, untriedPostfix } from "../postfix/start.ts"
import type { Check, Place, Reference } from "../reference.ts"
import { comes, freePort } from "../services.ts"
import { must } from "../tools.ts"
import { guideOf, type Hop, opendkimHop, postfixOf, rspamdHop, someLoopback } from "./hops.ts"
import { CUSTOMERS, type Handed, mails, zone } from "./mails.ts"

const TOKEN = "outside-admin-token"
const ADMIN = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" }

interface Row {
  readonly id: string
  readonly sender: string | null
  readonly outcome: string | null
  readonly reason: string | null
  readonly customerId: string | null
  readonly creditsCharged: number
}

/** Hands a mail to the hop; its last answer. */
const handOver = async (port: number, { envelope, helo, ip, raw }: Handed): Promise<string> => {
  const client = talk(port)
  await client.answer()
  await client.say("EHLO outside.test")
  await client.say(`XCLIENT NAME=client.test ADDR=${ip}`)
  let said = ""
  for (const line of [
    `EHLO ${helo}`,
    `MAIL FROM:<${envelope}>`,
    "RCPT TO:<convert@in.example.com>",
    "DATA"
  ]) {
    said = await client.say(line)
    if (!/^[23]/m.test(said)) break
  }
  if (said.startsWith("354")) {
    client.socket.write(Buffer.from(raw, "latin1"))
    said = await client.say("\r\n.")
  }
  client.socket.end("QUIT\r\n")
  await client.closed
  return said.trim()
}

/** What became of a mail: of its row where it came through, else what the hop, or Postlane, said of it. */
interface Fate {
  readonly row?: Row
  readonly said: string
}

const judge = ({ about, converts }: Handed, { row, said }: Fate, ids: ReadonlyMap<string, string>): Check => {
  const facts = JSON.stringify(row ?? said)
  if (converts === undefined) {
    // Its own sender, known for what it is, may be answered, and so may a customer whose mail came from elsewhere: nobody pays.
    const isHarmless =
      row === undefined ||
      (row.outcome !== "success" &&
        row.creditsCharged === 0 &&
        (row.customerId === null || row.outcome === "misaddressed" || row.outcome === "duplicate"))
    const name = `forged, nothing is converted: ${about}`
    return isHarmless ? { name, outcome: "held" } : { name, outcome: "failed", detail: facts }
  }
  const name = `genuine, converted: ${about}`
  return row?.outcome === "success" && row.customerId === ids.get(converts)
    ? { name, outcome: "held" }
    : { name, outcome: "failed", detail: facts }
}

const startServer = async () => {
  const server = await startAttacked({
    ADMIN_TOKEN: TOKEN,
    TRUSTED_MAIL_HOPS: "mx.example.com",
    INBOUND_DOMAIN: "in.example.com",
    LEGACY_DOMAIN: "example.com"
  })
  const call = async <A>(path: string, body?: unknown): Promise<A> => {
    const answer = await fetch(`${server.url}/api/admin/${path}`, {
      headers: ADMIN,
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as A
  }
  const ids = new Map<string, string>()
  for (const email of CUSTOMERS) {
    const { customer } = await call<{ customer: { id: string } }>("customers", { email, name: "Ann" })
    await call(`customers/${customer.id}/credits`, { credits: 50, reference: email })
    ids.set(email, customer.id)
  }
  return { server, ids, rows: async () => (await call<{ rows: Array<Row> }>("incoming-mails?limit=5")).rows }
}

const trial =
  (hop: Hop): Reference["run"] =>
  async (place: Place) => {
    const untried = untriedPostfix()
    if (untried !== undefined) return untried
    // Each program reads there, as a user of its own.
    await chmod(place.work, 0o755)
    await writeFile(join(place.work, "main.cf"), "")
    if (!(await must("postconf", ["-c", place.work, "-m"])).split("\n").includes("pcre"))
      return [
        { name: "it has pcre", outcome: "artefact", detail: "this Postfix reads no pcre tables: not tried" }
      ]
    const scope = Effect.runSync(Scope.make())
    const closing: Array<() => Promise<unknown>> = [() => Effect.runPromise(Scope.close(scope, Exit.void))]
    try {
      const dns = await Effect.runPromise(
        Scope.provide(startDns(zone, { host: someLoopback(), port: 53 }), scope)
      )
      const { ids, rows, server } = await startServer()
      closing.push(server.stop)
      const guide = await guideOf(place, hop.folder)
      const { main, services } = await hop.start(guide, { work: place.work, dns })
      for (const service of services) closing.push(service.stop)
      const port = await freePort()
      const intake = await comes("the intake listens", () => {
        const said = /"SMTP listens on [^:"]+:(\d+)/.exec(server.lines.join("\n"))
        return said === null ? undefined : Number(said[1])
      })
      const postfix = await startPostfix(
        place.work,
        port,
        await postfixOf(guide, main, { intake, work: place.work })
      )
      closing.push(postfix.stop)
      let last = (await rows())[0]?.id
      const fateOf = async (mail: Handed): Promise<Fate> => {
        const said = await handOver(port, mail)
        const id = /queued as (\w+)/.exec(said)?.[1]
        if (id === undefined) return { said }
        const line = await comes(`${mail.about} is handed on`, async () =>
          (await postfix.log())
            .split("\n")
            .find((text) => text.includes(`${id}: to=`) && text.includes("status="))
        )
        if (!line.includes("status=sent")) return { said: line }
        const row = await comes(`${mail.about} ends`, async () => {
          const [newest] = await rows()
          return newest !== undefined && newest.id !== last && newest.outcome !== null ? newest : undefined
        })
        last = row.id
        return { row, said }
      }
      const checks: Array<Check> = []
      for (const mail of mails()) checks.push(judge(mail, await fateOf(mail), ids))
      return checks
    } finally {
      for (const close of closing.toReversed()) await close()
    }
  }

const referenceOf = (name: string, hop: Hop, programs: ReadonlyArray<string>): Reference => ({
  name,
  version: "as installed",
  checks: `examples/mail-hop/${hop.folder}, before convert-by-email: genuine mails convert, forged ones never do`,
  needs: ["postfix", "postconf", "chown", "id", ...programs],
  install: async () => {},
  run: trial(hop)
})

export const mailHops: ReadonlyArray<Reference> = [
  referenceOf("opendkim", opendkimHop, ["opendkim", "opendmarc", "unshare", "mount"]),
  referenceOf("rspamd", rspamdHop, ["rspamd"])
]
