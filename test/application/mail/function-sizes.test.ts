import { assert, describe, it } from "@effect/vitest"

import { ANSWER_MARGIN_MS, functionSeconds } from "../../../src/application/mail/function-sizes.ts"
import { claimLeaseMs, longestRetryMs, longestSendMs } from "../../../src/application/mail/sending.ts"

describe("the time of a function", () => {
  const LIMITS = { attemptTimeoutMs: 15_000, dbTimeoutMs: 2_500 }

  it("is long enough for the slowest send and the slowest retry, with the time of a cold start", () => {
    for (const attemptTimeoutMs of [1_000, 15_000, 60_000, 120_000])
      for (const dbTimeoutMs of [100, 2_500, 10_000]) {
        const limits = { attemptTimeoutMs, dbTimeoutMs }
        const left = functionSeconds(limits) * 1_000 - ANSWER_MARGIN_MS
        assert.isAtLeast(left, longestSendMs(limits) + 10_000)
        assert.isAtLeast(left, longestRetryMs(limits) + 10_000)
        assert.isAbove(claimLeaseMs(limits), longestSendMs(limits))
      }
    assert.deepStrictEqual([longestSendMs(LIMITS), longestRetryMs(LIMITS)], [45_000, 30_000])
    assert.strictEqual(functionSeconds(LIMITS), 60)
  })

  it("is no longer than the platform allows", () => {
    assert.strictEqual(functionSeconds({ attemptTimeoutMs: 600_000, dbTimeoutMs: 2_500 }), 900)
  })
})
