import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { type AddressInfo, connect, createServer } from "node:net"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { until } from "../../support/until.ts"
import type { Check, Reference } from "../reference.ts"
import { freePort } from "../services.ts"
import { must } from "../tools.ts"
import { startPostfix } from "./start.ts"

const ADMIN = { authorization: "Bearer outside-admin-token", "content-type": "application/json" }
const LOST = 2

/** A connection to submission that loses the answers to the first final dots. */
const startProxy = async (port: number) => {
  const state = { lost: 0 }
  const server = createServer((client) => {
    const submission = connect(port, "127.0.0.1")
    let isOver = false
    client.on("data", (bytes) => {
      isOver = /\r\n\.\r\n/.test(bytes.toString("latin1"))
      submission.write(bytes)
    })
    submission.on("data", (bytes) => {
      if (!isOver || state.lost === LOST) return void client.write(bytes)
      state.lost += 1
      client.destroy()
    })
    for (const [one, other] of [
      [client, submission],
      [submission, client]
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { state, port: (server.address() as AddressInfo).port, close: () => server.close() }
}

/** Postfix hands its mail to our submission, the answers get lost, and it hands the mail over again: one copy leaves. */
export const smarthostTrial: Reference["run"] = async ({ work }) => {
  const server = await startAttacked({ ADMIN_TOKEN: "outside-admin-token" })
  const submission = await until("submission listens", () => {
    const said = /SMTP submission listens on [^:"]+:(\d+)/.exec(server.lines.join("\n"))?.[1]
    return said === undefined ? undefined : Number(said)
  })
  const made = await fetch(`${server.url}/api/admin/sender-tokens`, {
    method: "POST",
    headers: ADMIN,
    body: JSON.stringify({ name: "a smarthost" })
  })
  const { token } = (await made.json()) as { readonly token: string }
  const proxy = await startProxy(submission)
  const own = await freePort()
  const postfix = await startPostfix(work, own, [
    "compatibility_level = 3.6",
    "myhostname = relay.test",
    "mydestination =",
    "mynetworks = 127.0.0.0/8",
    "smtp_tls_security_level = none",
    `relayhost = [127.0.0.1]:${proxy.port}`,
    "smtp_sasl_auth_enable = yes",
    `smtp_sasl_password_maps = inline:{ { [127.0.0.1]:${proxy.port} = any:${token} } }`,
    "smtp_sasl_security_options = noanonymous",
    "minimal_backoff_time = 4s",
    "maximal_backoff_time = 4s",
    "queue_run_delay = 3s",
    "default_destination_concurrency_failed_cohort_limit = 10"
  ])
  try {
    const mail = join(work, "mail.eml")
    await writeFile(
      mail,
      "From: noreply@postlane.test\r\nTo: reader@x.test\r\nSubject: Handed over again\r\nMessage-ID: <again@relay.test>\r\n\r\nHello.\r\n"
    )
    const envelope = ["--mail-from", "noreply@postlane.test", "--mail-rcpt", "reader@x.test"]
    await must("curl", ["-sS", "-m", "30", `smtp://127.0.0.1:${own}`, ...envelope, "-T", mail])
    const isDone = () => postfix.log().then((log) => /to=<reader@x\.test>.*status=sent/.test(log))
    const ended = await until("Postfix is rid of it", async () => (await isDone()) || undefined).then(
      () => true,
      () => false
    )
    const answer = await fetch(`${server.url}/dev/outbox?q=${encodeURIComponent("Handed over again")}`, {
      headers: { accept: "application/json" }
    })
    const { messages } = (await answer.json()) as { readonly messages: ReadonlyArray<unknown> }
    const name = `a smarthost's client that loses ${LOST} answers hands the mail over again: one copy leaves`
    const holds = ended && proxy.state.lost === LOST && messages.length === 1
    const detail = `${messages.length} copies, ${proxy.state.lost} answers lost\n${await postfix.log()}`
    return [{ name, outcome: holds ? "held" : "failed", detail }] satisfies ReadonlyArray<Check>
  } finally {
    await postfix.stop()
    proxy.close()
    await server.stop()
  }
}
