import { readFileSync } from "node:fs"

import { Effect, Layer } from "effect"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import * as MemoryLog from "../../../../../src/adapters/memory/delivery/delivery-log.ts"
import { makeMailDatabase, type MailDatabase } from "../../../../../src/adapters/memory/mail/mail-store.ts"
import { Alerts } from "../../../../../src/application/delivery/alerts.ts"
import * as EventRecording from "../../../../../src/application/delivery/event-recording.ts"
import type { FailedSend } from "../../../../../src/domain/delivery/delivery-event.ts"
import { DeliveryIntake, DeliveryLog } from "../../../../../src/ports/delivery/delivery-log.ts"
import * as Intake from "../../../../../src/runtime/compose/delivery/delivery-intake.ts"
import { decodeSettings } from "../../../../../src/runtime/settings/settings.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, type Json, startServer } from "../../harness.ts"

const SIGNING = `whsec_${Buffer.from("a secret that has 24 byt").toString("base64")}`
const BUS = "bus-secret-4711"
const read = (name: string): ReadonlyArray<Json> =>
  JSON.parse(readFileSync(new URL(`../../../../support/vendors/${name}.json`, import.meta.url), "utf8"))
const resend = read("resend-events")
const ses = read("ses-events")
const bounced = resend.find(({ type }) => type === "email.bounced")
const busBounce = ses.find(({ detail }) => detail.eventType === "Bounce")

const PASSWORD = "postmark-secret-4711"
const settings = decodeSettings(
  { PROVIDERA_WEBHOOK_SECRET: SIGNING, POSTMARK_WEBHOOK_PASSWORD: PASSWORD },
  { embedded: true }
)
if (settings._tag === "Failure") throw new Error("settings")
const intake = Intake.layer(settings.success)

let database: MailDatabase
let alerts: Array<FailedSend>
let delivery: "delivered" | "failed" | "unconfigured"
let down: boolean
const heard: Array<string> = []
beforeEach(() => {
  database = makeMailDatabase()
  alerts = []
  delivery = "delivered"
  down = false
})
const log = Layer.effect(
  DeliveryLog,
  Effect.sync(() =>
    DeliveryLog.of({
      record: (event, options) =>
        down
          ? Effect.fail(storeDown("password=hunter2"))
          : Effect.flatMap(Effect.provide(Effect.service(DeliveryLog), MemoryLog.layer(database)), (memory) =>
              memory.record(event, options)
            ),
      heard: (provider) => Effect.sync(() => void heard.push(provider)),
      mailOfReport: () => Effect.undefined,
      traceparent: () => Effect.undefined,
      releaseAlert: (...given) => database.releaseAlert(...given),
      confirmAlert: (sendId) => database.confirmAlert(sendId),
      claimDueAlert: Effect.suspend(() => database.claimDueAlert)
    })
  )
)
const recording = EventRecording.layer.pipe(
  Layer.provide(log),
  Layer.provide(
    Layer.mock(Alerts, {
      raise: (failed) =>
        Effect.sync(() => {
          alerts.push(failed)
          return { delivery, escalated: undefined } as never
        })
    })
  )
)
const server = await startServer({ intake, recording, webhookSecret: BUS })
afterAll(() => server.stop())

const signed = (body: string | Uint8Array, at = new Date()) => ({
  "svix-id": "msg_1",
  "svix-timestamp": String(Math.floor(at.getTime() / 1000)),
  "svix-signature": new Webhook(SIGNING).sign("msg_1", at, Buffer.from(body))
})
const webhook = (body: string | Uint8Array, headers: Record<string, string> = signed(body)) =>
  call(server, "/functions/v1/provider-a-webhook", { method: "POST", headers, body })
const bus = (body: string, headers: Record<string, string> = { "x-webhook-secret": BUS }) =>
  call(server, "/api/webhooks/providerb-events", {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body
  })
const text = JSON.stringify(bounced)
const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`

const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`postlane:${password}`).toString("base64")}`
})
const postmark = (body: string, headers: Record<string, string> = basic(PASSWORD), on = server) =>
  call(on, "/functions/v1/postmark-webhook", { method: "POST", headers, body })

describe("the webhook of postmark", () => {
  const hard = JSON.stringify({
    RecordType: "Bounce",
    Type: "HardBounce",
    MessageID: "m-1",
    Email: "ann@example.test",
    BouncedAt: "2026-11-05T16:33:54.9070259Z",
    Inactive: true
  })

  it("records, suppresses and alerts once, and acknowledges the same event again (E1)", async () => {
    for (let round = 0; round < 2; round += 1) {
      const answer = await postmark(hard)
      expect([answer.status, answer.json]).toEqual([200, { ok: true }])
    }
    expect(database.rows().map(({ provider, status }) => [provider, status])).toEqual([
      ["postmark", "bounced"]
    ])
    expect(database.suppressions()).toEqual([{ email: "ann@example.test", reason: "hard_bounce" }])
    expect(alerts).toHaveLength(1)
  })

  it("answers 401 without its credentials, since a 403 would end Postmark's tries, and records nothing", async () => {
    const unset = decodeSettings({}, { embedded: true })
    if (unset._tag === "Failure") throw new Error("settings")
    const open = await startServer({ intake: Intake.layer(unset.success), recording })
    const refusals = [
      await postmark(hard, {}),
      await postmark(hard, basic("")),
      await postmark(hard, basic("other")),
      await postmark(hard, signed(hard)),
      await postmark(hard, { ...basic(PASSWORD), authorization: `Bearer ${PASSWORD}` }),
      await postmark(hard, basic(PASSWORD), open),
      await postmark(hard, basic(""), open)
    ]
    for (const { json, status } of refusals) expect([status, json.code]).toEqual([401, "UNAUTHENTICATED"])
    await open.stop()
    expect([database.rows(), alerts]).toEqual([[], []])
    expect([...server.logs, ...open.logs].join("\n")).not.toContain(PASSWORD)
  })

  it("is not read either without its credentials", () => {
    const { webhooks } = Effect.runSync(Effect.provide(Effect.service(DeliveryIntake), intake))
    const ours = webhooks["postmark-webhook"]
    const taken = (headers: Record<string, string>) => ours.read(Buffer.from(hard), headers)._tag
    expect([taken({}), taken(basic("other")), taken(basic(PASSWORD))]).toEqual([
      "Failure",
      "Failure",
      "Success"
    ])
  })

  it("refuses what is no event, ignores what is none of ours, and asks again where nothing was recorded", async () => {
    for (const junk of ["", "no json", `{"RecordType":"Open","MessageID":"m","x":${deep(5_000)}}`])
      expect((await postmark(junk)).status).toBe(400)
    expect((await postmark("x".repeat(10_000_000))).status).toBe(413)
    expect((await postmark('{"RecordType":"Inbound"}')).json).toEqual({ ok: true, ignored: true })
    expect((await postmark('{"RecordType":"Open"}')).json).toMatchObject({
      ok: true,
      warning: expect.any(String)
    })
    down = true
    expect((await postmark(hard)).status).toBe(500)
  })
})

describe("the webhook of provider_a", () => {
  it("records, suppresses and alerts once, and acknowledges the same event again (E1)", async () => {
    for (let round = 0; round < 2; round += 1) {
      const answer = await webhook(text)
      expect([answer.status, answer.json]).toEqual([200, { ok: true }])
    }
    expect(database.rows().map(({ status }) => status)).toEqual(["bounced"])
    expect(database.suppressions()).toEqual([{ email: bounced.data.to[0], reason: "hard_bounce" }])
    expect(alerts).toHaveLength(1)
  })

  it("refuses with 400 what is not signed, not signed now, or was changed (W1)", async () => {
    const headers = signed(text)
    const refusals = [
      await webhook(text, {}),
      await webhook(text, { ...headers, "svix-signature": "v1,AAAA" }),
      await webhook(text, signed(text, new Date(Date.now() - 310_000))),
      await webhook(text, signed(text, new Date(Date.now() + 310_000))),
      await webhook(`${text} `, headers),
      await webhook(text.slice(0, -1), headers),
      await webhook(new Uint8Array([0xff, 0xfe]), headers)
    ]
    for (const { json, status } of refusals) expect([status, json.code]).toEqual([400, "INVALID_REQUEST"])
    expect((await webhook("x".repeat(10_000_000))).status).toBe(413)
    for (const junk of ["", "no json", `{"type":"email.sent","data":{"email_id":"m","x":${deep(5_000)}}}`]) {
      expect((await webhook(junk)).status).toBe(400)
    }
    expect([database.rows(), alerts]).toEqual([[], []])
  })

  it("refuses everybody with 403 where its secret is unset", async () => {
    const unset = decodeSettings({}, { embedded: true })
    if (unset._tag === "Failure") throw new Error("settings")
    const open = await startServer({ intake: Intake.layer(unset.success), recording })
    for (const headers of [signed(text), {}]) {
      const answer = await call(open, "/functions/v1/provider-a-webhook", {
        method: "POST",
        headers,
        body: text
      })
      expect([answer.status, answer.json.code]).toEqual([403, "FORBIDDEN"])
    }
    expect(database.rows()).toEqual([])
    await open.stop()
  })

  it("acknowledges what it ignores, and warns of an event without an id", async () => {
    const inbound = resend.find(({ type }) => type === "email.received")
    expect((await webhook(JSON.stringify(inbound))).json).toEqual({ ok: true, ignored: true })
    for (const body of ["null", "7", '"x"', "[]", deep(100)])
      expect((await webhook(body)).json.ignored).toBe(true)
    const nameless = await webhook('{"type":"email.bounced","data":{}}')
    expect([nameless.status, nameless.json.warning]).toEqual([200, "the event has no email id"])
    expect(database.rows()).toEqual([])
  })

  it("answers 502 where the alert failed and alerts on the next one, 200 where no channel is set up (A1)", async () => {
    delivery = "failed"
    const failed = await webhook(text)
    expect([failed.status, failed.json.code, failed.json.retryable]).toEqual([502, "ALERT_FAILED", true])
    delivery = "unconfigured"
    expect((await webhook(text)).status).toBe(200)
    delivery = "delivered"
    expect((await webhook(text)).status).toBe(200)
    expect((await webhook(text)).status).toBe(200)
    expect(alerts).toHaveLength(3)
  })

  it("does not acknowledge what was not recorded, and leaks nothing (E1)", async () => {
    down = true
    const answer = await webhook(text)
    expect([answer.status, answer.json.retryable]).toEqual([500, true])
    expect(answer.text).not.toContain("hunter2")
  })
})

describe("what webhooks refuse", () => {
  it("is counted by source and reason, and logged in one line a minute for each", async () => {
    const own = await startServer({ intake, recording, webhookSecret: BUS })
    const counts = async () => {
      const { text: metrics } = await call(own, "/metrics")
      const found = metrics.matchAll(/^postlane_webhook_refused_total\{(.*)\} (\d+)/gm)
      return Object.fromEntries(
        Array.from(found, ([, labels, count]) => {
          const [source] = /(?<=source=")\w+/.exec(labels ?? "") ?? []
          const [reason] = /(?<=reason=")\w+/.exec(labels ?? "") ?? []
          return [`${source} ${reason}`, Number(count)]
        })
      )
    }
    const before = await counts()
    const post = (path: string, headers: Record<string, string>) =>
      call(own, path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: "no json"
      })
    for (let round = 0; round < 3; round += 1) {
      await post("/functions/v1/provider-a-webhook", {})
      await post("/functions/v1/provider-a-webhook", signed("no json"))
      await post("/api/webhooks/providerb-events", { "x-webhook-secret": "wrong" })
      await post("/api/webhooks/providerb-events", { "x-webhook-secret": BUS })
    }
    const after = await counts()
    for (const key of ["provider_a signature", "provider_a body", "provider_b secret", "provider_b body"])
      expect([key, (after[key] ?? 0) - (before[key] ?? 0)]).toEqual([key, 3])
    await own.stop()
    const lines = [...server.logs, ...own.logs].filter((line) => line.includes("a webhook was refused"))
    const kinds = lines.map((line) => {
      const { annotations } = JSON.parse(line)
      return `${annotations.source} ${annotations.reason}`
    })
    expect(kinds.toSorted()).toEqual([...new Set(kinds)].toSorted())
    expect(kinds).toEqual(expect.arrayContaining(["provider_a signature", "provider_b secret"]))
    expect([...server.logs, ...own.logs].join("\n")).not.toContain(BUS)
  })

  it("is logged where the secret is unset, which refuses everybody", async () => {
    const unset = decodeSettings({}, { embedded: true })
    if (unset._tag === "Failure") throw new Error("settings")
    const open = await startServer({ intake: Intake.layer(unset.success), recording })
    await call(open, "/functions/v1/provider-a-webhook", {
      method: "POST",
      headers: signed(text),
      body: text
    })
    await call(open, "/api/webhooks/providerb-events", {
      method: "POST",
      headers: { "x-webhook-secret": "x" }
    })
    const { text: metrics } = await call(open, "/metrics")
    for (const source of ["provider_a", "provider_b"]) {
      expect(metrics.split("\n")).toContainEqual(
        expect.stringMatching(
          new RegExp(
            `^postlane_webhook_refused_total\\{(?=.*source="${source}")(?=.*reason="secret_unset").*\\} [1-9]`
          )
        )
      )
    }
    await open.stop()
  })
})

it("a webhook that brings events is noted, once in a while for each provider", async () => {
  heard.length = 0
  await webhook(text)
  await webhook(text)
  await bus(JSON.stringify(ses))
  expect(new Set(heard).size).toBe(heard.length)
  expect(heard.length).toBeLessThanOrEqual(2)
})

describe("the event bus of provider_b", () => {
  it("records one envelope and a list of them (E1)", async () => {
    expect((await bus(JSON.stringify(busBounce))).json).toEqual({ ok: true, recorded: 1, ignored: 0 })
    expect((await bus(JSON.stringify(ses))).json).toEqual({ ok: true, recorded: 11, ignored: 1 })
    expect(database.rows().map(({ status }) => status)).toEqual(["bounced"])
    expect(alerts).toHaveLength(1)
  })

  it("refuses callers without the secret (W1)", async () => {
    for (const headers of [{}, { "x-webhook-secret": "" }, { "x-webhook-secret": `${BUS}x` }]) {
      const answer = await bus(JSON.stringify(busBounce), headers)
      expect([answer.status, answer.json.code]).toEqual([403, "FORBIDDEN"])
    }
    expect(database.rows()).toEqual([])
    const unset = await startServer({ intake, recording })
    const path = "/api/webhooks/providerb-events"
    expect((await call(unset, path, { method: "POST", headers: { "x-webhook-secret": "" } })).status).toBe(
      403
    )
    await unset.stop()
  })

  it("refuses what is no JSON, too large or too deep", async () => {
    expect((await bus("no json")).status).toBe(400)
    expect((await bus(JSON.stringify(busBounce).slice(0, -1))).status).toBe(400)
    expect((await bus(`"${"x".repeat(10_000_000)}"`)).status).toBe(413)
    const nested = JSON.stringify(busBounce).replace('"version"', `"x":${deep(5_000)},"version"`)
    expect((await bus(nested)).status).toBe(400)
    expect(database.rows()).toEqual([])
  })

  it("answers 500 where an event was not recorded (E1)", async () => {
    down = true
    const answer = await bus(JSON.stringify([busBounce]))
    expect([answer.status, answer.json.retryable]).toEqual([500, true])
  })
})
