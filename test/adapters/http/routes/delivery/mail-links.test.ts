import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Redacted } from "effect"
import * as Mac from "effect/crypto/Mac"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import { withoutLinkTokens } from "../../../../../src/adapters/http/around/link-tokens.ts"
import { layer } from "../../../../../src/application/delivery/mail-links.ts"
import type { EmailLogRow } from "../../../../../src/domain/delivery/email-log-row.ts"
import { AuditNotes } from "../../../../../src/ports/accounts/audit-log.ts"
import { InvalidCursor } from "../../../../../src/ports/cursor.ts"
import type { EmailLogFilter } from "../../../../../src/ports/delivery/email-log-query.ts"
import { Unsubscribes } from "../../../../../src/ports/outreach/campaign-book.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { admin, call, startServer } from "../../harness.ts"

const row: EmailLogRow = {
  id: "0199a000-0000-7000-8000-000000000001",
  created_at: "2026-01-02T03:04:05.678901Z",
  updated_at: "2026-01-02T03:04:05.678901Z",
  category: "transactional",
  source: "api:shop",
  from_address: "shop@x.test",
  to_addresses: ["anna@x.test", "secret-other@x.test"],
  other_addresses: ["secret-boss@x.test"],
  dropped_addresses: [],
  subject: "Receipt <b>17</b>",
  outcome: "sent",
  status: "bounced",
  last_event: "bounced",
  last_event_at: "2026-01-02T03:05:00.000000Z",
  error: "550 secret-other@x.test is unknown",
  error_kind: null,
  failed_over: false,
  cost_usd: 0.0001,
  idempotency_key: "secret-key",
  provider: "provider_b",
  provider_message_id: "secret-id",
  alerted_at: null,
  raw: { secret: "secret-raw" }
}

let notes: Array<{ readonly action: string; readonly target: string }>
let rows: ReadonlyArray<EmailLogRow>
let asked: EmailLogFilter | undefined
let down: boolean
beforeEach(() => {
  notes = []
  rows = [row]
  asked = undefined
  down = false
})

/** Links that are signed with a key of these bytes. */
const linksBy = (byte: number) =>
  layer.pipe(
    Layer.provide([
      Layer.mock(Unsubscribes, { key: Effect.succeed(Redacted.make(new Uint8Array(32).fill(byte))) }),
      Layer.succeed(AuditNotes, { add: (note) => Effect.sync(() => void notes.push(note)) }),
      Mac.layerWebCrypto
    ]),
    Layer.provide(NodeCrypto.layer)
  )
const page = (filter: EmailLogFilter) => {
  asked = filter
  if (down) return Effect.fail(storeDown("password=hunter2"))
  return filter.cursor === "forged"
    ? Effect.fail(new InvalidCursor({ cursor: filter.cursor }))
    : Effect.succeed({ rows, nextCursor: filter.cursor === undefined ? "a&b" : null })
}
const server = await startServer({ mailLinks: linksBy(1), page })
const other = await startServer({ mailLinks: linksBy(2), page })
afterAll(() => Promise.all([server.stop(), other.stop()]))

const make = (body: unknown, headers: Readonly<Record<string, string>> = admin) =>
  call(server, "/api/admin/mail-links", {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
const pathOf = async (recipient: string, days?: number) => {
  const { json } = await make({ recipient, ...(days === undefined ? {} : { days }) })
  return new URL(json.url).pathname
}
const HTML = { accept: "text/html" }

describe("links to one address's mail (EVENT-67)", () => {
  it("show its mails and nothing of anybody else, without a session", async () => {
    const path = await pathOf("Anna <ANNA@x.test>")
    const answer = await call(server, path, { headers: HTML })
    expect(answer.status).toBe(200)
    expect(asked).toEqual({ recipient: "anna@x.test", by: "mail", limit: 50, cursor: undefined })
    expect(answer.text).toContain("Receipt &lt;b&gt;17&lt;/b&gt;")
    expect(answer.text).toContain("bounced")
    expect(answer.text).not.toContain("secret")
    expect(answer.headers).toMatchObject({
      "cache-control": "private, no-store",
      "x-robots-tag": "noindex, nofollow",
      "referrer-policy": "no-referrer"
    })
    expect(answer.headers["content-security-policy"]).toContain("form-action 'none'")
    expect(answer.text).toContain('href="?cursor=a%26b"')
    expect((await call(server, `${path}?cursor=a%26b`, { headers: HTML })).text).not.toContain("Older mail")
    expect(notes).toEqual([{ action: "mail_link", actor: expect.any(String), target: "anna@x.test" }])
  })

  it("hide the subjects of sign-in mails, and say who was left out", async () => {
    rows = [
      { ...row, category: "auth", subject: "Your code is 123456" },
      { ...row, subject: "News", status: "sent", dropped_addresses: ["anna@x.test"] }
    ]
    const { text } = await call(server, await pathOf("anna@x.test"), { headers: HTML })
    expect(text).not.toContain("123456")
    expect(text).toContain("The address is on the suppression list.")
  })

  it("end after their days, and no other text opens anything", async () => {
    const path = await pathOf("anna@x.test")
    const [head = "", tail = ""] = path.slice("/customer-mail/".length).split(".")
    const payload = Buffer.from(head, "base64url").toString("utf8")
    const [end = "", address = ""] = payload.split("\n")
    expect(Number(end) - Date.now()).toBeLessThanOrEqual(7 * 86_400_000)
    expect(Number(end) - Date.now()).toBeGreaterThan(7 * 86_400_000 - 60_000)
    const signedAs = (text: string) => `${Buffer.from(text).toString("base64url")}.${tail}`
    asked = undefined
    for (const token of [
      head,
      `${head}.`,
      `.${tail}`,
      `${head}.${tail}x`,
      `${head}.${tail}.`,
      signedAs(`${Number(end) + 1}\n${address}`),
      signedAs(`${end}\nberta@x.test`),
      "x".repeat(2000)
    ]) {
      const answer = await call(server, `/customer-mail/${token}`)
      expect([answer.status, answer.json.code]).toEqual([404, "NOT_FOUND"])
    }
    // Another installation's key.
    expect((await call(other, path)).status).toBe(404)
    expect((await call(server, `${path}x`, { headers: HTML })).text).toContain("This link does not work")
    expect(asked).toBeUndefined()
  })

  it("are made by admins who may write, for an address, for 30 days at most", async () => {
    expect((await make({ recipient: "anna@x.test" }, {})).status).toBe(401)
    for (const [body, path] of [
      [{ recipient: "" }, "recipient"],
      [{ recipient: "a@x.test, b@x.test" }, "recipient"],
      [{ recipient: "a@x.test\nb@x.test" }, "recipient"],
      [{ recipient: `${"a".repeat(400)}@x.test` }, "recipient"],
      [{ recipient: "a@x.test", days: 31 }, "days"],
      [{ recipient: "a@x.test", days: 0.5 }, "days"],
      [{ recipient: "a@x.test", hours: 1 }, "hours"],
      [{}, "recipient"]
    ] as const) {
      const answer = await make(body)
      expect([body, answer.status, answer.json.issues?.[0]?.path]).toEqual([body, 400, path])
    }
    expect(notes).toEqual([])
  })

  it("say nothing of what is wrong behind them, and their tokens are in no address that is logged", async () => {
    const path = await pathOf("anna@x.test", 1)
    expect((await call(server, `${path}?cursor=forged`)).status).toBe(404)
    down = true
    const answer = await call(server, path)
    expect([answer.status, answer.text.includes("hunter2")]).toEqual([503, false])
    expect(withoutLinkTokens(`${path}?cursor=x`)).toBe("/customer-mail/:token?cursor=x")
  })
})
