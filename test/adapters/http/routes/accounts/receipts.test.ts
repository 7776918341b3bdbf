import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

import type { SendRequest } from "../../../../../src/domain/mail/message.ts"
import { relay, sent, startServer, type TestServer } from "../../harness.ts"

const RECEIPT = {
  receiptId: "R-1",
  email: "Ann@Reader.test",
  customer: "Ann",
  paidAt: "2026-02-03T00:00:00Z",
  lines: [{ text: "100 credits", amountUsd: 9.5 }],
  totalUsd: 9.5
}

const requests: Array<SendRequest> = []
let fails = false
let server: TestServer
beforeAll(async () => {
  server = await startServer({
    send: (request) =>
      Effect.sync(() => {
        requests.push(request)
        return fails
          ? {
              ...sent,
              ok: false as const,
              status: "failed" as const,
              provider: "provider_a" as const,
              providerMessageId: null,
              kind: "rejected" as const,
              error: "no"
            }
          : sent
      })
  })
})
afterAll(() => server.stop())
beforeEach(() => {
  fails = false
  requests.length = 0
})

const post = (body: unknown, headers: Record<string, string> = {}) =>
  relay(server, body, headers, "/internal/receipts")

describe("POST /internal/receipts", () => {
  it("mails the receipt under the payment's key", async () => {
    const answer = await post(RECEIPT)
    expect([answer.status, answer.json]).toEqual([200, { receiptSent: true }])
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({
      to: "Ann@reader.test",
      category: "transactional",
      source: "api:receipts",
      idempotencyKey: "receipt:R-1"
    })
    expect(requests[0]?.text).toContain("$9.50")
  })

  it("never says sent where the mail did not go out", async () => {
    fails = true
    expect((await post(RECEIPT)).json).toEqual({ receiptSent: false })
  })

  it.each([
    ["email", { email: "nobody" }],
    ["paidAt", { paidAt: "yesterday" }],
    ["lines", { lines: [] }],
    ["totalUsd", { totalUsd: "9.50" }],
    ["receiptId", { receiptId: "" }],
    ["receiptId", { receiptId: "R\n1" }],
    ["receiptId", { receiptId: "R\u00001" }]
  ])("names a wrong %s, and sends nothing", async (path, change) => {
    const answer = await post({ ...RECEIPT, ...change })
    expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
    expect(answer.json.issues.map((issue: { readonly path: string }) => issue.path)).toEqual([path])
    expect(requests).toEqual([])
  })

  it("lets nobody in without the secret, before the body is read", async () => {
    const answer = await post("{", { "x-proxy-secret": "wrong" })
    expect([answer.status, answer.json.code]).toEqual([403, "FORBIDDEN"])
    expect(requests).toEqual([])
  })
})
