import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import fc from "fast-check"

import {
  ageBySchedule,
  decodeDeferredSend,
  type DeferredSend,
  deferredJson,
  encodeDeferredSend,
  firstOf,
  hasExpired,
  MAX_DEFERRED_BYTES,
  tagOf,
  tooLate,
  tornBy,
  withoutDropped
} from "../../../src/domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../src/domain/mail/failover.ts"
import { anyId } from "../../support/any-id.ts"

const AT = Date.parse("2026-11-20T10:00:00Z")
const KEY_HASH = anyId("a".repeat(64))
const details = {
  category: "transactional",
  source: "api:test",
  from: "shop@x.test",
  to: ["ann@x.test", "bob@x.test"],
  others: ["cy@x.test"],
  subject: "Your receipt",
  idempotencyKey: anyId("order-17"),
  keyHash: KEY_HASH
} as const
const message = (body = "", change: Partial<DeferredSend> = {}): DeferredSend => ({
  version: 1,
  rowId: anyId("3b4f5a5e-8f9e-4a52-9d53-0d3c8f6f2f10"),
  attempt: 1,
  request: { provider: "provider_a", key: "order-17", body },
  details,
  firstAttemptAt: AT,
  failedOver: false,
  ...change
})

describe("a queued retry", () => {
  it("MAIL-52: carries its tag, none, or in messages of an earlier version the hash of its key", () => {
    assert.strictEqual(tagOf(details), KEY_HASH)
    assert.isUndefined(tagOf({ ...details, keyTag: null }))
    assert.strictEqual(tagOf({ ...details, keyTag: anyId("tag") }), "tag")
  })

  it("MAIL-56: goes to those alone who are not blocked by now, and names who was left out", () => {
    const address = fc.constantFrom<string>("a@x.test", "b@x.test", "c@x.test", "d@x.test")
    const field = fc.uniqueArray(address, { maxLength: 3 })
    const dropped = fc.option(fc.constant(["earlier@x.test"]), { nil: undefined })
    fc.assert(
      fc.property(field, field, dropped, field, (to, others, before, list) => {
        const given = { ...details, to, others, ...(before && { dropped: before }) }
        const blocked = new Map(list.map((one) => [one, "manual"]))
        const left = withoutDropped(given, blocked)
        const isLeft = (one: string) => !blocked.has(one)
        const hit = [...new Set([...to, ...others])].filter((one) => !isLeft(one))
        if (hit.length === 0) return assert.deepStrictEqual(left, given)
        assert.deepStrictEqual(left.dropped, [...(before ?? []), ...hit])
        // Nobody is left in To: no mail goes out, and the row shows whom it was for.
        const isOver = !to.some(isLeft)
        assert.deepStrictEqual(left.to, isOver ? to : to.filter(isLeft))
        assert.deepStrictEqual(left.others, isOver ? others : others.filter(isLeft))
      })
    )
  })

  it("MAIL-51: is as old as the waits before it", () => {
    const ages = [1, 2, 3].map((attempt) => ageBySchedule({ attempt }, [120, 600, 900]))
    assert.deepStrictEqual(ages, [120_000, 720_000, 1_620_000])
  })

  it("MAIL-56: does not go out 24 hours after the first attempt, or once its mail has expired", () => {
    const late = AT + IDEMPOTENCY_WINDOW_MS
    assert.isUndefined(tooLate(message(), AT, late - 1))
    assert.match(tooLate(message(), AT, late) ?? "", /24 hours/)
    const brief = message("", { expiresAt: AT + 1000 })
    assert.isUndefined(tooLate(brief, AT, AT + 999))
    assert.match(tooLate(brief, AT, AT + 1000) ?? "", /expired/)
    assert.isTrue(hasExpired(AT, AT))
    assert.isFalse(hasExpired(AT, AT - 1))
    assert.isFalse(hasExpired(undefined, AT))
  })

  it("S2: ends where its key is in doubt at another provider, too", () => {
    assert.isUndefined(tornBy(false))
    assert.match(tornBy(true) ?? "", /other provider/)
  })

  it("MAIL-56: counts from the earliest attempt by the database's clock; its own counts for nothing beside it", () => {
    assert.strictEqual(firstOf(message(), AT + 5), AT)
    assert.strictEqual(firstOf(message(), AT - 5), AT - 5)
    for (const known of [AT - 5, AT + 5])
      assert.strictEqual(firstOf(message("", { timedBy: "process" }), known), known)
  })

  it("MAIL-55: fits into 250,000 bytes of UTF-8, and is the same again", () => {
    const room = MAX_DEFERRED_BYTES - deferredJson(message()).length
    for (const [body, fits] of [
      ["x".repeat(room), true],
      ["x".repeat(room + 1), false],
      // Two bytes each.
      [`${room % 2 === 0 ? "" : "x"}${"ü".repeat(room / 2)}`, true],
      [`${room % 2 === 0 ? "" : "x"}${"ü".repeat(room / 2)}x`, false],
      ["ü".repeat(room), false]
    ] as const) {
      const encoded = encodeDeferredSend(message(body))
      assert.strictEqual(Option.isSome(encoded), fits)
      if (Option.isSome(encoded))
        assert.deepStrictEqual(Option.getOrThrow(decodeDeferredSend(encoded.value)), message(body))
    }
    assert.isTrue(Option.isNone(decodeDeferredSend("{}")))
    assert.isTrue(Option.isNone(decodeDeferredSend("no JSON")))
  })
})
