import { expect, it } from "vitest"

import { bareAddressesOf, timeOf } from "../../../src/domain/delivery/untrusted.ts"

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
