import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  BlockReason,
  Category,
  blockedAddresses,
  blocks,
  blocksMail,
  ListedReason,
  suppressedError,
  SuppressionReason
} from "../../../../src/domain/mail/suppression/policy.ts"

const categories = Category.literals
const reasons = BlockReason.literals
const LISTS = ["weekly", "offers"] as const

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
    const left = fc.record({
      email: row.map(({ email }) => email),
      reason: fc.constant("unsubscribed" as const),
      list: fc.constantFrom(...LISTS)
    })
    const blocksOfAnyKind = fc.array(fc.oneof(row, left))
    fc.assert(
      fc.property(
        fc.constantFrom(...categories),
        fc.option(fc.constantFrom(...LISTS), { nil: undefined }),
        blocksOfAnyKind,
        fc.infiniteStream(fc.nat()),
        (category, list, rows, order) => {
          const blocked = blockedAddresses({ category, list }, rows)
          for (const email of ["a@x.test", "b@x.test", "c@x.test"]) {
            const blocking = rows.filter(
              (entry) => entry.email === email && blocksMail({ category, list }, entry)
            )
            assert.strictEqual(blocked.has(email), blocking.length > 0)
          }
          const shuffled = rows
            .map((entry) => ({ entry, at: order.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ entry }) => entry)
          const again = blockedAddresses({ category, list }, shuffled)
          assert.strictEqual(again.size, blocked.size)
          for (const [email, reason] of blocked) assert.strictEqual(again.get(email), reason)
        }
      )
    )
  })

  it("who left a list or all marketing gets everything else (MAIL-67)", () => {
    const anyList = fc.option(fc.constantFrom(...LISTS), { nil: undefined })
    fc.assert(
      fc.property(fc.constantFrom(...categories), anyList, anyList, (category, list, left) => {
        const block = { email: "a@x.test", reason: "unsubscribed" as const }
        const blocked = blockedAddresses({ category, list }, [
          left === undefined ? block : { ...block, list: left }
        ])
        const isStopped = left === undefined ? category === "marketing" : list === left
        assert.deepStrictEqual([...blocked.keys()], isStopped ? ["a@x.test"] : [])
      })
    )
  })

  it("P2: names the strongest of the reasons that block an address, the one that only a person lifts", () => {
    const strongest = ["erased", "manual", "complaint", "hard_bounce", "unsubscribed"] as const
    const some = fc.uniqueArray(fc.constantFrom(...strongest), { minLength: 1 })
    fc.assert(
      fc.property(fc.constantFrom(...categories), some, (category, given) => {
        const email = "a@x.test"
        const blocked = blockedAddresses(
          { category },
          given.map((reason) => ({ email, reason }))
        )
        const expected = strongest.find((reason) => given.includes(reason) && blocks(category, reason))
        assert.strictEqual(blocked.get(email), expected)
      })
    )
  })

  it("knows each category of mail, and what the list shows", () => {
    assert.deepStrictEqual(categories.toSorted(), [
      "alert",
      "auth",
      "marketing",
      "notification",
      "transactional"
    ])
    assert.deepStrictEqual(SuppressionReason.literals.toSorted(), ["complaint", "hard_bounce", "manual"])
    assert.deepStrictEqual(ListedReason.literals.toSorted(), [
      "complaint",
      "hard_bounce",
      "manual",
      "unsubscribed"
    ])
  })

  it("says why", () => {
    assert.strictEqual(suppressedError(["hard_bounce"]), "Recipient suppressed: hard bounce")
    assert.strictEqual(
      suppressedError(["complaint", "manual", "complaint"]),
      "Recipient suppressed: manually suppressed, complaint"
    )
    assert.strictEqual(
      suppressedError(["unsubscribed", "hard_bounce", "erased", "complaint", "manual"]),
      "Recipient suppressed: erased, manually suppressed, complaint, hard bounce, unsubscribed"
    )
    assert.match(suppressedError(["manual"], true), /an earlier attempt may have been accepted/)
  })
})
