import { assert, describe, it } from "@effect/vitest"

import { makeKeyMemory } from "../../../src/application/mail/key-memory.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../src/domain/mail/failover.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { anyId } from "../../support/any-id.ts"

const result: SendResult = {
  ok: true,
  status: "sent",
  sendId: anyId("s"),
  provider: "provider_a",
  providerMessageId: "m",
  failedOver: false,
  idempotencyKey: "k",
  suppressedRecipients: []
}
const request = (owner: string) =>
  ({
    payloadHash: "p",
    provider: "provider_a",
    owner,
    tag: anyId(`tag of ${owner}`),
    leaseMs: 1000,
    isSettled: false
  }) as const
const fresh = { sticky: undefined, tag: undefined, late: false, takeover: false, ageMs: 0, lastAgeMs: 0 }

/** A memory of so many keys, in which key 0 to `count - 1` were sent one after another. */
const sent = (maxKeys: number, count: number) => {
  const memory = makeKeyMemory(maxKeys)
  for (let key = 0; key < count; key += 1) {
    memory.hold(anyId(`key ${key}`), fresh, request(`call ${key}`), key)
    const end = { owner: `call ${key}`, state: "accepted", ambiguous: false, result } as const
    memory.settle(anyId(`key ${key}`), end, key)
  }
  return memory
}

describe("what a process remembers of its keys", () => {
  it("is bounded: the oldest go first", () => {
    const memory = sent(10, 25)
    const known = Array.from({ length: 25 }, (_, key) => memory.known(anyId(`key ${key}`), 100) !== undefined)
    assert.deepStrictEqual(known, [...Array<boolean>(15).fill(false), ...Array<boolean>(10).fill(true)])
  })

  it("is bounded at any time, and forgets no more than a part of its keys together", () => {
    for (const count of [31, 32, 33, 34, 35, 36, 100, 101, 102, 103]) {
      const memory = sent(32, count)
      const isKnown = (key: number) => memory.known(anyId(`key ${key}`), 200) !== undefined
      const known = Array.from({ length: count }, (_, key) => key).filter(isKnown)
      assert.isAtMost(known.length, 32)
      assert.isAtLeast(known.length, Math.min(count, 30))
      assert.strictEqual(known[0], count - known.length)
    }
  })

  it("ends with the key's time", () => {
    const memory = sent(10, 1)
    const ask = (now: number) => memory.decide(anyId("key 0"), request("another"), now)?._tag
    assert.strictEqual(ask(IDEMPOTENCY_WINDOW_MS - 1), "Replay")
    assert.isUndefined(ask(IDEMPOTENCY_WINDOW_MS))
    assert.isUndefined(memory.known(anyId("key 0"), IDEMPOTENCY_WINDOW_MS))
  })

  it("S9: contradicts no call by one that is under way, and may never get the key", () => {
    const memory = makeKeyMemory()
    const other = { ...request("second"), payloadHash: "another" }
    const undo = memory.hold(anyId("key"), fresh, request("first"), 0)
    assert.strictEqual(memory.decide(anyId("key"), other, 1)?._tag, "InProgress")
    // The store gave the key to another process, which sends what the second call asks for.
    undo()
    assert.isUndefined(memory.decide(anyId("key"), other, 1))
    memory.hold(anyId("key"), fresh, request("first"), 1)
    memory.settle(anyId("key"), { owner: "first", state: "accepted", ambiguous: false, result }, 2)
    assert.strictEqual(memory.decide(anyId("key"), other, 3)?._tag, "Conflict")
  })

  it("says who has the key: another call takes it once a lease has passed", () => {
    const memory = makeKeyMemory()
    memory.hold(anyId("key"), fresh, request("first"), 0)
    assert.isTrue(memory.owns(anyId("key"), "first"))
    assert.strictEqual(memory.decide(anyId("key"), request("second"), 999)?._tag, "InProgress")
    assert.strictEqual(memory.decide(anyId("key"), request("second"), 1_001)?._tag, "Claimed")
    memory.hold(anyId("key"), { ...fresh, sticky: "provider_a" }, request("second"), 1_001)
    assert.deepStrictEqual(
      ["first", "second"].map((owner) => memory.owns(anyId("key"), owner)),
      [false, true]
    )
  })

  it("is put back as it was by a call that did not begin after all", () => {
    const memory = sent(10, 1)
    memory.hold(anyId("key 0"), { ...fresh, sticky: "provider_b" }, request("second"), 5)()
    assert.strictEqual(memory.decide(anyId("key 0"), request("third"), 6)?._tag, "Replay")
    memory.hold(anyId("new"), fresh, request("fourth"), 6)()
    assert.isUndefined(memory.decide(anyId("new"), request("fifth"), 7))
  })

  it("keeps what the store said for as long as the store does, and not a day more (S4)", () => {
    const memory = makeKeyMemory()
    const age = IDEMPOTENCY_WINDOW_MS - 60_000
    const ages = { ageMs: IDEMPOTENCY_WINDOW_MS, lastAgeMs: age }
    memory.learn(anyId("old"), { result, ...ages }, request("first"), age)
    const ask = (now: number) => memory.decide(anyId("old"), request("second"), now)?._tag
    assert.strictEqual(ask(age + 59_999), "Replay")
    assert.isUndefined(ask(age + 60_000))
  })

  it("keeps a key that evidence settles for no longer than the attempt that was accepted (S5)", () => {
    const memory = makeKeyMemory()
    const key = anyId("key")
    const claimed = { ...fresh, sticky: "provider_a", ageMs: 60_000, lastAgeMs: 60_000 } as const
    memory.hold(key, claimed, { ...request("call"), isSettled: true }, 60_000)
    memory.settle(key, { owner: "call", state: "accepted", ambiguous: true, result }, 60_001)
    const ask = (now: number) => memory.decide(key, request("another"), now)?._tag
    assert.strictEqual(ask(IDEMPOTENCY_WINDOW_MS - 1), "Replay")
    assert.isUndefined(ask(IDEMPOTENCY_WINDOW_MS))
  })

  describe("of its retries (S4)", () => {
    const retry = (owner: string) =>
      ({ provider: "provider_b", owner, tag: undefined, leaseMs: 1000, ageMs: 120_000 }) as const
    const key = anyId("key")

    it("is busy while a call or a retry of the process has the key, and then tells how it ended", () => {
      const memory = makeKeyMemory()
      memory.hold(key, fresh, request("call"), 0)
      assert.strictEqual(memory.beginRetry(key, retry("retry"), 1).decision._tag, "Busy")
      memory.settle(key, { owner: "call", state: "accepted", ambiguous: false, result }, 2)
      assert.deepStrictEqual(memory.beginRetry(key, retry("retry"), 3).decision, {
        _tag: "Settled",
        evidence: { provider: "provider_a", providerMessageId: "m" }
      })
    })

    it("is as before once a retry that asks nobody has put the key back", () => {
      const memory = makeKeyMemory()
      memory.beginRetry(key, retry("late"), 0).undo()
      memory.settle(key, { owner: "late", state: "ambiguous", ambiguous: true, result: undefined }, 1)
      assert.isUndefined(memory.decide(key, request("call"), 2))
    })

    it("holds the key, and answers calls with what the retry heard", () => {
      const memory = makeKeyMemory()
      assert.strictEqual(memory.beginRetry(key, retry("retry"), 0).decision._tag, "Go")
      assert.strictEqual(memory.decide(key, request("call"), 1)?._tag, "InProgress")
      memory.settle(key, { owner: "retry", state: "accepted", ambiguous: true, result }, 2)
      assert.strictEqual(memory.decide(key, request("call"), 3)?._tag, "Replay")
    })

    it("keeps the acceptance of a call that was frozen past its lease, and that another one went on from (S4)", () => {
      const memory = makeKeyMemory()
      memory.hold(key, fresh, request("frozen"), 0)
      memory.hold(key, { ...fresh, sticky: "provider_a", takeover: true }, request("heir"), 1)
      memory.settle(key, { owner: "frozen", state: "accepted", ambiguous: false, result }, 2)
      memory.settle(key, { owner: "heir", state: "ambiguous", ambiguous: true, result: undefined }, 3)
      assert.strictEqual(memory.decide(key, request("next"), 4)?._tag, "Replay")
      assert.strictEqual(memory.beginRetry(key, retry("retry"), 5).decision._tag, "Settled")
    })

    it("knows where it got no clear answer, also once the store has said something else of the key (S2)", () => {
      const memory = makeKeyMemory()
      const failed = {
        ...result,
        ok: false,
        status: "failed",
        kind: "ambiguous",
        error: "no answer",
        providerMessageId: null
      } as const
      memory.hold(key, fresh, request("call"), 0)
      memory.settle(
        key,
        { owner: "call", state: "ambiguous", ambiguous: true, result: failed },
        1,
        "provider_a"
      )
      assert.strictEqual(memory.doubtAt(key, 2), "provider_a")
      const elsewhere = { ...failed, status: "deferred", ok: true, provider: "provider_b" } as const
      memory.learn(key, { result: elsewhere, ageMs: 1, lastAgeMs: 1 }, request("second"), 2)
      assert.strictEqual(memory.doubtAt(key, 3), "provider_a")
      assert.isUndefined(memory.doubtAt(key, 25 * 3_600_000))
    })
  })

  it("answers with the row's own id, and with an acceptance that the log knew of", () => {
    const memory = sent(10, 1)
    memory.answer(anyId("key 0"), "call 0", { ...result, sendId: anyId("the row") })
    memory.answer(anyId("key 0"), "somebody else", { ...result, sendId: anyId("another row") })
    assert.deepStrictEqual(memory.decide(anyId("key 0"), request("second"), 1), {
      _tag: "Replay",
      result: { ...result, sendId: anyId("the row") },
      firstAttemptAt: 0,
      lastAttemptAt: 0
    })
  })
})
