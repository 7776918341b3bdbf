import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { DIGEST_CADENCES, duePeriod, periodOf } from "../../../src/domain/delivery/audit-digest-period.ts"

const cadence = fc.constantFrom(...DIGEST_CADENCES)
/** 1900 to 2200. */
const instant = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2200, 0, 1) })
const iso = (at: number) => new Date(at).toISOString()

it("EVENT-50: a digest is daily or weekly", () => {
  expect(DIGEST_CADENCES.toSorted()).toEqual(["daily", "weekly"])
})

describe("the periods of digests", () => {
  it("hold each instant once, follow each other without a gap, and end at 14:00 UTC (weekly: on Mondays)", () => {
    fc.assert(
      fc.property(cadence, instant, (name, at) => {
        const { from, to } = periodOf(name, at)
        expect(from <= at && at < to).toBe(true)
        expect(to - from).toBe((name === "daily" ? 1 : 7) * 86_400_000)
        expect(periodOf(name, to).from).toBe(to)
        expect(periodOf(name, from - 1).to).toBe(from)
        for (const edge of [from, to]) {
          expect(iso(edge).slice(11)).toBe("14:00:00.000Z")
          expect(name === "daily" || new Date(edge).getUTCDay() === 1).toBe(true)
        }
      })
    )
  })

  it("are one and the same for every instant of a period", () => {
    fc.assert(
      fc.property(cadence, instant, fc.double({ min: 0, max: 1, noNaN: true }), (name, at, share) => {
        const period = periodOf(name, at)
        const other = Math.min(period.to - 1, Math.floor(period.from + share * (period.to - period.from)))
        expect(periodOf(name, other)).toEqual(period)
      })
    )
  })

  it("are due once they are over, and until the next one is", () => {
    fc.assert(
      fc.property(cadence, instant, (name, at) => {
        const due = duePeriod(name, at)
        expect(due.to <= at).toBe(true)
        expect(periodOf(name, at).from).toBe(due.to)
      })
    )
  })

  it.each([
    ["daily", "2026-11-20T13:59:59.999Z", "2026-11-18T14:00:00.000Z"],
    ["daily", "2026-11-20T14:00:00.000Z", "2026-11-19T14:00:00.000Z"],
    ["weekly", "2026-11-23T13:59:59.999Z", "2026-11-09T14:00:00.000Z"],
    ["weekly", "2026-11-23T14:00:00.000Z", "2026-11-16T14:00:00.000Z"]
  ] as const)("%s at %s: from %s", (name, at, from) => {
    expect(iso(duePeriod(name, Date.parse(at)).from)).toBe(from)
  })
})
