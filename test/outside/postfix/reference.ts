import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"

import { startAttacked } from "../../hostile/server.ts"
import { until } from "../../support/until.ts"
import { startFakeRelay } from "../../support/vendors/fake-relay.ts"
import type { Check, Reference } from "../reference.ts"
import { freePort } from "../services.ts"
import { startPostfix, untriedPostfix } from "./start.ts"

const ADMIN = { authorization: "Bearer outside-admin-token" }
const PROXY_SECRET = "outside-proxy-secret"

/** A connection to the relay that can lose the answer to the final dot. */
const startProxy = async (relayPort: number) => {
  const state = { losesAnswer: false }
  const server = createServer((client) => {
    const relay = connect(relayPort, "127.0.0.1")
    let isOver = false
    client.on("data", (bytes) => {
      relay.write(bytes)
      isOver = state.losesAnswer && bytes.toString("latin1").endsWith(".\r\n")
    })
    relay.on("data", (bytes) => {
      if (!isOver) return void client.write(bytes)
      state.losesAnswer = false
      client.destroy()
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

/** Mail to `good.test` is delivered (and thrown away), reports go to the intake, all else to the recipients' server. */
const mainOf = ({ intake, other }: { readonly intake: number; readonly other: number }) => [
  "compatibility_level = 3.6",
  "myhostname = relay.test",
  "mydestination =",
  "mynetworks = 127.0.0.0/8",
  "smtp_tls_security_level = none",
  "recipient_delimiter = +",
  "relay_domains = bounces.test",
  `transport_maps = inline:{ { good.test = discard:silently } { bounces.test = smtp:[127.0.0.1]:${intake} } }`,
  `default_transport = smtp:[127.0.0.1]:${other}`
]

const trial: Reference["run"] = async ({ work }) => {
  const untried = untriedPostfix()
  if (untried !== undefined) return untried
  const relayPort = await freePort()
  const proxy = await startProxy(relayPort)
  const server = await startAttacked({
    ADMIN_TOKEN: "outside-admin-token",
    PROXY_SHARED_SECRET: PROXY_SECRET,
    EMAIL_PRIMARY: "smtp",
    EMAIL_FALLBACK: "provider_b",
    SMTP_URL: `smtp://127.0.0.1:${proxy.port}`,
    SMTP_TLS: "optional",
    BOUNCE_ADDRESS: "bounce@bounces.test",
    EMAIL_DEFER_DELAYS_SECONDS: "20,20,20"
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
  const postfix = await startPostfix(work, relayPort, mainOf({ intake, other: other.port }))
  const send = async (to: string) => {
    const answer = await fetch(`${server.url}/internal/send-email`, {
      method: "POST",
      headers: { "x-proxy-secret": PROXY_SECRET, "content-type": "application/json" },
      body: JSON.stringify({
        to,
        subject: `To ${to}`,
        text: "Hello.",
        category: "transactional",
        source: "api:outside"
      })
    })
    return (await answer.json()) as { readonly status?: unknown; readonly code?: string }
  }
  const statusOf = async (recipient: string): Promise<string | undefined> => {
    const answer = await fetch(
      `${server.url}/api/admin/email-log?recipient=${encodeURIComponent(recipient)}&limit=1`,
      { headers: ADMIN }
    )
    const { rows } = (await answer.json()) as { readonly rows: ReadonlyArray<{ readonly status: string }> }
    return rows[0]?.status
  }
  const comes = async (recipient: string, status: string): Promise<Check> => {
    const name = `mail to ${recipient} becomes ${status} by its delivery report`
    return until(name, async () => (await statusOf(recipient)) === status).then(
      () => ({ name, outcome: "held" }),
      async () => ({
        name,
        outcome: "failed",
        detail: `${await statusOf(recipient)}\n${await postfix.log()}`
      })
    )
  }
  try {
    for (const to of ["ann@gone.test", "ann@policy.test", "ann@good.test"]) await send(to)
    const checks = [
      await comes("ann@gone.test", "bounced"),
      await comes("ann@policy.test", "bounced"),
      await comes("ann@good.test", "delivered")
    ]
    const [gone, policy] = [await send("ann@gone.test"), await send("ann@policy.test")]
    checks.push({
      name: "an address that does not exist is suppressed, one that refused the mail is not",
      outcome: gone.code === "EMAIL_SUPPRESSED" && policy.status === "sent" ? "held" : "failed",
      detail: JSON.stringify([gone, policy])
    })
    proxy.state.losesAnswer = true
    const lost = await send("lost@good.test")
    checks.push({
      name: "a lost answer to the final dot defers the mail",
      outcome: lost.status === "deferred" ? "held" : "failed",
      detail: JSON.stringify(lost)
    })
    checks.push(await comes("lost@good.test", "delivered"))
    // Past the time of the retry.
    await new Promise((resolve) => setTimeout(resolve, 25_000))
    const copies = [...(await postfix.log()).matchAll(/to=<lost@good\.test>.*status=sent/g)].length
    checks.push({
      name: "by that evidence it is not sent again: one copy",
      outcome: copies === 1 ? "held" : "failed",
      detail: `${copies} copies`
    })
    return checks
  } finally {
    await postfix.stop()
    await other.close()
    proxy.close()
    await server.stop()
  }
}

export const postfix: Reference = {
  name: "postfix",
  version: "as installed",
  checks:
    "Postfix as the relay of `smtp`: its delivery reports come back and become events, and settle what its lost answer left open",
  needs: ["postfix", "chown"],
  install: async () => {},
  run: trial
}
