import { assert, describe, it } from "vitest"

import { MAX_CONNECTIONS, MAX_OF_STRANGER, placeFor } from "../../../src/adapters/smtp/connections.ts"

const many = (count: number, network: string, known: boolean, busy = false) =>
  Array.from({ length: count }, (_, id) => ({ network, known, busy, id }))
const each = (count: number, known: boolean) =>
  Array.from({ length: count }, (_, id) => ({ network: `198.51.100.${id}`, known, busy: false, id }))
const stranger = (network: string) => ({ network, known: false })
const friend = (network: string) => ({ network, known: true })
const served = { kind: "served", instead: undefined } as const

describe("H3: nobody keeps others out by holding connections", () => {
  it("a stranger has a few connections, a known peer has them all", () => {
    const few = many(MAX_OF_STRANGER - 1, "a", false)
    assert.deepStrictEqual(placeFor(few, stranger("a")), served)
    const all = many(MAX_OF_STRANGER, "a", false)
    assert.deepStrictEqual(placeFor(all, stranger("a")), { kind: "refused" })
    assert.deepStrictEqual(placeFor(all, stranger("b")), served)
    assert.deepStrictEqual(placeFor(many(MAX_CONNECTIONS - 1, "a", true), friend("a")), served)
    assert.deepStrictEqual(placeFor(many(MAX_CONNECTIONS, "a", true), friend("a")), { kind: "refused" })
  })

  it("where all are taken, the peer that holds most gives one up, its oldest idle one first", () => {
    const full = [
      ...many(10, "a", true, true),
      ...many(MAX_CONNECTIONS - 20, "a", true),
      ...many(10, "b", true)
    ]
    const place = placeFor(full, friend("c"))
    assert.strictEqual(place.kind === "served" ? place.instead : undefined, full[10])
    const other = placeFor(full, friend("b"))
    assert.strictEqual(other.kind === "served" ? other.instead : undefined, full[10])
    assert.deepStrictEqual(placeFor(full, friend("a")), { kind: "refused" })
    assert.deepStrictEqual(placeFor(many(MAX_CONNECTIONS, "a", true, true), friend("c")), { kind: "refused" })
  })

  it("strangers make room for known peers, and never the other way", () => {
    const full = each(MAX_CONNECTIONS, false)
    const place = placeFor(full, friend("c"))
    assert.strictEqual(place.kind === "served" ? place.instead : undefined, full[0])
    assert.deepStrictEqual(placeFor(full, stranger("c")), { kind: "refused" })
    assert.deepStrictEqual(placeFor(many(MAX_CONNECTIONS, "a", true), stranger("c")), { kind: "refused" })
    const mixed = [...many(MAX_CONNECTIONS - 3, "a", true), ...many(3, "b", false)]
    const first = placeFor(mixed, friend("a"))
    assert.strictEqual(first.kind === "served" ? first.instead : undefined, mixed[MAX_CONNECTIONS - 3])
  })
})
