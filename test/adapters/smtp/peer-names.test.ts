import { assert, beforeEach, describe, it, vi } from "vitest"

import { peerNames } from "../../../src/adapters/smtp/peer-names.ts"
import { makePeerTrust } from "../../../src/adapters/smtp/peer-trust.ts"

/** What the DNS says: names of addresses, and addresses of names; and how many names were looked up. */
const dns = vi.hoisted(() => ({
  names: new Map<string, ReadonlyArray<string>>(),
  addresses: new Map<string, ReadonlyArray<string>>(),
  lookups: 0,
  /** What it fails with. */
  down: new Map<string, string>()
}))

vi.mock("node:dns/promises", () => {
  const found = (zone: ReadonlyMap<string, ReadonlyArray<string>>, what: string) => {
    const all = zone.get(what)
    if (dns.down.has(what))
      return Promise.reject(Object.assign(new Error("queryPtr"), { code: dns.down.get(what) }))
    return all === undefined
      ? Promise.reject(Object.assign(new Error("nothing"), { code: "ENOTFOUND" }))
      : Promise.resolve([...all])
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
  dns.down.clear()
})

const any = () => true

describe("names of a peer", () => {
  it("are only those that resolve back to its address: the owner of an address can give it any name", async () => {
    dns.names.set("198.51.100.1", ["mx.hop.test", "mine.evil.test", "nowhere.test"])
    dns.addresses.set("mx.hop.test", ["203.0.113.7"])
    dns.addresses.set("mine.evil.test", ["192.0.2.1", "198.51.100.1"])
    assert.deepStrictEqual(await peerNames("198.51.100.1", any), ["mine.evil.test"])
  })

  it("are none where it has no name, and few where it has many", async () => {
    assert.deepStrictEqual(await peerNames("198.51.100.1", any), [])
    dns.names.set(
      "198.51.100.1",
      Array.from({ length: 1000 }, (_, n) => `${n}.evil.test`)
    )
    assert.deepStrictEqual(await peerNames("198.51.100.1", any), [])
    assert.isAtMost(dns.lookups, 10)
  })

  it("are unknown where the DNS does not answer, not none", async () => {
    for (const code of ["ESERVFAIL", "ETIMEOUT", "ECONNREFUSED", "EREFUSED"]) {
      dns.down.set("198.51.100.1", code)
      assert.isUndefined(await peerNames("198.51.100.1", any), code)
    }
    dns.down.clear()
    dns.names.set("198.51.100.1", ["mx.hop.test", "other.test"])
    dns.down.set("mx.hop.test", "EAI_AGAIN")
    assert.isUndefined(await peerNames("198.51.100.1", any))
    assert.deepStrictEqual(
      await peerNames("198.51.100.1", (name) => name === "other.test"),
      [],
      "one that is not asked for"
    )
  })
})

describe("whom the server believes", () => {
  const rules = (trustedHops: ReadonlyArray<string>, trustedPeers: ReadonlyArray<string> = []) => ({
    trustedHops,
    trustedPeers,
    trustsLoopback: false
  })
  const NONE = rules([])

  it("the hop by its address, this machine, and whom the settings name; no private network by itself", () => {
    const { isKnown } = makePeerTrust(
      rules(["hop.test", "203.0.113.7", "2001:db8::7"], ["10.1.0.0/16", "fd00::/8", "192.0.2.9"]),
      () => 0
    )
    for (const address of [
      "127.0.0.1",
      "::1",
      "::ffff:127.0.0.1",
      "203.0.113.7",
      "::ffff:203.0.113.7",
      "2001:db8:0::7",
      "10.1.2.3",
      "::ffff:10.1.2.3",
      "fd12::1",
      "192.0.2.9"
    ]) {
      assert.isTrue(isKnown(address), address)
    }
    for (const address of [
      "10.2.0.1",
      "192.168.0.1",
      "172.16.0.1",
      "fe80::1",
      "203.0.113.70",
      "2001:db8::8",
      ""
    ]) {
      assert.isFalse(isKnown(address), address)
    }
  })

  it("nobody without a named hop, but this machine in an embedded run", () => {
    for (const address of ["127.0.0.1", "10.0.0.1"]) {
      assert.isFalse(makePeerTrust({ ...NONE, trustedPeers: ["10.0.0.0/8"] }, () => 0).isKnown(address))
    }
    const embedded = makePeerTrust({ ...NONE, trustsLoopback: true }, () => 0)
    assert.isTrue(embedded.isKnown("127.0.0.1"))
    assert.isFalse(embedded.isKnown("10.0.0.1"))
  })

  it("a name that leads there and back, as long as the DNS says so", async () => {
    let now = 0
    const trust = makePeerTrust(rules(["hop.test"]), () => now)
    dns.down.set("198.51.100.1", "ESERVFAIL")
    assert.strictEqual(await trust.of("198.51.100.1"), "unknown")
    dns.down.clear()
    dns.names.set("198.51.100.1", ["mx1.HOP.test"])
    dns.addresses.set("mx1.HOP.test", ["198.51.100.1"])
    assert.isFalse(trust.isKnown("198.51.100.1"))
    assert.strictEqual(await trust.of("::ffff:198.51.100.1"), "trusted", "a failure is not kept")
    assert.isTrue(trust.isKnown("198.51.100.1"))
    dns.names.set("198.51.100.1", ["evilhop.test", "hop.test.evil.test"])
    assert.strictEqual(await trust.of("198.51.100.1"), "trusted")
    now = 60_000
    assert.strictEqual(await trust.of("198.51.100.1"), "stranger")
    assert.strictEqual(await makePeerTrust(rules(["203.0.113.7"]), () => 0).of("198.51.100.1"), "stranger")
  })
})
