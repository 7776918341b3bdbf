import { deepEqual, equal } from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { after, test } from "node:test"

import { startPostlane } from "postlane/testing"

import { makeShop, unreachable } from "./shop.ts"

const server = createServer()
await once(server.listen(0, "127.0.0.1"), "listening")
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const postlane = await startPostlane({ env: { EVENT_HOOK_URL: `${url}/hooks/postlane` } })
server.on("request", makeShop(postlane.clients.sender, postlane.secrets.hookSecret))
after(() => void server.close())
after(() => postlane.close())

const orderPage = () =>
  fetch(`${url}/orders/17/receipt`, { method: "POST", body: new URLSearchParams({ to: "ann@shop.test" }) })

test("the receipt was sent once, with this subject, and the bounce marks the customer", async () => {
  for (const { status } of [await orderPage(), await orderPage()]) equal(status, 202)
  const receipt = await postlane.outbox.expectOne({ to: "ann@shop.test", subject: /receipt for order 17/ })
  equal(receipt.links[0]?.href, "https://shop.example.com/orders/17")
  await postlane.bounce(receipt)
  deepEqual([...unreachable], ["ann@shop.test"])
})
