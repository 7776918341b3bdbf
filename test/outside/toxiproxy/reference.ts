import { setTimeout as sleep } from "node:timers/promises"

import { Effect, Redacted } from "effect"

import { migrateDatabase } from "../../../src/runtime/compose/database/database-start.ts"
import { startAttacked } from "../../hostile/server.ts"
import { startTestServer } from "../../support/postgres/postgres-server.ts"
import type { Check, Reference } from "../reference.ts"
import { comes, freePort, isOpen, startService } from "../services.ts"
import { goPackage } from "../tools.ts"

const TOXIPROXY = { module: "github.com/Shopify/toxiproxy/v2", version: "v2.5.0", path: "cmd/server" }

const SECRET = "outside-proxy-secret"
const ADMIN = { authorization: "Bearer outside-admin-token" }

/** When a connection is cut; one that never is swallows what comes. */
const [SOON_MS, LATER_MS, NEVER] = [150, 500, 0]

/** What a network does to a database, a few seconds each, in both directions where it matters. */
const TOXICS: ReadonlyArray<Readonly<Record<string, unknown>>> = [
  { type: "latency", stream: "downstream", attributes: { latency: 400, jitter: 300 } },
  { type: "reset_peer", stream: "downstream", attributes: { timeout: SOON_MS } },
  { type: "slicer", stream: "downstream", attributes: { average_size: 7, size_variation: 5, delay: 200 } },
  // Answers are lost, and commits with them.
  { type: "timeout", stream: "downstream", attributes: { timeout: NEVER } },
  { type: "limit_data", stream: "downstream", attributes: { bytes: 3_000 } },
  { type: "timeout", stream: "upstream", attributes: { timeout: LATER_MS } },
  { type: "bandwidth", stream: "upstream", attributes: { rate: 4 } },
  { type: "slow_close", stream: "downstream", attributes: { delay: 2_000 } }
]
const TOXIC_MS = 4_000
const CALLERS = 6

interface Answer {
  readonly ok?: unknown
  readonly status?: unknown
  readonly code?: unknown
}

/** Toxiproxy with one proxy before this port. */
const startToxiproxy = async (program: string, target: number) => {
  const [api, port] = [await freePort(), await freePort()]
  const service = await startService(program, ["-host", "127.0.0.1", "-port", String(api)], {
    isUp: () => isOpen(api)
  })
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${api}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!answer.ok) throw new Error(`toxiproxy: ${answer.status} ${await answer.text()}`)
  }
  const [listen, upstream] = [`127.0.0.1:${port}`, `127.0.0.1:${target}`]
  await ask("POST", "/proxies", { name: "database", listen, upstream, enabled: true })
  return {
    port,
    stop: service.stop,
    under: async (toxic: Readonly<Record<string, unknown>>, ms: number) => {
      await ask("POST", "/proxies/database/toxics", { name: "toxic", toxicity: 1, ...toxic })
      await sleep(ms)
      await ask("DELETE", "/proxies/database/toxics/toxic")
    }
  }
}

type Proxy = Awaited<ReturnType<typeof startToxiproxy>>

/** Sends while the network is in trouble, and what came of it: what callers were answered, what went out, what the log says. */
const sendThrough = async (proxy: Proxy, direct: string): Promise<ReadonlyArray<Check>> => {
  const url = new URL(direct)
  url.port = String(proxy.port)
  const server = await startAttacked({
    ADMIN_TOKEN: "outside-admin-token",
    PROXY_SHARED_SECRET: SECRET,
    DB_URL: url.href,
    DB_SECRET_KEY: "unused",
    EMAIL_DEFER_DELAYS_SECONDS: "2,2,2"
  })
  const send = async (key: string): Promise<Answer | undefined> => {
    const body = {
      to: `${key}@x.test`,
      subject: key,
      text: "t",
      category: "transactional",
      source: "api:outside"
    }
    return fetch(`${server.url}/internal/send-email`, {
      method: "POST",
      headers: { "x-proxy-secret": SECRET, "content-type": "application/json" },
      body: JSON.stringify({ ...body, idempotencyKey: key }),
      signal: AbortSignal.timeout(30_000)
    }).then(
      (answer) => answer.json() as Promise<Answer>,
      () => undefined
    )
  }
  const copiesOf = async (key: string): Promise<number> => {
    const answer = await fetch(`${server.url}/dev/outbox?q=${key}`, {
      headers: { accept: "application/json" }
    })
    return ((await answer.json()) as { readonly messages: ReadonlyArray<unknown> }).messages.length
  }
  const statusOf = async (key: string): Promise<string | undefined> => {
    const path = `/api/admin/email-log?recipient=${encodeURIComponent(`${key}@x.test`)}&limit=1`
    const answer = await fetch(`${server.url}${path}`, { headers: ADMIN })
    return ((await answer.json()) as { readonly rows: ReadonlyArray<{ readonly status: string }> }).rows[0]
      ?.status
  }
  try {
    const answers = new Map<string, Array<Answer | undefined>>()
    let isOver = false
    let slowest = 0
    const caller = async (who: number) => {
      for (let n = 0; !isOver; n++) {
        const key = `key-${who}-${n}-x`
        const own: Array<Answer | undefined> = []
        answers.set(key, own)
        // As a caller does that was cut off; and once more, as one that forgot.
        for (let times = 0; times < 3; times++) {
          const began = performance.now()
          own.push(await send(key))
          slowest = Math.max(slowest, performance.now() - began)
        }
      }
    }
    const callers = Array.from({ length: CALLERS }, (_, who) => caller(who))
    for (const toxic of TOXICS) await proxy.under(toxic, TOXIC_MS)
    isOver = true
    await Promise.all(callers)
    await comes("the server is ready again", async () => (await fetch(`${server.url}/ready`)).ok)
    const keys = [...answers.keys()]
    const wrong: Record<"lost" | "doubled" | "untrue" | "stuck", Array<string>> = {
      lost: [],
      doubled: [],
      untrue: [],
      stuck: []
    }
    for (const key of keys) {
      const last = await send(key)
      if (last?.ok !== true) wrong.stuck.push(`${key} ${JSON.stringify(last)}`)
      await comes(`${key} is sent`, async () => (await copiesOf(key)) > 0).catch(() => wrong.lost.push(key))
      const copies = await copiesOf(key)
      if (copies > 1) wrong.doubled.push(`${key} ${copies} copies, ${JSON.stringify(answers.get(key))}`)
      const status = await statusOf(key)
      if (copies > 0 && status !== undefined && !["sent", "delivered"].includes(status))
        wrong.untrue.push(`${key} ${status}`)
    }
    const check = (name: string, found: ReadonlyArray<string>): Check =>
      found.length === 0
        ? { name, outcome: "held" }
        : { name, outcome: "failed", detail: found.slice(0, 5).join("\n") }
    return [
      check(`each of ${keys.length} mails is accepted when the network is back`, wrong.stuck),
      check("each goes out", wrong.lost),
      check("none goes out twice", wrong.doubled),
      check("the log says of none that went out anything else", wrong.untrue),
      // Longer than its limit for the database: calls met what was planted.
      check("the network was in the way", slowest > 2_000 ? [] : [`the slowest call took ${slowest} ms`])
    ]
  } finally {
    await server.stop()
  }
}

const trial: Reference["run"] = async ({ cache }) => {
  const postgres = await startTestServer()
  try {
    await Effect.runPromise(migrateDatabase({ url: Redacted.make(postgres.url) }))
    const proxy = await startToxiproxy(await goPackage(cache, TOXIPROXY), Number(new URL(postgres.url).port))
    try {
      return await sendThrough(proxy, postgres.url)
    } finally {
      await proxy.stop()
    }
  } finally {
    await postgres.stop()
  }
}

export const toxiproxy: Reference = {
  name: "toxiproxy",
  version: TOXIPROXY.version,
  checks:
    "sends with a network before PostgreSQL that delays, cuts, swallows and tears: none lost, none twice, the log true",
  needs: ["go"],
  install: async ({ cache }) => void (await goPackage(cache, TOXIPROXY)),
  run: trial
}
