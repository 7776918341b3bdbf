import type { AddressInfo } from "node:net"

import { afterAll, afterEach, assert, beforeAll, describe, expect, it } from "vitest"

import { remind } from "../../examples/cron.ts"
import { app } from "../../examples/express.ts"
import { POST } from "../../examples/next-route.ts"
import { close } from "../../src/runtime/entries/library.ts"
import { bundleForEdge } from "../support/processes/edge-bundle.ts"
import { startEdgeWorker } from "../support/processes/edge-worker.ts"
import { fakeResend } from "../support/vendors/fake-resend.ts"

const provider = fakeResend()
const SETTINGS = { PROVIDERA_API_KEY: "re_key", PROVIDERA_BASE_URL: "" }
const before = { ...process.env }
beforeAll(async () => {
  await provider.listen()
  Object.assign(process.env, SETTINGS, { PROVIDERA_BASE_URL: provider.url })
})
afterEach(() => provider.always("ok"))
afterAll(async () => {
  for (const name of Object.keys(SETTINGS)) {
    const value = before[name]
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  await close()
  await provider.close()
})

const keys = () => provider.accepted.map(({ key }) => key)

describe("the examples", () => {
  it("express", async () => {
    const server = app.listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders/17/receipt`
    const ask = (order: number) =>
      fetch(url.replace("/17/", `/${order}/`), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"to":"a@x.test"}'
      })
    expect((await ask(17)).status).toBe(202)
    await provider.always("refused")
    const refused = await ask(18)
    expect([refused.status, await refused.json()]).toEqual([502, { error: expect.any(String) }])
    expect(keys()).toContain("receipt/17")
    await new Promise((resolve) => server.close(resolve))
  })

  it("a route handler of Next", async () => {
    const count = provider.accepted.length
    const body = '{"email":"a@x.test"}'
    const answer = await POST(new Request("https://x.test/api/sign-in", { method: "POST", body }))
    expect([answer.status, provider.accepted.length - count]).toEqual([202, 1])
  })

  it("a cron job", async () => {
    const due = ["1", "2"].map((id) => ({ id, to: `${id}@x.test`, text: "t" }))
    expect(await remind("2026-01-01", due)).toEqual([])
    expect(keys()).toEqual(expect.arrayContaining(["reminder/2026-01-01/1", "reminder/2026-01-01/2"]))
  })

  it("Hono in workerd", async () => {
    const { script } = await bundleForEdge(new URL("../../examples/hono-worker.ts", import.meta.url))
    const worker = await startEdgeWorker({
      script,
      bindings: { PROVIDERA_API_KEY: "re_key", PROVIDERA_BASE_URL: provider.url }
    })
    const body = JSON.stringify({ email: "v@x.test", id: "7", message: "Hello" })
    const { status, text } = await worker.request("/contact", { method: "POST", body })
    await worker.dispose()
    assert.strictEqual(status, 202, text)
    expect(keys()).toContain("contact/7")
  })
})
