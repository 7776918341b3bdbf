import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { ManagedRuntime } from "effect"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { bundleForEdge, type EdgeBundle } from "../support/processes/edge-bundle.ts"
import {
  type EdgeWorker,
  type RunningWorker,
  startEdgeWorker,
  withEdgeWorker
} from "../support/processes/edge-worker.ts"
import { fakeResend, type ListedItem } from "../support/vendors/fake-resend.ts"

const POSTMARK_PASSWORD = "postmark-password-4711"
const SIGNING = `whsec_${Buffer.from("a secret that has 24 byt").toString("base64")}`
const SECRET = "próxy-secret-4711"
const HEADER = Buffer.from(SECRET, "utf8").toString("latin1")
const KEY = "re_secret_key_4711"

const events = JSON.parse(
  readFileSync(new URL("../support/vendors/resend-events.json", import.meta.url), "utf8")
) as ReadonlyArray<{ readonly type: string; readonly data: Readonly<Record<string, unknown>> }>
const bounced = events.find(({ type }) => type === "email.bounced")!

let listed: ReadonlyArray<ListedItem> = []
const resend = fakeResend({ apiKey: KEY, listed: () => listed, scriptsList: true })
const postgres = ManagedRuntime.make(layerPostgres)
const query = <A extends object>(text: string) =>
  postgres.runPromise(WriteSql.use((sql) => sql.unsafe<A>(text)))

/** The API's relay and its alert route. */
const relayed: Array<{ readonly secret: unknown; readonly body: Readonly<Record<string, unknown>> }> = []
let relayStatus = 200
const alerts: Array<{ readonly secret: unknown; readonly body: Readonly<Record<string, unknown>> }> = []
let alertAnswer: { readonly status: number; readonly body: object }
const api = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const seen = {
      secret: request.headers["x-proxy-secret"],
      body: JSON.parse(Buffer.concat(chunks).toString())
    }
    if (request.url === "/internal/send-email") {
      relayed.push(seen)
      response.writeHead(relayStatus, { "content-type": "application/json" })
      return void response.end(JSON.stringify({ ok: true, code: "EMAIL_FAILED", kind: "rejected" }))
    }
    alerts.push(seen)
    response.writeHead(alertAnswer.status, { "content-type": "application/json" })
    response.end(JSON.stringify(alertAnswer.body))
  })
})
const DELIVERED = { status: 200, body: { success: true, delivery: "delivered" } }
const UNCONFIGURED = { status: 503, body: { code: "ALERT_CHANNEL_UNCONFIGURED" } }

let bundle: EdgeBundle
let bindings: Readonly<Record<string, string>>

beforeAll(async () => {
  await resend.listen()
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve))
  bundle = await bundleForEdge(new URL("functions-worker.ts", import.meta.url))
  const { url } = await postgres.runPromise(TestDatabase)
  const apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/internal`
  bindings = {
    DB_URL: url,
    DB_SECRET_KEY: "database-password",
    PROVIDERA_API_KEY: KEY,
    PROVIDERA_BASE_URL: resend.url,
    PROVIDERA_WEBHOOK_SECRET: SIGNING,
    POSTMARK_WEBHOOK_PASSWORD: POSTMARK_PASSWORD,
    PROXY_SHARED_SECRET: SECRET,
    INTERNAL_ALERT_URL: `${apiUrl}/email-alert`,
    INTERNAL_SEND_EMAIL_URL: `${apiUrl}/send-email`,
    // Of another program: it must not keep the functions from working.
    PORT: "no port"
  }
})
afterAll(async () => {
  await Promise.all([resend.close(), new Promise((resolve) => api.close(resolve)), postgres.dispose()])
})
beforeEach(async () => {
  alerts.length = 0
  alertAnswer = DELIVERED
  listed = []
  await resend.always("ok")
  await query("delete from email_log")
})

let shared: Promise<RunningWorker> | undefined
afterAll(async () => (await shared)?.dispose())

/** With changed bindings a worker of its own, else the one that all others share. */
const inWorker = async (
  use: (worker: EdgeWorker) => Promise<void>,
  changes?: Readonly<Record<string, string>>
) => {
  const { script } = bundle
  if (changes !== undefined) return withEdgeWorker({ script, bindings: { ...bindings, ...changes } }, use)
  shared ??= startEdgeWorker({ script, bindings })
  return use(await shared)
}

const signed = (body: string, at = new Date()) => ({
  "svix-id": "msg_1",
  "svix-timestamp": String(Math.floor(at.getTime() / 1000)),
  "svix-signature": new Webhook(SIGNING).sign("msg_1", at, Buffer.from(body))
})
const body = JSON.stringify(bounced)
const post = (worker: EdgeWorker, name: string, headers: Readonly<Record<string, string>>, text?: string) =>
  worker.request(`/functions/v1/${name}`, {
    method: "POST",
    headers,
    ...(text === undefined ? {} : { body: text })
  })
const webhook = (worker: EdgeWorker, text = body, headers: Record<string, string> = signed(text)) =>
  post(worker, "provider-a-webhook", headers, text)
const poll = (worker: EdgeWorker, headers: Record<string, string> = { "x-proxy-secret": HEADER }) =>
  post(worker, "provider-a-events-fetcher", headers)
const rows = () => query("select status, alerted_at is not null as claimed from email_log")

describe("the bundle of the functions", () => {
  it("holds nothing that only Node has, and no send path", () => {
    const foreign =
      /imds|credential-provider|nodemailer|node-http-handler|platform-node|embedded|\/smtp\/|library\.ts|client-sesv2/
    assert.deepStrictEqual(
      bundle.inputs.filter((path) => foreign.test(path)),
      []
    )
    assert.isBelow(bundle.packedBytes, 1_500_000)
  })
})

describe("postmark-webhook in workerd", () => {
  const open = JSON.stringify({
    RecordType: "Open",
    MessageID: "m-1",
    Recipient: "ann@example.test",
    ReceivedAt: "2026-11-05T16:33:54Z"
  })
  const basic = (password: string) => ({ authorization: `Basic ${btoa(`postlane:${password}`)}` })

  it("records an event of a caller with its credentials, and of no other", () =>
    inWorker(async (worker) => {
      expect((await post(worker, "postmark-webhook", basic("other"), open)).status).toBe(401)
      expect(await rows()).toEqual([])
      const answer = await post(worker, "postmark-webhook", basic(POSTMARK_PASSWORD), open)
      expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { ok: true }])
      expect(await rows()).toEqual([{ status: "opened", claimed: false }])
    }))
})

describe("provider-a-webhook in workerd", () => {
  it("records a signed event in the database and posts its alert, once (E1, A1)", () =>
    inWorker(async (worker) => {
      for (let round = 0; round < 2; round += 1) {
        const answer = await webhook(worker)
        expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { ok: true }])
      }
      expect(await rows()).toEqual([{ status: "bounced", claimed: true }])
      expect(await query("select reason from email_suppressions")).toEqual([{ reason: "hard_bounce" }])
      expect(alerts).toHaveLength(1)
      expect(alerts[0]!.secret).toBe(HEADER)
      expect(alerts[0]!.body).toMatchObject({
        provider: "provider_a",
        providerMessageId: bounced.data["email_id"],
        event: "bounced"
      })
    }))

  it("refuses what is not signed, or not now, and records nothing (W1)", () =>
    inWorker(async (worker) => {
      const refusals = [
        await webhook(worker, body, {}),
        await webhook(worker, `${body} `, signed(body)),
        await webhook(worker, body, signed(body, new Date(Date.now() - 310_000))),
        await webhook(worker, body, { ...signed(body), "svix-signature": "v1,AAAA" }),
        await webhook(worker, "\u0000", {})
      ]
      expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400])
      // It is refused by its length: the answer comes before the body has gone out, which may cut the connection.
      const large = await webhook(worker, "x".repeat(1_100_000)).catch(() => ({ status: 413 }))
      expect(large.status).toBe(413)
      expect((await worker.request("/functions/v1/provider-a-webhook", { method: "GET" })).status).toBe(405)
      expect((await post(worker, "another", {})).status).toBe(404)
      expect([await rows(), alerts]).toEqual([[], []])
    }))

  it("answers 502 where the alert failed, 200 where no channel is set up, and releases the claim", () =>
    inWorker(async (worker) => {
      for (const answer of [
        { status: 502, body: {} },
        { status: 503, body: {} },
        { status: 302, body: {} }
      ]) {
        alertAnswer = answer
        expect((await webhook(worker)).status).toBe(502)
        expect(await rows()).toEqual([{ status: "bounced", claimed: false }])
      }
      alertAnswer = UNCONFIGURED
      expect((await webhook(worker)).status).toBe(200)
      expect(await rows()).toEqual([{ status: "bounced", claimed: false }])
      alertAnswer = DELIVERED
      expect((await webhook(worker)).status).toBe(200)
      expect(await rows()).toEqual([{ status: "bounced", claimed: true }])
    }))

  it("does not acknowledge what cannot be recorded, and tells no secret (E1)", () =>
    inWorker(
      async (worker) => {
        const answer = await webhook(worker)
        expect(answer.status).toBe(500)
        expect(answer.text + worker.lines.join()).not.toMatch(/database-password|4711/)
      },
      { DB_URL: "postgres://nobody@127.0.0.1:1/none" }
    ))

  it("refuses everybody where its secret is unset", () =>
    inWorker(async (worker) => expect((await webhook(worker)).status).toBe(403), {
      PROVIDERA_WEBHOOK_SECRET: ""
    }))
})

describe("provider-a-events-fetcher in workerd", () => {
  const item = (id: string, event: string, sentAt: Date): ListedItem => ({
    id,
    to: ["a@x.test"],
    from: "A <a@shop.test>",
    subject: "s",
    created_at: sentAt.toISOString(),
    last_event: event
  })

  it("lets in only who has the secret, compared in constant time", () =>
    inWorker(async (worker) => {
      for (const secret of ["", "x", `${HEADER}x`, SECRET.slice(1), "x".repeat(HEADER.length)]) {
        const answer = await poll(worker, secret === "" ? {} : { "x-proxy-secret": secret })
        expect([answer.status, JSON.parse(answer.text).code]).toEqual([403, "FORBIDDEN"])
      }
      expect(resend.requests.filter(({ method }) => method === "GET")).toEqual([])
    }))

  it("refuses everybody where the secret is unset", () =>
    inWorker(
      async (worker) => {
        expect((await poll(worker)).status).toBe(403)
        expect((await poll(worker, {})).status).toBe(403)
      },
      { PROXY_SHARED_SECRET: "" }
    ))

  it("records what no webhook reported, and retries alerts once the channels are set up", () =>
    inWorker(async (worker) => {
      listed = [item("m-2", "bounced", new Date()), item("m-1", "delivered", new Date())]
      alertAnswer = UNCONFIGURED
      const first = JSON.parse((await poll(worker)).text)
      expect(first).toEqual({
        ok: true,
        truncated: false,
        pages: 1,
        seen: 2,
        recorded: 2,
        backfilled: 0,
        alerts: 0,
        alertsFailed: 1
      })
      alertAnswer = DELIVERED
      expect(JSON.parse((await poll(worker)).text)).toMatchObject({ recorded: 1, alerts: 1, alertsFailed: 0 })
      expect(JSON.parse((await poll(worker)).text)).toMatchObject({ seen: 2, recorded: 0, alerts: 0 })
      expect(alerts).toHaveLength(2)
      expect(await query("select email from email_suppressions where email = 'a@x.test'")).toEqual([])
    }))

  it("answers 502 with its counts where the provider refuses, and 503 without a key", async () => {
    await inWorker(
      async (worker) => {
        const answer = await poll(worker)
        expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
          502,
          { code: "POLL_FAILED", pages: 0, recorded: 0 }
        ])
        expect(answer.text + worker.lines.join()).not.toContain("re_wrong_key_4711")
      },
      { PROVIDERA_API_KEY: "re_wrong_key_4711" }
    )
    await inWorker(async (worker) => expect((await poll(worker)).status).toBe(503), {
      PROVIDERA_API_KEY: ""
    })
  })
})

describe("audit-digest in workerd", () => {
  const digest = async (
    worker: EdgeWorker,
    cadence = "daily",
    headers: Record<string, string> = { "x-proxy-secret": HEADER }
  ) => {
    const { status, text } = await post(worker, `audit-digest?cadence=${cadence}`, headers)
    return [status, JSON.parse(text)] as const
  }

  it("sends through the relay, one failure aside, and again only what failed", () =>
    inWorker(async (worker) => {
      await query(
        "insert into audit_digest_subscriptions (email, cadence, created_at) values ('admin@x.test', 'daily', '2020-01-01')"
      )
      expect(await digest(worker, "daily", {})).toMatchObject([403, { code: "FORBIDDEN" }])
      expect(await digest(worker, "hourly")).toMatchObject([400, { code: "INVALID_REQUEST" }])
      expect(relayed).toEqual([])
      relayStatus = 500
      expect(await digest(worker)).toMatchObject([502, { ok: false, sent: 0, failed: 1 }])
      relayStatus = 200
      expect(await digest(worker)).toEqual([200, { ok: true, sent: 1, suppressed: 0, failed: 0 }])
      expect(await digest(worker)).toEqual([200, { ok: true, sent: 0, suppressed: 0, failed: 0 }])
      expect(relayed).toHaveLength(2)
      expect(relayed[1]).toMatchObject({ secret: HEADER, body: { to: "admin@x.test" } })
    }))

  it("answers 500 where the relay's address is unset", () =>
    inWorker(async (worker) => expect((await digest(worker))[0]).toBe(500), {
      INTERNAL_SEND_EMAIL_URL: ""
    }))
})
