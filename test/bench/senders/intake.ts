import { createHmac } from "node:crypto"

import { freePort } from "../free-port.ts"
import { makeHttpClient } from "../http-client.ts"
import { type Peer, startPeer } from "../process.ts"
import { FROM, next, type OpenSender, recipient, type Sender, SUBJECT } from "./sender.ts"

export const WEBHOOK = "/functions/v1/provider-a-webhook"
export const SECRET = Buffer.from("a secret that has 24 byt")
const EVENTS = ["sent", "delivered"] as const

/** Two events a mail, as most mails have. */
const body = (n: number): string =>
  JSON.stringify({
    type: `email.${EVENTS[n % EVENTS.length]}`,
    created_at: new Date(1_790_000_000_000 + n).toISOString(),
    data: {
      email_id: `hook-${process.pid}-${Math.floor(n / EVENTS.length)}`,
      from: FROM,
      to: [recipient(n)],
      subject: SUBJECT,
      tags: { category: "transactional" }
    }
  })

const signed = (n: number, text: string): Readonly<Record<string, string>> => {
  const id = `msg_${process.pid}_${n}`
  const at = String(Math.floor(Date.now() / 1000))
  const signature = createHmac("sha256", SECRET).update(`${id}.${at}.${text}`).digest("base64")
  return { "svix-id": id, "svix-timestamp": at, "svix-signature": `v1,${signature}` }
}

/** Posts signed events to a server's webhook. */
export const poster = (port: number, server: Peer<unknown>): Sender => {
  const client = makeHttpClient(port, WEBHOOK, {})
  return {
    send: () => {
      const n = next()
      const text = body(n)
      return client.post(text, signed(n, text))
    },
    cpuMicros: async () => Number(await server.ask({})),
    close: async () => {
      client.close()
      await server.stop()
    }
  }
}

/** The same requests to the HTTP stack that reads, verifies and decodes them, and does nothing else. */
export const decodingHttp: OpenSender = async () => {
  const server = await startPeer<{ readonly port: number }>("senders/bare-server.ts")
  return poster(server.ready.port, server)
}

/** Resend's webhook on `npm run serve`: signature, decoding, recording. Processor time is the server's. */
export const webhookIntake: OpenSender = async ({ databaseUrl, providerUrl }) => {
  const port = await freePort()
  const server = await startPeer("senders/relay-server.ts", [], {
    env: {
      PATH: process.env["PATH"],
      NODE_OPTIONS: process.env["BENCH_RELAY_NODE_OPTIONS"],
      DB_URL: databaseUrl,
      // The bench's server trusts everybody; without a password the URL counts as incomplete.
      DB_SECRET_KEY: "unused",
      POSTLANE_ROLES: "api",
      PROVIDERA_API_KEY: "re_bench",
      PROVIDERA_BASE_URL: providerUrl,
      PROXY_SHARED_SECRET: "bench-secret",
      PROVIDERA_WEBHOOK_SECRET: `whsec_${SECRET.toString("base64")}`,
      PORT: String(port)
    }
  })
  return poster(port, server)
}
