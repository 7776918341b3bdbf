import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { Effect, Logger, Redacted } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { layer } from "../../../src/adapters/http-client/internal-alerts.ts"
import { Alerts } from "../../../src/application/delivery/alerts.ts"
import type { FailedSend } from "../../../src/domain/delivery/delivery-event.ts"
import { anyId } from "../../support/any-id.ts"

const SECRET = "proxy-secret-4711"
const failed: FailedSend = {
  sendId: anyId("0199a000-0000-7000-8000-000000000001"),
  provider: "provider_a",
  providerMessageId: "m-1",
  event: "bounced",
  recipients: ["a@x.test"],
  subject: undefined,
  category: undefined,
  source: "api:receipts",
  reason: "Permanent/General",
  occurredAt: undefined
}

let answer: { readonly status: number; readonly body: string }
const seen: Array<unknown> = []
const api = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    seen.push([request.headers["x-proxy-secret"], JSON.parse(Buffer.concat(chunks).toString())])
    response.writeHead(answer.status, { location: "/stolen" })
    response.end(answer.body)
  })
})
beforeAll(() => new Promise<void>((resolve) => void api.listen(0, "127.0.0.1", resolve)))
afterAll(() => new Promise((resolve) => void api.close(resolve)))

const raise = (options: { readonly url?: string | undefined; readonly secret?: string | undefined } = {}) => {
  const lines: Array<string> = []
  const url = "url" in options ? options.url : `http://127.0.0.1:${(api.address() as AddressInfo).port}/alert`
  const secret = "secret" in options ? options.secret : SECRET
  return Effect.runPromise(
    Alerts.use((alerts) => alerts.raise(failed)).pipe(
      Effect.provide(layer({ url, proxySecret: secret === undefined ? undefined : Redacted.make(secret) })),
      Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])),
      Effect.map(({ delivery, escalated }) => ({ delivery, escalated, log: lines.join("\n") }))
    )
  )
}

describe("an alert by way of the API", () => {
  it("is posted with the secret, and ends as the answer says", async () => {
    const cases = [
      [200, { success: true, delivery: "delivered" }, "delivered", undefined],
      [200, { success: true, delivery: "disabled" }, "disabled", undefined],
      [200, { success: true, delivery: "delivered", escalated: "telegram" }, "delivered", "telegram"],
      [503, { code: "ALERT_CHANNEL_UNCONFIGURED" }, "unconfigured", undefined],
      [503, { code: "SHUTTING_DOWN" }, "failed", undefined],
      [502, { code: "ALERT_FAILED" }, "failed", undefined],
      [403, { code: "FORBIDDEN" }, "failed", undefined],
      [200, { delivery: "unconfigured" }, "failed", undefined],
      [200, "<html>", "failed", undefined],
      [503, "<html>", "failed", undefined],
      [302, "", "failed", undefined]
    ] as const
    for (const [status, body, delivery, escalated] of cases) {
      answer = { status, body: typeof body === "string" ? body : JSON.stringify(body) }
      const end = await raise()
      assert.deepStrictEqual([end.delivery, end.escalated], [delivery, escalated], JSON.stringify(body))
      assert.notInclude(end.log, SECRET)
    }
    const { category: _c, occurredAt: _o, subject: _s, ...body } = failed
    assert.deepStrictEqual(seen[0], [SECRET, body])
    assert.lengthOf(seen, cases.length)
  })

  it("fails where nobody answers, and is unconfigured where it has nowhere to go", async () => {
    assert.strictEqual((await raise({ url: "http://127.0.0.1:1/alert" })).delivery, "failed")
    const nowhere = await raise({ url: undefined })
    assert.deepStrictEqual([nowhere.delivery, nowhere.escalated], ["unconfigured", undefined])
    assert.include(nowhere.log, "INTERNAL_ALERT_URL")
    assert.strictEqual((await raise({ secret: undefined })).delivery, "unconfigured")
  })
})
