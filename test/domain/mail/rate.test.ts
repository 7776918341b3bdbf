import fc from "fast-check"
import { describe, expect, it } from "vitest"

import { fixedRate, type Rate, rateOf } from "../../../src/domain/mail/rate.ts"

const rates = fc
  .tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 50 }))
  .map(([rate, below, above]): Rate => ({ rate, least: Math.max(0, rate - below), most: rate + above }))

describe("the rate of a provider", () => {
  it("is what it said, within its bounds, and the usual one where it said nothing", () => {
    fc.assert(
      fc.property(rates, fc.nat(200), (rate, said) => {
        const asked = rateOf(rate, said)
        expect(asked).toBeGreaterThanOrEqual(rate.least)
        expect(asked).toBeLessThanOrEqual(rate.most ?? Number.POSITIVE_INFINITY)
        expect([rate.least, said, rate.most]).toContain(asked)
        expect(rateOf(rate, undefined)).toBe(rate.rate)
        expect(rateOf({ ...rate, most: null }, said)).toBe(Math.max(said, rate.least))
      })
    )
  })

  it("is the usual one where it names none, as null as well", () => {
    expect(rateOf({ rate: 14, least: 0.1, most: null }, null)).toBe(14)
    expect(rateOf({ rate: 14, least: 0.1, most: null }, 0)).toBe(0.1)
    expect(rateOf({ rate: 2, least: 2, most: 5 }, 9)).toBe(5)
  })

  it("is not changed where a setting fixed it", () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(200), (rate, said) => {
        expect(rateOf(fixedRate(rate), said)).toBe(rate)
      })
    )
  })
})
