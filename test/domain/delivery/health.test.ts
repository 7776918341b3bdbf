import { assert, describe, it } from "@effect/vitest"

import type { EmailStat } from "../../../src/domain/delivery/email-log-row.ts"
import { bucketsOf, MEASURES, PERIODS, seriesOf } from "../../../src/domain/delivery/health.ts"
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

  it("count each mail where it belongs, of one provider where it is chosen, and nothing outside of the period", () => {
    const buckets = bucketsOf(7, NOW)
    const stats = [
      ...EmailStatus.literals.map((status) => stat({ status })),
      stat({ provider: "provider_b", status: "bounced", count: 5, failedOver: 2, day: "2026-02-23" }),
      stat({ provider: null, status: "failed", count: 7 }),
      stat({ day: "2026-02-22", count: 1000 })
    ]
    const totals = (provider?: string) =>
      Object.fromEntries(seriesOf(stats, buckets, provider).map(({ measure, total }) => [measure, total]))
    assert.deepStrictEqual(totals(), {
      accepted: 12,
      delivered: 4,
      deferred: 1,
      failed: 8,
      bounced: 6,
      complained: 1,
      failedOver: 2
    })
    assert.deepInclude(totals("provider_b"), { accepted: 5, bounced: 5, failed: 0, failedOver: 2 })
    const bounced = seriesOf(stats, buckets, undefined)[MEASURES.indexOf("bounced")]
    assert.deepStrictEqual(bounced?.counts, [5, 0, 0, 0, 0, 0, 1])
  })
})
