import { createHash, randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

import { createTransport } from "nodemailer"

import { numbered } from "../support/files/pdf-samples.ts"
import { callUntil, type Client, steadily } from "./clients.ts"
import { count } from "./journal.ts"
import { HOP, type World } from "./world.ts"

export const OWNERS = 12
export const CREDITS = 1_000_000

const UPLOAD_EVERY_MS = 4_000
const MAIL_EVERY_MS = 8_000
const MOST = 20

/** The answers of a server that is not up, or that lost its database. */
const isSettled = (status: number): boolean => status < 500 && status !== 429

export interface Owner {
  readonly id: string
  readonly email: string
  readonly token: string
}

/** Customers who can pay for everything, with a token each. */
export const makeOwners = (world: World): Promise<ReadonlyArray<Owner>> =>
  Promise.all(
    Array.from({ length: OWNERS }, async (_, n) => {
      const token = randomBytes(32).toString("base64url")
      const email = `owner${n}@soak.test`
      const [row] = await world.query<{ readonly id: string }>(
        `insert into customers (email, plan_type, credits_remaining) values ($1, 'paid', $2::integer) returning id`,
        [email, CREDITS]
      )
      await world.query(
        `insert into api_tokens (token_hash, name, rights, customer_id) values (decode($1, 'hex'), $2, '{owner}', $3::uuid)`,
        [createHash("sha256").update(token).digest("hex"), `soak ${n}`, row!.id]
      )
      return { id: row!.id, email, token }
    })
  )

const jsonOf = (text: string): Readonly<Record<string, never>> => {
  try {
    return JSON.parse(text) as Readonly<Record<string, never>>
  } catch {
    return {}
  }
}

/** What an owner may do to a conversion that is under way. */
const interfere = async (client: Client, owner: Owner, fileId: string): Promise<void> => {
  const { chance, journal } = client
  const act = chance.pick(["cancel", "process-now", "process-now", "none", "none", "none"] as const)
  if (act === "none") return
  await sleep(chance.int(0, 8_000))
  const headers = { authorization: `Bearer ${owner.token}` }
  const answer = await callUntil(
    client,
    `/api/v1/files/${fileId}/${act}`,
    { method: "POST", headers },
    isSettled
  )
  if (answer?.status === 200) count(journal.counts, act === "cancel" ? "cancels taken" : "process-now taken")
}

/** Conversions that have not ended: the machine is given no more than it can do. */
const backlog = async ({ world }: Client): Promise<number> => {
  const rows = await world
    .query<{ readonly count: number }>(
      `select ((select count(*) from convert_queue) + (select count(*) from large_conversion_jobs
        where status not in ('completed', 'failed', 'cancelled')))::int as count`
    )
    .catch(() => [])
  return rows[0]?.count ?? Infinity
}

const convertOne = async (client: Client, owners: ReadonlyArray<Owner>): Promise<void> => {
  const { chance, journal } = client
  if ((await backlog(client)) > MOST) return
  const owner = chance.pick(owners)
  const authorization = `Bearer ${owner.token}`
  const pages = chance.bool(0.1) ? 23 : chance.int(1, 9)
  const uploaded = await callUntil(
    client,
    "/api/v1/files?name=soak.pdf",
    {
      method: "POST",
      headers: { authorization, "content-type": "application/pdf" },
      body: new Uint8Array(numbered(pages))
    },
    isSettled
  )
  if (uploaded === undefined) return
  if (uploaded.status !== 201) return count(journal.counts, `uploads answered ${uploaded.status}`)
  const { file } = jsonOf(uploaded.text) as unknown as { readonly file: { readonly id: string } }
  journal.uploads.push(file.id)
  const started = await callUntil(
    client,
    `/api/v1/files/${file.id}/convert`,
    {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ options: chance.bool(0.7) ? { highFidelity: true } : {} })
    },
    isSettled
  )
  if (started?.status === 202) {
    const { job } = jsonOf(started.text) as unknown as { readonly job: { readonly id: string } }
    journal.conversions.push({ jobId: job.id, pages })
  } else if (started !== undefined) count(journal.counts, `conversions answered ${started.status}`)
  await interfere(client, owner, file.id)
}

/** Uploads, conversions on demand and by the batch lane, cancelled and hurried. */
export const loadDocuments = (client: Client, owners: ReadonlyArray<Owner>): Promise<void> =>
  steadily(client, UPLOAD_EVERY_MS, MOST, () => convertOne(client, owners))

/** Hands a mail over as a mail server does: again until it is taken. */
const mailOne = async (client: Client, owners: ReadonlyArray<Owner>, serial: number): Promise<void> => {
  const { chance, givesUp, journal, world } = client
  const owner = owners[serial % owners.length]!
  const token = `soak-document-${serial}`
  const mail = {
    from: owner.email,
    to: "convert@legacy.postlane.test",
    subject: `Please convert ${token}`,
    messageId: `<${token}@soak.test>`,
    headers: { "Authentication-Results": `${HOP}; dmarc=pass header.from=soak.test` },
    text: "Here it is.",
    attachments: [{ filename: "document.pdf", content: numbered(chance.int(1, 5)) }]
  }
  while (!givesUp.aborted) {
    const port = world.processes.slot("retry").smtpPort
    if (port !== undefined) {
      const transport = createTransport({
        host: "127.0.0.1",
        port,
        ignoreTLS: true,
        connectionTimeout: 3_000,
        socketTimeout: 15_000
      })
      try {
        await transport.sendMail(mail)
        return void journal.mailed.push({ token, sender: owner.email })
      } catch {
        count(journal.counts, "mails that were not taken at once")
      } finally {
        transport.close()
      }
    }
    await sleep(chance.int(500, 1_500))
  }
}

/** Convert-by-email over SMTP. */
export const loadInbound = (client: Client, owners: ReadonlyArray<Owner>): Promise<void> =>
  steadily(client, MAIL_EVERY_MS, MOST, (serial) => mailOne(client, owners, serial))
