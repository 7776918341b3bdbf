import * as fc from "fast-check"
import { expect, it } from "vitest"

import {
  makeClientAddress,
  type TrustedProxies
} from "../../../../src/adapters/http/server/client-address.ts"
import { call, startServer } from "../harness.ts"

it.each<[TrustedProxies, string, string | undefined, string]>([
  [[], "10.0.0.1", "198.51.100.7", "10.0.0.1"],
  [0, "10.0.0.1", "198.51.100.7", "10.0.0.1"],
  [["10.0.0.0/8"], "10.0.0.1", "198.51.100.7", "198.51.100.7"],
  [["10.0.0.0/8"], "::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"],
  [["10.0.0.0/8"], "203.0.113.1", "198.51.100.7", "203.0.113.1"],
  // What the caller wrote itself stands first.
  [["10.0.0.0/8"], "10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"],
  [["10.0.0.0/8", "fd00::/8"], "fd00::1", "2001:db8::5,10.0.0.2", "2001:db8::5"],
  [["10.0.0.1"], "10.0.0.1", undefined, "10.0.0.1"],
  [["10.0.0.1"], "10.0.0.1", "unknown", "10.0.0.1"],
  [1, "10.0.0.1", "6.6.6.6, 198.51.100.7", "198.51.100.7"],
  [2, "10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"]
])("with %j trusted, %s that forwards for %s is %s", (trusted, peer, forwarded, client) => {
  expect(makeClientAddress(trusted)(peer, forwarded)).toBe(client)
})

it("whatever a stranger sends, it stays itself", () => {
  const addressOf = makeClientAddress(["10.0.0.0/8"])
  fc.assert(fc.property(fc.string(), (text) => addressOf("203.0.113.1", text) === "203.0.113.1"))
})

it("callers behind a trusted proxy have a rate limit each; behind another they share the proxy's", async () => {
  const statuses = async (trustedProxies: TrustedProxies) => {
    const server = await startServer({ trustedProxies })
    const ask = (address: string) =>
      call(server, "/api/contact", { method: "POST", headers: { "x-forwarded-for": address } })
    let first = 0
    while (first !== 429) first = (await ask("198.51.100.7")).status
    const { status } = await ask("198.51.100.8")
    await server.stop()
    return status
  }
  expect(await statuses(["127.0.0.1"])).not.toBe(429)
  expect(await statuses([])).toBe(429)
})
