import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { layer as memoryPreferences } from "../../../../../src/adapters/memory/delivery/alert-preferences.ts"
import { AlertPlaces } from "../../../../../src/application/delivery/alert-places.ts"
import type { Answered } from "../../../../../src/application/delivery/alert-ways.ts"
import { type AlertOutcome, Alerts } from "../../../../../src/application/delivery/alerts.ts"
import type { FailedSend } from "../../../../../src/domain/delivery/delivery-event.ts"
import { SuppressionList, type SuppressionRow } from "../../../../../src/ports/mail/suppression-list.ts"
import { admin, call, relay, startServer, type TestServer } from "../../harness.ts"

const alert = {
  sendId: "0199a000-0000-7000-8000-000000000001",
  provider: "provider_a",
  providerMessageId: "m-1",
  event: "bounced",
  recipients: ["a@x.test"],
  subject: "s",
  category: "transactional",
  source: "api:receipts",
  reason: null,
  occurredAt: "2026-01-02T03:04:05Z"
}
const row: SuppressionRow = {
  email: "a@x.test",
  reason: "manual",
  note: null,
  created_at: "2026-01-02T03:04:05.678901Z"
}

const CHANNELS = {
  email: { configured: true, where: "ops@x.test", settings: "ALERT_EMAIL" },
  chat: { configured: false, where: null, settings: "CHAT_ID" }
}
let takes: Answered = { answer: "took" }
const tried: Array<readonly [string, string]> = []
let next: AlertOutcome = { delivery: "delivered", escalated: undefined }
const raised: Array<FailedSend> = []
const asked: Array<unknown> = []
let server: TestServer
beforeAll(async () => {
  server = await startServer({
    alerts: Layer.succeed(
      Alerts,
      Alerts.of({
        raise: (failed) =>
          Effect.sync(() => {
            raised.push(failed)
            return next
          })
      })
    ),
    preferences: memoryPreferences,
    alertPlaces: Layer.succeed(
      AlertPlaces,
      AlertPlaces.of({
        places: { email: CHANNELS.email, chat: { ...CHANNELS.chat, where: undefined } },
        test: (channel, actor) =>
          Effect.sync(() => {
            tried.push([channel, actor])
            return channel === "email" ? takes : undefined
          })
      })
    ),
    suppressions: Layer.succeed(
      SuppressionList,
      SuppressionList.of({
        page: (filter) => Effect.sync(() => (asked.push(filter), { rows: [row], nextCursor: null })),
        add: (entry) => Effect.sync(() => (asked.push(entry), row)),
        addAll: () => Effect.die("not here"),
        remove: (entry) => Effect.sync(() => (asked.push(entry), entry.email === "a@x.test" ? 2 : 0))
      })
    )
  })
})
afterAll(() => server.stop())

const post = (body: unknown, headers: Record<string, string> = {}) =>
  relay(server, body, headers, "/internal/email-alert")

describe("POST /internal/email-alert", () => {
  it.each([
    [{ delivery: "delivered", escalated: undefined }, 200, { success: true, delivery: "delivered" }],
    [{ delivery: "disabled", escalated: undefined }, 200, { success: true, delivery: "disabled" }],
    [
      { delivery: "delivered", escalated: "telegram" },
      200,
      { success: true, delivery: "delivered", escalated: "telegram" }
    ]
  ] as const)("%j: %i", async (outcome, status, body) => {
    next = outcome
    const answer = await post(alert)
    expect([answer.status, answer.json]).toEqual([status, body])
    expect(raised.at(-1)).toEqual({ ...alert, reason: undefined })
  })

  it.each([
    ["unconfigured", 503, "ALERT_CHANNEL_UNCONFIGURED"],
    ["failed", 502, "ALERT_FAILED"]
  ] as const)("%s: %i %s", async (delivery, status, code) => {
    next = { delivery, escalated: undefined }
    const answer = await post(alert)
    expect([answer.status, answer.json.code]).toEqual([status, code])
    expect(answer.headers["content-type"]).toBe("application/problem+json")
  })

  it("403 without the secret, 400 for what does not decode; nothing is raised", async () => {
    const before = raised.length
    expect((await post(alert, { "x-proxy-secret": "nope" })).status).toBe(403)
    for (const [body, path] of [
      ["{", ""],
      [{ ...alert, sendId: "1" }, "sendId"],
      [{ ...alert, recipients: "a@x.test" }, "recipients"],
      [{ ...alert, provider: "provider_c" }, "provider"]
    ] as const) {
      const answer = await post(body)
      expect([answer.status, answer.json.issues[0].path]).toEqual([400, path])
    }
    expect((await post("x".repeat(300 * 1024))).status).toBe(413)
    expect(raised).toHaveLength(before)
  })
})

const send = (method: string, path: string, body?: unknown) =>
  call(server, path, {
    method,
    headers: { ...admin, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

describe("/api/admin/notifications", () => {
  it("is read, replaced and read again; a wrong body changes nothing", async () => {
    const path = "/api/admin/notifications"
    expect((await call(server, path)).status).toBe(401)
    const off = { email_delivery_failure: { email: false, chat: false } }
    expect((await send("GET", path)).json).toEqual({
      email_delivery_failure: { email: true, chat: true },
      channels: CHANNELS
    })
    const put = await send("PUT", path, off)
    expect([put.status, put.json]).toEqual([200, off])
    expect((await send("PUT", path, { email_delivery_failure: { email: 1 } })).status).toBe(400)
    expect((await send("GET", path)).json).toEqual({ ...off, channels: CHANNELS })
  })

  it("is tried by one channel: taken, not taken, not configured", async () => {
    const path = "/api/admin/notifications/test"
    tried.length = 0
    const sent = await send("POST", path, { channel: "email" })
    expect([sent.status, sent.json]).toEqual([200, { channel: "email" }])
    expect(tried).toEqual([["email", "admin"]])
    takes = { answer: "failed", error: "the provider is down" }
    const failed = await send("POST", path, { channel: "email" })
    expect([failed.status, failed.json.code]).toEqual([502, "ALERT_FAILED"])
    expect(failed.json.detail).toContain("the provider is down")
    const none = await send("POST", path, { channel: "chat" })
    expect([none.status, none.json.code]).toEqual([503, "ALERT_CHANNEL_UNCONFIGURED"])
    for (const body of [{}, { channel: "pigeon" }, { channel: ["email"] }])
      expect((await send("POST", path, body)).status).toBe(400)
    expect((await call(server, path, { method: "POST" })).status).toBe(401)
  })
})

describe("/api/admin/email-suppressions", () => {
  const path = "/api/admin/email-suppressions"

  it("lists with filters, the address in its stored form", async () => {
    expect((await call(server, path)).status).toBe(401)
    const answer = await send("GET", `${path}?email=A%40X.test&reason=manual&limit=2`)
    expect([answer.status, answer.json]).toEqual([200, { rows: [row], nextCursor: null }])
    expect(asked.at(-1)).toEqual({ email: "a@x.test", reason: "manual", limit: 2, cursor: undefined })
    expect((await send("GET", `${path}?reason=other`)).status).toBe(400)
  })

  it("adds a manual one, with who and why; refuses what is no address", async () => {
    const answer = await send("POST", path, { email: "Ann <A@X.test>", note: "asked" })
    expect([answer.status, answer.json]).toEqual([200, row])
    expect(asked.at(-1)).toEqual({ email: "a@x.test", actor: "admin", note: "asked" })
    for (const email of ["nobody", "a@b", "a@localhost"]) {
      const wrong = await send("POST", path, { email })
      expect([wrong.status, wrong.json.issues[0].path]).toEqual([400, "email"])
    }
  })

  it("removes, with who and why; 404 where there is none", async () => {
    const answer = await send("DELETE", `${path}/A%40X.test?note=fixed`)
    expect([answer.status, answer.json]).toEqual([200, { removed: 2 }])
    expect(asked.at(-1)).toEqual({ email: "a@x.test", actor: "admin", note: "fixed" })
    const none = await send("DELETE", `${path}/b%40x.test`)
    expect([none.status, none.json.code]).toEqual([404, "NOT_FOUND"])
  })
})
