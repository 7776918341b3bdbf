import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { afterAll, assert, beforeAll, it } from "vitest"

import { makeShop, sendNewsletter, sendReset, unreachable } from "../../examples/shop.ts"
import { startPostlane, type TestPostlane } from "../../src/runtime/entries/testing.ts"
import { until } from "../support/until.ts"

const SECRET = `whsec_${Buffer.from("the secret of the shop's event hook").toString("base64")}`

const shop = createServer()
let url: string
let postlane: TestPostlane
beforeAll(async () => {
  await once(shop.listen(0, "127.0.0.1"), "listening")
  url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`
  const hook = { EVENT_HOOK_URL: `${url}/hooks/postlane`, EVENT_HOOK_SECRET: SECRET }
  postlane = await startPostlane({ env: { ...hook, BASE_URL: "https://localhost" } })
  shop.on("request", makeShop(postlane.clients.sender, SECRET))
})
afterAll(async () => {
  shop.close()
  await postlane.close()
})

const ask = async (order: number, to: string) => {
  const headers = { "content-type": "application/json" }
  return (
    await fetch(`${url}/orders/${order}/receipt`, { method: "POST", headers, body: JSON.stringify({ to }) })
  ).status
}

it("the receipt was sent once, with this subject, and the bounce marks the customer", async () => {
  for (const [order, to] of [
    [17, "ann@shop.test"],
    [17, "ann@shop.test"],
    [18, "bob@shop.test"]
  ] as const)
    assert.strictEqual(await ask(order, to), 202)
  const receipt = await postlane.outbox.expectOne({
    to: "ann@shop.test",
    subject: "Your receipt for order 17"
  })
  assert.strictEqual(receipt.links[0]?.href, "https://shop.example.com/orders/17")
  await postlane.bounce(receipt)
  await until("she is marked", () => unreachable.has("ann@shop.test"))
  assert.deepStrictEqual([...unreachable], ["ann@shop.test"])
})

it("a password can be reset, and nobody else may post events", async () => {
  await sendReset(postlane.clients.sender, "cy@shop.test", "https://shop.example.com/reset/4711")
  await postlane.outbox.expectOne({ to: "cy@shop.test", subject: "Set a new password" })
  const forged = await fetch(`${url}/hooks/postlane`, {
    method: "POST",
    body: JSON.stringify({ type: "email.bounced", data: { to: ["bob@shop.test"], permanent: true } })
  })
  assert.deepStrictEqual([forged.status, unreachable.has("bob@shop.test")], [400, false])
})

it("the newsletter reaches each reader once, with a link to leave it", async () => {
  const readers = Array.from({ length: 3 }, (_, n) => `reader${n}@shop.test`)
  await sendNewsletter(postlane.clients.sender, "12", readers)
  await sendNewsletter(postlane.clients.sender, "12", readers)
  await until("all have it", async () => (await postlane.outbox.list({ subject: "News 12" })).length === 3)
  const one = await postlane.outbox.expectOne({ to: "reader2@shop.test", subject: "News 12" })
  assert.match(one.headers["list-unsubscribe"] ?? "", /^<https:\/\/localhost\/unsubscribe\//)
  assert.match(one.links[0]?.href ?? "", /^https:\/\/localhost\/unsubscribe\//)
})
