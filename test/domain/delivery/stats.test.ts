import fc from "fast-check"
import { describe, expect, it } from "vitest"

import type { EmailStat } from "../../../src/domain/delivery/email-log-row.ts"
import { hasEvents, statRows, summarize } from "../../../src/domain/delivery/stats.ts"
import { EmailStatus } from "../../../src/domain/mail/status.ts"

const stat: fc.Arbitrary<EmailStat> = fc
  .record({
    day: fc.constantFrom("2026-01-01", "2026-01-02"),
    category: fc.constantFrom("auth", "unknown"),
    provider: fc.constantFrom("provider_a", "provider_b", null),
    status: fc.constantFrom(...EmailStatus.literals),
    count: fc.integer({ min: 1, max: 1_000 }),
    costUsd: fc.integer({ min: 0, max: 10_000 }).map((micros) => micros / 1e6)
  })
  .chain((one) =>
    fc
      .tuple(fc.nat(one.count), fc.nat(one.count))
      .map(([failedOver, undelivered]) => ({ ...one, failedOver, undelivered }))
  )

describe("statistics", () => {
  it("rows add up to the totals, one a day, category and provider, and rates are shares", () => {
    fc.assert(
      fc.property(fc.array(stat, { maxLength: 50 }), (stats) => {
        const rows = statRows(stats)
        const totals = summarize(stats)
        expect(totals.total).toBe(Object.values(totals.byStatus).reduce((all, count) => all + count, 0))
        const sum = (of: (row: (typeof rows)[number]) => number) =>
          rows.reduce((all, row) => all + of(row), 0)
        expect(sum(({ total }) => total)).toBe(totals.total)
        expect(sum(({ failedOver }) => failedOver)).toBe(totals.failedOver)
        expect(sum(({ undelivered }) => undelivered)).toBe(totals.undelivered)
        expect(sum(({ costUsd }) => costUsd)).toBeCloseTo(totals.costUsd, 8)
        for (const status of EmailStatus.literals) {
          expect(sum(({ byStatus }) => byStatus[status])).toBe(totals.byStatus[status])
        }
        expect(new Set(rows.map((row) => `${row.day} ${row.category} ${row.provider}`)).size).toBe(
          rows.length
        )
        for (const { byStatus, rates } of [...rows, totals]) {
          const { deferred, failed, suppressed, ...accepted } = byStatus
          const taken = Object.values(accepted).reduce((all, count) => all + count, 0)
          for (const rate of Object.values(rates)) {
            expect(taken === 0 ? rate === null : rate !== null && rate >= 0 && rate <= 1).toBe(true)
          }
          expect(deferred + failed + suppressed + taken).toBe(
            Object.values(byStatus).reduce((all, count) => all + count, 0)
          )
        }
      })
    )
  })

  it("are known once a mail has an event, which its acceptance is not", () => {
    const byStatus = (status: EmailStatus) =>
      summarize([
        {
          day: "d",
          category: "auth",
          provider: null,
          status,
          count: 2,
          failedOver: 0,
          undelivered: 0,
          costUsd: 0
        }
      ])
    const withEvents = EmailStatus.literals.filter((status) => hasEvents(byStatus(status)))
    expect(withEvents).toEqual([
      "delivery_delayed",
      "delivered",
      "opened",
      "clicked",
      "bounced",
      "complained"
    ])
    expect(hasEvents(summarize([]))).toBe(false)
  })

  it("by example", () => {
    const of = (status: EmailStatus, count: number) => ({
      day: "2026-01-01",
      category: "auth",
      provider: "provider_b",
      status,
      count,
      failedOver: 1,
      undelivered: status === "sent" ? 1 : 0,
      costUsd: 0.1
    })
    const { costUsd, failedOver, rates, total, undelivered } = summarize([
      of("sent", 1),
      of("delivered", 5),
      of("opened", 2),
      of("bounced", 1),
      of("complained", 1),
      of("failed", 7),
      of("suppressed", 3)
    ])
    expect(rates).toEqual({ delivered: 0.8, bounced: 0.1, complained: 0.1 })
    expect(costUsd).toBe(0.7)
    expect({ total, failedOver, undelivered }).toEqual({ total: 20, failedOver: 7, undelivered: 1 })
  })
})
