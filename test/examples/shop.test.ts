import { once } from "node:events"
import type { AddressInfo } from "node:net"

import { afterAll, assert, beforeAll, it } from "vitest"

import { makeHook, sendReceipt, unreachable } from "../../examples/shop.ts"
import { startPostlane, type TestPostlane } from "../../src/runtime/entries/testing.ts"
import { until } from "../support/until.ts"

const SECRET = `whsec_${Buffer.from("the secret of the shop's event hook").toString("base64")}`

const hook = makeHook(SECRET)
let postlane: TestPostlane
beforeAll(async () => {
  hook.listen(0, "127.0.0.1")
  await once(hook, "listening")
  const { port } = hook.address() as AddressInfo
  postlane = await startPostlane({
    env: { EVENT_HOOK_URL: `http://127.0.0.1:${port}/`, EVENT_HOOK_SECRET: SECRET }
  })
})
afterAll(async () => {
  hook.close()
  await postlane.close()
})

it("the receipt was sent once, with this subject, and the bounce marks the customer", async () => {
  const { sender } = postlane.clients
  await sendReceipt(sender, { id: 17, to: "ann@shop.test" })
  await sendReceipt(sender, { id: 17, to: "ann@shop.test" })
  await sendReceipt(sender, { id: 18, to: "bob@shop.test" })
  const receipt = await postlane.outbox.expectOne({
    to: "ann@shop.test",
    subject: "Your receipt for order 17"
  })
  assert.deepStrictEqual(
    receipt.links.map(({ href }) => href),
    ["https://shop.example.com/orders/17"]
  )
  await postlane.bounce(receipt)
  await until("she is marked", () => unreachable.has("ann@shop.test"))
  assert.deepStrictEqual([...unreachable], ["ann@shop.test"])
})
