import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  BlockReason,
  Category,
  blockedAddresses,
  blocks,
  suppressedError
} from "../../../../src/domain/mail/suppression/policy.ts"

const categories = Category.literals
const reasons = BlockReason.literals

describe("suppression policy", () => {
  it("P2: blocks by this table (MAIL-61, MAIL-65, MAIL-66)", () => {
    const table = categories.map((category) =>
      [
        category,
        ...(["complaint", "hard_bounce", "manual", "unsubscribed", "erased"] as const).map((reason) =>
          blocks(category, reason) ? "Blocks" : "Ignored"
        )
      ].join(" | ")
    )
    assert.deepStrictEqual(table, [
      "auth | Ignored | Blocks | Blocks | Ignored | Blocks",
      "transactional | Blocks | Blocks | Blocks | Ignored | Blocks",
      "notification | Blocks | Blocks | Blocks | Ignored | Blocks",
      "alert | Ignored | Ignored | Blocks | Ignored | Blocks",
      "marketing | Blocks | Blocks | Blocks | Blocks | Blocks"
    ])
  })

  it("blocks an address if and only if one of its reasons blocks, in any order", () => {
    const row = fc.record({
      email: fc.constantFrom("a@x.test", "b@x.test", "c@x.test"),
      reason: fc.constantFrom(...reasons)
    })
    fc.assert(
      fc.property(
        fc.constantFrom(...categories),
        fc.array(row),
        fc.infiniteStream(fc.nat()),
        (category, rows, order) => {
          const blocked = blockedAddresses(category, rows)
          for (const email of ["a@x.test", "b@x.test", "c@x.test"]) {
            const blocking = rows.filter((entry) => entry.email === email && blocks(category, entry.reason))
            assert.strictEqual(blocked.has(email), blocking.length > 0)
          }
          const shuffled = rows
            .map((entry) => ({ entry, at: order.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ entry }) => entry)
          const again = blockedAddresses(category, shuffled)
          assert.strictEqual(again.size, blocked.size)
          for (const [email, reason] of blocked) assert.strictEqual(again.get(email), reason)
        }
      )
    )
  })

  it("says why", () => {
    assert.strictEqual(suppressedError(["hard_bounce"]), "Recipient suppressed: hard bounce")
    assert.strictEqual(
      suppressedError(["complaint", "manual", "complaint"]),
      "Recipient suppressed: manually suppressed, complaint"
    )
  })
})
