import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import { isLoopback, networkOf, networksOf, parseAddress } from "../../src/domain/networks.ts"

describe("what counts as one client", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["2001:db8:0:1:ffff::", "2001:db8:0:1::/64"],
    ["2001:db8::1:2:3:4", "2001:db8:0:0::/64"],
    ["::ffff:c000:207", "192.0.2.7"],
    ["", ""]
  ])("%s: %s", (address, key) => {
    assert.strictEqual(networkOf(address), key)
  })

  it("all addresses of one /64 network, however they are written, and no others", () => {
    const group = fc.nat(0xffff)
    fc.assert(
      fc.property(
        fc.tuple(group, group, group, group),
        fc.tuple(group, group, group, group),
        fc.tuple(group, group, group, group),
        fc.boolean(),
        (network, one, other, upper) => {
          const text = (host: ReadonlyArray<number>, pad: number) =>
            [...network, ...host].map((part) => part.toString(16).padStart(pad, "0")).join(":")
          const long = text(other, 4)
          assert.strictEqual(networkOf(text(one, 1)), networkOf(upper ? long.toUpperCase() : long))
          const neighbour = [...network.slice(0, 3), (network[3] + 1) % 0x10000, ...one]
          assert.notStrictEqual(
            networkOf(neighbour.map((part) => part.toString(16)).join(":")),
            networkOf(text(one, 1))
          )
        }
      )
    )
  })

  it("never fails, whatever the address is", () => {
    fc.assert(fc.property(fc.string(), (text) => assert.isString(networkOf(text))))
  })
})

describe("a text that is no address in its usual spelling", () => {
  it.each([
    "",
    " 127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.0.0.01",
    "127.0.0.256",
    "127.0.0.1.1",
    "127.0.0.1:80",
    "[::1]",
    "::127.0.0.1",
    "::ffff:0x7f.0.0.1",
    "::ffff:0177.0.0.1",
    "::ffff:1.2.3.4.5",
    "1::2::3",
    "1:2:3:4:5:6:7:8:9",
    "::1%eth0%lo",
    ":".repeat(20_000),
    "0:".repeat(20_000),
    "fe80::1%".repeat(5_000)
  ])("%.40s is none, counts as itself and is in no network", (text) => {
    assert.isUndefined(parseAddress(text))
    assert.strictEqual(networkOf(text), text)
    assert.isFalse(networksOf(["0.0.0.0/0", "::/0"])(text))
  })
})

describe("addresses in networks", () => {
  it.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "10.0.0.2", false],
    ["fd00::/8", "fd12::1%eth0", true],
    ["fd00::/8", "10.0.0.1", false],
    ["::/0", "10.0.0.1", false],
    ["0.0.0.0/0", "::1", false],
    ["::1", "0:0:0:0:0:0:0:1", true],
    ["::FFFF:10.0.0.1", "10.0.0.1", true],
    // Entries that are no network hold nothing.
    ["10.0.0.0/", "10.0.0.1", false],
    ["10.0.0.0/33", "10.0.0.1", false],
    ["10.0.0.0/-1", "10.0.0.1", false],
    ["10.0.0.0/8.5", "10.0.0.1", false],
    ["10/8", "10.0.0.1", false],
    ["mail.example.test", "10.0.0.1", false]
  ])("%s holds %s: %s", (network, address, held) => {
    assert.strictEqual(networksOf([network])(address), held)
  })

  it("this machine's own, however they are written", () => {
    for (const own of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "::FFFF:7f00:1"]) {
      assert.isTrue(isLoopback(own), own)
    }
    for (const other of ["128.0.0.1", "::2", "::127.0.0.1", "localhost", ""]) {
      assert.isFalse(isLoopback(other), other)
    }
  })
})
