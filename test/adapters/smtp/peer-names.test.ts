import { assert, beforeEach, describe, it, vi } from "vitest"

import { peerNames } from "../../../src/adapters/smtp/peer-names.ts"

/** What the DNS says: names of addresses, and addresses of names; and how many names were looked up. */
const dns = vi.hoisted(() => ({
  names: new Map<string, ReadonlyArray<string>>(),
  addresses: new Map<string, ReadonlyArray<string>>(),
  lookups: 0
}))

vi.mock("node:dns/promises", () => {
  const found = (zone: ReadonlyMap<string, ReadonlyArray<string>>, what: string) => {
    const all = zone.get(what)
    return all === undefined ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve([...all])
  }
  return {
    reverse: (address: string) => found(dns.names, address),
    lookup: (name: string) => {
      dns.lookups += 1
      return found(dns.addresses, name).then((all) => all.map((address) => ({ address, family: 4 })))
    }
  }
})

beforeEach(() => {
  dns.names.clear()
  dns.addresses.clear()
  dns.lookups = 0
})

describe("names of a peer", () => {
  it("are those that lead back to its address: whoever has an address can give it any name", async () => {
    dns.names.set("198.51.100.1", ["mx.hop.test", "mine.evil.test", "nowhere.test"])
    dns.addresses.set("mx.hop.test", ["203.0.113.7"])
    dns.addresses.set("mine.evil.test", ["192.0.2.1", "198.51.100.1"])
    assert.deepStrictEqual(await peerNames("198.51.100.1"), ["mine.evil.test"])
    assert.deepStrictEqual(await peerNames("::ffff:198.51.100.1"), ["mine.evil.test"])
  })

  it("are none where it has no name, and few where it has many", async () => {
    assert.deepStrictEqual(await peerNames("198.51.100.1"), [])
    dns.names.set(
      "198.51.100.1",
      Array.from({ length: 1000 }, (_, n) => `${n}.evil.test`)
    )
    assert.deepStrictEqual(await peerNames("198.51.100.1"), [])
    assert.isAtMost(dns.lookups, 10)
  })
})
