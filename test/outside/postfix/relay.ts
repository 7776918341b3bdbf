import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"

import { startAttacked } from "../../hostile/server.ts"
import { until } from "../../support/until.ts"
import { startFakeRelay } from "../../support/vendors/fake-relay.ts"
import type { Check, Reference } from "../reference.ts"
import { freePort } from "../services.ts"
import { startPostfix } from "./start.ts"

const ADMIN = { authorization: "Bearer outside-admin-token" }
const PROXY_SECRET = "outside-proxy-secret"

/** Seconds until a deferred mail is tried again. */
const DELAY = 20

/** Bytes of a mail after which the kill comes. */
const KILLED_AFTER = 1_000_000

/** More than all buffers on the way take, so that the final dot cannot be in one of them. */
const LARGE = [{ filename: "large.bin", content: "A".repeat(12_000_000) }]

/** What happens to the next mail: Postfix keeps it and its answer is lost; or it dies, before it has the mail or just after. */
type Fault = "answer lost" | "killed in DATA" | "killed with its answer"

/** A connection to the relay in which a fault happens once. */
const startProxy = async (relayPort: number, kill: () => Promise<void>) => {
  const state: { fault: Fault | undefined } = { fault: undefined }
  const server = createServer((client) => {
    const relay = connect(relayPort, "127.0.0.1")
    let bytesOfClient = 0
    let isOver = false
    const end = () => {
      state.fault = undefined
      client.destroy()
      relay.destroy()
    }
    client.on("data", (bytes) => {
      bytesOfClient += bytes.length
      if (state.fault === "killed in DATA" && bytesOfClient > KILLED_AFTER) {
        // At once: the final dot must not get into a buffer on the way.
        end()
        return void kill()
      }
      relay.write(bytes)
      isOver = state.fault !== undefined && bytes.toString("latin1").endsWith(".\r\n")
    })
    relay.on("data", (bytes) => {
      if (!isOver) return void client.write(bytes)
      if (state.fault === "killed with its answer") void kill().then(end, end)
      else end()
    })
    for (const [one, other] of [
      [client, relay],
      [relay, client]
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { state, port: (server.address() as AddressInfo).port, close: () => server.close() }
}

/** A whole chain: Postlane, the proxy, Postfix, the recipients' server; and reports on their way back. */
const startChain = async (work: string) => {
  const relayPort = await freePort()
  let kill = () => Promise.resolve()
  const proxy = await startProxy(relayPort, () => kill())
  const server = await startAttacked({
    ADMIN_TOKEN: "outside-admin-token",
    PROXY_SHARED_SECRET: PROXY_SECRET,
    EMAIL_PRIMARY: "smtp",
    EMAIL_FALLBACK: "provider_b",
    SMTP_URL: `smtp://127.0.0.1:${proxy.port}`,
    SMTP_TLS: "optional",
    BOUNCE_ADDRESS: "bounce@bounces.test",
    EMAIL_DEFER_DELAYS_SECONDS: `${DELAY},${DELAY},${DELAY}`
  })
  const intake = await until("the intake listens", () => {
    const said = /SMTP listens on [^:"]+:(\d+)/.exec(server.lines.join("\n"))?.[1]
    return said === undefined ? undefined : Number(said)
  })
  const other = await startFakeRelay({ tls: "none" })
  other.answers.RCPT = (line) =>
    line.includes("gone.test")
      ? "550 5.1.1 no such user"
      : line.includes("policy.test")
        ? "550 5.7.1 not wanted"
        : undefined
  // Mail to good.test is delivered (and thrown away), reports go to the intake, all else to the recipients' server.
  const postfix = await startPostfix(work, relayPort, [
    "compatibility_level = 3.6",
    "myhostname = relay.test",
    "mydestination =",
    "mynetworks = 127.0.0.0/8",
    "smtp_tls_security_level = none",
    "message_size_limit = 50000000",
    "recipient_delimiter = +",
    "relay_domains = bounces.test",
    `transport_maps = inline:{ { good.test = discard:silently } { bounces.test = smtp:[127.0.0.1]:${intake} } }`,
    `default_transport = smtp:[127.0.0.1]:${other.port}`
  ])
  kill = postfix.kill
  return {
    server,
    proxy,
    postfix,
    stop: async () => {
      await postfix.stop()
      await other.close()
      proxy.close()
      await server.stop()
    }
  }
}

type Chain = Awaited<ReturnType<typeof startChain>>

const send = async ({ server }: Chain, to: string, attachments: typeof LARGE = []) => {
  const answer = await fetch(`${server.url}/internal/send-email`, {
    method: "POST",
    headers: { "x-proxy-secret": PROXY_SECRET, "content-type": "application/json" },
    body: JSON.stringify({
      to,
      subject: `To ${to}`,
      text: "Hello.",
      attachments,
      category: "transactional",
      source: "api:outside"
    })
  })
  return (await answer.json()) as {
    readonly status?: unknown
    readonly code?: string
    readonly provider?: unknown
  }
}

const statusOf = async ({ server }: Chain, recipient: string): Promise<string | undefined> => {
  const answer = await fetch(
    `${server.url}/api/admin/email-log?recipient=${encodeURIComponent(recipient)}&limit=1`,
    { headers: ADMIN }
  )
  const { rows } = (await answer.json()) as { readonly rows: ReadonlyArray<{ readonly status: string }> }
  return rows[0]?.status
}

/** Copies that left: by Postfix, and by the provider that comes after it. */
const copiesTo = async ({ postfix, server }: Chain, recipient: string): Promise<number> => {
  const answer = await fetch(`${server.url}/dev/outbox?q=${encodeURIComponent(recipient)}`, {
    headers: { accept: "application/json" }
  })
  const { messages } = (await answer.json()) as { readonly messages: ReadonlyArray<unknown> }
  const lines = (await postfix.log()).split("\n")
  const sent = lines.filter((line) => line.includes(`to=<${recipient}>`) && line.includes("status=sent"))
  return messages.length + sent.length
}

const check = (name: string, holds: boolean, detail: unknown): Check => ({
  name,
  outcome: holds ? "held" : "failed",
  detail: JSON.stringify(detail)
})

const comes = async (chain: Chain, recipient: string, status: string): Promise<Check> => {
  const name = `mail to ${recipient} becomes ${status} by its delivery report`
  return until(name, async () => (await statusOf(chain, recipient)) === status).then(
    () => ({ name, outcome: "held" }),
    async () => ({
      name,
      outcome: "failed",
      detail: `${await statusOf(chain, recipient)}\n${await chain.postfix.log()}`
    })
  )
}

const reports = async (chain: Chain): Promise<ReadonlyArray<Check>> => {
  for (const to of ["ann@gone.test", "ann@policy.test", "ann@good.test"]) await send(chain, to)
  const checks = [
    await comes(chain, "ann@gone.test", "bounced"),
    await comes(chain, "ann@policy.test", "bounced"),
    await comes(chain, "ann@good.test", "delivered")
  ]
  const [gone, policy] = [await send(chain, "ann@gone.test"), await send(chain, "ann@policy.test")]
  return [
    ...checks,
    check(
      "an address that does not exist is suppressed, one that refused the mail is not",
      gone.code === "EMAIL_SUPPRESSED" && policy.status === "sent",
      [gone, policy]
    )
  ]
}

/** A mail that meets a fault, and how its send is answered. */
const FAULTS: ReadonlyArray<readonly [fault: Fault, recipient: string, status: string, says: string]> = [
  ["answer lost", "lost@good.test", "deferred", "a lost answer to the final dot defers the mail"],
  [
    "killed with its answer",
    "killed@good.test",
    "deferred",
    "Postfix is killed with the mail in its queue: the mail is deferred"
  ],
  [
    "killed in DATA",
    "data@good.test",
    "sent",
    "Postfix is killed in the middle of DATA, which proves that it has no mail: the other provider sends it"
  ]
]

const faults = async (chain: Chain): Promise<ReadonlyArray<Check>> => {
  const checks: Array<Check> = []
  for (const [fault, to, status, says] of FAULTS) {
    chain.proxy.state.fault = fault
    const answer = await send(chain, to, fault === "killed in DATA" ? LARGE : [])
    checks.push(check(says, answer.status === status, answer))
    if (fault !== "answer lost") await chain.postfix.start()
    if (status === "deferred") checks.push(await comes(chain, to, "delivered"))
  }
  // Past the time of every retry.
  await new Promise((resolve) => setTimeout(resolve, (DELAY + 5) * 1000))
  for (const [fault, to] of FAULTS) {
    const copies = await copiesTo(chain, to)
    checks.push(check(`${fault}: one copy in the end`, copies === 1, copies))
  }
  return checks
}

/** Postfix as the relay of `smtp`, through reports, lost answers and kills. */
export const relayTrial: Reference["run"] = async ({ work }) => {
  const chain = await startChain(work)
  try {
    return [...(await reports(chain)), ...(await faults(chain))]
  } finally {
    await chain.stop()
  }
}
