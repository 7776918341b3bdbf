import { createHash, randomUUID } from "node:crypto"

import { Pool } from "pg"

import { freePort } from "../free-port.ts"
import { makeHttpClient } from "../http-client.ts"
import { startPeer } from "../process.ts"
import { poster } from "./intake.ts"
import { resendClient, sesClient, type VendorClient } from "./peers.ts"
import { FROM, HTML, next, type OpenSender, recipient, SUBJECT, type Targets } from "./sender.ts"

/**
 * What a user would write by hand for what Postlane does on its ordinary path: a claim on the key, a look-up of suppressions, the
 * vendor's SDK, a row; a statement each through the pool of `pg`. No fail-over, no deferral, no evidence, and tables with the fewest
 * indexes that one can do with.
 */
const TABLES = `
create table if not exists hand_claims (
  key text primary key, payload_hash text not null, message_id text, created_at timestamptz not null default now()
);
create table if not exists hand_mails (
  id uuid primary key default gen_random_uuid(), key text, sender text, recipients text[], subject text, status text not null,
  message_id text unique, event_at timestamptz, created_at timestamptz not null default now()
);
create index if not exists hand_mails_created on hand_mails (created_at);`

const CONNECTIONS = 10

/** A pool with the tables by hand. Its connections close soon: many contenders share one database. */
export const handPool = async (databaseUrl: string, connections = CONNECTIONS): Promise<Pool> => {
  const pool = new Pool({ connectionString: databaseUrl, max: connections, idleTimeoutMillis: 1_000 })
  await pool.query(TABLES)
  return pool
}

/** What the sender is asked to send. */
export interface HandMail {
  readonly n: number
  readonly to: string
  readonly subject: string
  readonly html: string
  readonly key?: string | undefined
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex")

/** Sends once for a key; the second call gets the first one's message. */
export const sendByHand = async (pool: Pool, vendor: VendorClient, mail: HandMail): Promise<string> => {
  const { key, subject, to } = mail
  if (key !== undefined) {
    const payload = hashOf(JSON.stringify([FROM, to, subject, mail.html]))
    const claimed = await pool.query({
      name: "claim",
      text: "insert into hand_claims (key, payload_hash) values ($1, $2) on conflict do nothing returning key",
      values: [key, payload]
    })
    if (claimed.rowCount === 0) {
      const { rows } = await pool.query<{
        readonly message_id: string | null
        readonly payload_hash: string
      }>("select message_id, payload_hash from hand_claims where key = $1", [key])
      if (rows[0]?.payload_hash !== payload) throw new Error("another mail has this key")
      if (rows[0].message_id === null) throw new Error("this mail is under way")
      return rows[0].message_id
    }
  }
  const suppressed = await pool.query({
    name: "look-up",
    text: "select reason from email_suppressions where email = any ($1)",
    values: [[to]]
  })
  if (suppressed.rowCount !== 0) throw new Error("suppressed")
  const messageId = await vendor.send(mail, key ?? randomUUID())
  const row = `insert into hand_mails (key, sender, recipients, subject, status, message_id) values ($1, $2, $3, $4, 'sent', $5)`
  await pool.query({
    name: key === undefined ? "row" : "row of key",
    text:
      key === undefined ? row : `with row as (${row}) update hand_claims set message_id = $5 where key = $1`,
    values: [key, FROM, [to], subject, messageId]
  })
  return messageId
}

/** Notes an event of a mail: what its webhook would do. */
export const noteByHand = (
  pool: Pool,
  event: { readonly type: string; readonly at: string; readonly messageId: string }
) =>
  pool.query({
    name: "event",
    text: `insert into hand_mails as m (message_id, status, event_at) values ($1, $2, $3)
      on conflict (message_id) do update set status = excluded.status, event_at = excluded.event_at
      where m.event_at is null or m.event_at <= excluded.event_at`,
    values: [event.messageId, event.type, event.at]
  })

const mailOf = (n: number, key: string | undefined): HandMail => ({
  n,
  to: recipient(n),
  subject: SUBJECT,
  html: HTML,
  key
})

/** In process. */
export const byHand =
  (provider: "provider_a" | "provider_b", options: { readonly keys: boolean }): OpenSender =>
  async ({ databaseUrl, providerUrl }) => {
    const pool = await handPool(databaseUrl)
    const vendor = provider === "provider_a" ? resendClient(providerUrl) : sesClient(providerUrl)
    return {
      send: () => {
        const n = next()
        return sendByHand(pool, vendor, mailOf(n, options.keys ? `hand-${process.pid}-${n}` : undefined))
      },
      close: async () => {
        vendor.close()
        await pool.end()
      }
    }
  }

const startExpress = async ({ databaseUrl, providerUrl }: Targets) => {
  const port = await freePort()
  const server = await startPeer("senders/by-hand-server.ts", [databaseUrl, providerUrl, String(port)])
  return { port, server }
}

/** With Express in front, over kept connections; processor time is the server's. */
export const byHandOverHttp: OpenSender = async (targets) => {
  const { port, server } = await startExpress(targets)
  const client = makeHttpClient(port, "/send-email", { "x-proxy-secret": "bench-secret" })
  return {
    send: () => {
      const n = next()
      return client.post(JSON.stringify(mailOf(n, `hand-relay-${process.pid}-${n}`)))
    },
    cpuMicros: async () => Number(await server.ask({})),
    close: async () => {
      client.close()
      await server.stop()
    }
  }
}

/** Its webhook. */
export const byHandWebhook: OpenSender = async (targets) => {
  const { port, server } = await startExpress(targets)
  return poster(port, server)
}
