import { assert, describe, it } from "@effect/vitest"

import type { EmailStat } from "../../../src/domain/delivery/email-log-row.ts"
import { bucketsOf, isWanted, layersOf, PERIODS } from "../../../src/domain/delivery/health.ts"
import { EmailStatus } from "../../../src/domain/mail/status.ts"

const NOW = Date.parse("2026-03-01T00:30:00Z")
const stat = (change: Partial<EmailStat>): EmailStat => ({
  day: "2026-03-01",
  category: "transactional",
  provider: "provider_a",
  status: "delivered",
  count: 1,
  failedOver: 0,
  undelivered: 0,
  costUsd: 0,
  ...change
})

describe("the charts of the overview", () => {
  it("end now, and have a bucket an hour of a day, else one a day", () => {
    const lengths = PERIODS.map((days) => bucketsOf(days, NOW).length)
    assert.deepStrictEqual(lengths, [24, 7, 30, 90])
    assert.deepStrictEqual(bucketsOf(1, NOW).slice(-2), ["2026-02-28T23", "2026-03-01T00"])
    assert.deepStrictEqual(bucketsOf(7, NOW).slice(-2), ["2026-02-28", "2026-03-01"])
    for (const days of PERIODS) assert.lengthOf(new Set(bucketsOf(days, NOW)), bucketsOf(days, NOW).length)
  })

  it("hold the periods before as well, without a gap", () => {
    for (const days of PERIODS) {
      const both = bucketsOf(days, NOW, 2)
      assert.deepStrictEqual(both.slice(both.length / 2), bucketsOf(days, NOW))
      assert.lengthOf(new Set(both), 2 * bucketsOf(days, NOW).length)
    }
  })

  it("count each mail in one layer, and nothing outside of the period", () => {
    const buckets = bucketsOf(7, NOW)
    const stats = [
      ...EmailStatus.literals.map((status) => stat({ status })),
      stat({ provider: "provider_b", status: "bounced", count: 5, day: "2026-02-23" }),
      stat({ provider: null, status: "failed", count: 7 }),
      stat({ day: "2026-02-22", count: 1000 })
    ]
    const layers = layersOf(stats, buckets)
    assert.deepStrictEqual(
      Object.fromEntries(
        layers.map(({ counts, layer }) => [layer, counts.reduce((one, other) => one + other, 0)])
      ),
      { delivered: 3, sent: 1, waiting: 2, suppressed: 1, bounced: 6, complained: 1, failed: 8 }
    )
    assert.deepStrictEqual(layers.find(({ layer }) => layer === "bounced")?.counts, [5, 0, 0, 0, 0, 0, 1])
  })

  it("are of a provider and of a category where they are asked for", () => {
    const one = stat({ category: "auth" })
    assert.isTrue(isWanted(one, { provider: undefined }))
    assert.isTrue(isWanted(one, { provider: "provider_a", category: "auth" }))
    assert.isFalse(isWanted(one, { provider: "provider_b", category: "auth" }))
    assert.isFalse(isWanted(one, { provider: undefined, category: "alert" }))
  })
})
