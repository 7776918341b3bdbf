import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { DEFAULT_DEFER_DELAYS_SECONDS, delayBefore } from "../../../src/domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS, withinWindow } from "../../../src/domain/mail/failover.ts"

describe("retry schedule", () => {
  it("is 2 min, 10 min, 15 min, then over", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4].map((attempt) => delayBefore(attempt, DEFAULT_DEFER_DELAYS_SECONDS, 0)),
      [120, 600, 900, undefined]
    )
  })

  it("S1: schedules nothing that comes due 24 h after the first attempt, and D2: at most three retries", () => {
    const delays = fc.tuple(fc.nat(100_000), fc.nat(100_000), fc.nat(100_000))
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        delays,
        fc.nat(2 * IDEMPOTENCY_WINDOW_MS),
        (attempt, waits, age) => {
          const delay = delayBefore(attempt, waits, age)
          if (delay === undefined) return
          assert.isAtMost(attempt, 3)
          assert.isTrue(withinWindow(age + delay * 1000))
        }
      )
    )
  })
})
