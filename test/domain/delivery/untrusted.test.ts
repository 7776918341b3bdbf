import { expect, it } from "vitest"

import {
  bareAddressesOf,
  bareAddressOf,
  fieldsOf,
  idOf,
  isDeeperThan,
  keyTagOf,
  listOf,
  tagsOf,
  textOf,
  timeOf
} from "../../../src/domain/delivery/untrusted.ts"

it.each([
  "0000-01-01T00:00:00Z",
  "0001-01-01T00:00:00+23:59",
  "1969-12-31T23:59:59Z",
  "9999-12-31T23:59:59-23:59",
  "2026-13-01T00:00:00Z"
])("%s is no time of an event: the log could not write it", (text) => expect(timeOf(text)).toBeUndefined())

it("an event's time is taken as either vendor writes it", () => {
  for (const text of ["2026-01-02T03:04:05Z", "2026-01-02 03:04:05+00", "2026-01-02T04:04:05.000000+01:00"]) {
    expect(timeOf(text)).toBe(Date.UTC(2026, 0, 2, 3, 4, 5))
  }
})

it("an address that is longer than the log's index takes is left out, the others are read", () => {
  const long = `${"電".repeat(900)}@x.test`
  expect(bareAddressesOf([long, "A <Ann@x.test>"])).toEqual(["ann@x.test"])
})

it("a value of another kind is no object, no text and no list, and breaks nothing", () => {
  for (const other of [undefined, null, 5, true, "text", [1], () => 1]) {
    expect(fieldsOf(other)).toEqual({})
    expect(listOf(other)).toEqual(Array.isArray(other) ? other : [])
    expect(textOf(other)).toBe(other === "text" ? other : undefined)
  }
  expect(fieldsOf({ a: 1 })).toEqual({ a: 1 })
  expect(textOf(" a ")).toBe(" a ")
  expect(textOf(" \n")).toBeUndefined()
})

it("an id has 500 characters at most", () => {
  expect(idOf("i".repeat(500))).toHaveLength(500)
  for (const none of ["i".repeat(501), "", " ", 5]) expect(idOf(none)).toBeUndefined()
})

it("an address is read out of its mailbox, in lower case and ASCII, whatever is around it", () => {
  for (const [text, address] of [
    ["Ann@X.test", "ann@x.test"],
    [" Ann <Ann@X.test> ", "ann@x.test"],
    ['"<b@y.test>" < ann@x.test >', "ann@x.test"],
    ["\u200bann@x.test\u00a0", "ann@x.test"],
    ["A <\u200bann@x.test\u200b>", "ann@x.test"],
    ["A <\tann@x.test >\u200b\t", "ann@x.test"],
    ["ann@EXÄMPLE.test", "ann@xn--exmple-cua.test"],
    ["A\u0308nn@x.test", "\u00e4nn@x.test"],
    // What is no address stays what it is: two that are left out would look like one.
    ["No Address", "no address"],
    ["\u00c4rger", "\u00e4rger"],
    ["a@b@x_y.test", "a@b@x_y.test"],
    ["<a@x.test> b", "<a@x.test> b"],
    ["@x.test", "@x.test"]
  ] as const)
    expect(bareAddressOf(text)).toBe(address)
  for (const none of ["", " ", 5, null]) expect(bareAddressOf(none)).toBeUndefined()
  const named = (length: number) => `${"n".repeat(length - 11)} <a@x.test>`
  expect(named(1000)).toHaveLength(1000)
  expect(bareAddressOf(named(1000))).toBe("a@x.test")
  expect(bareAddressOf(named(1001))).toBeUndefined()
  expect(bareAddressOf(`${"l".repeat(493)}@x.test`)).toHaveLength(500)
  expect(bareAddressOf(`${"l".repeat(494)}@x.test`)).toBeUndefined()
})

it("of a list each address is read once, and 150 at most", () => {
  expect(bareAddressesOf(["a@x.test", 5, "A <A@x.test>", "b@x.test"])).toEqual(["a@x.test", "b@x.test"])
  expect(bareAddressesOf("a@x.test")).toEqual([])
  expect(bareAddressesOf(Array.from({ length: 200 }, (_, at) => `${at}@x.test`))).toHaveLength(150)
})

it("a time has a zone, and lies between 1970 and 9999", () => {
  expect(timeOf(" 1970-01-01T00:00:00Z ")).toBe(0)
  expect(timeOf("9999-12-31T00:00:00Z")).toBe(Date.UTC(9999, 11, 31))
  expect(timeOf("2026-01-02T03:04:05+0130")).toBe(Date.UTC(2026, 0, 2, 1, 34, 5))
  expect(timeOf("2026-01-02T03:04:05-02")).toBe(Date.UTC(2026, 0, 2, 5, 4, 5))
  for (const none of ["9999-12-31T00:00:00.001Z", "2026-01-02T03:04:05", "2026-01-02", 5, null, ""])
    expect(timeOf(none)).toBeUndefined()
})

it("tags are texts, and a key's is 64 hexadecimal digits", () => {
  expect(
    tagsOf([
      ["a", "1"],
      ["b", 2],
      ["c", null]
    ])
  ).toEqual({ a: "1" })
  expect(keyTagOf("0f".repeat(32))).toBe("0f".repeat(32))
  for (const none of [undefined, "", "0f", "0F".repeat(32), `${"0f".repeat(32)}0`, "x".repeat(64)])
    expect(keyTagOf(none)).toBeUndefined()
})

it("depth counts lists and objects, wherever the deepest is", () => {
  expect([{}, [], { a: 1 }].map((one) => isDeeperThan(one, 1))).toEqual([false, false, false])
  expect([1, "a", null, undefined].map((one) => isDeeperThan(one, 0))).toEqual([false, false, false, false])
  expect(isDeeperThan({}, 0)).toBe(true)
  expect(isDeeperThan([], 0)).toBe(true)
  expect(isDeeperThan([1, { a: [] }, null], 2)).toBe(true)
  expect(isDeeperThan([1, { a: [] }, null], 3)).toBe(false)
})
