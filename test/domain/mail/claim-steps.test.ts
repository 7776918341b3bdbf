import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { keptResult, reportedClaim, settledClaim } from "../../../src/domain/mail/claim-end.ts"
import {
  boundClaim,
  type ClaimDecision,
  claimOf,
  type ClaimState,
  continuation,
  decideClaim,
  movedClaim,
  newUse,
  NO_LEASE,
  tornAt
} from "../../../src/domain/mail/claim.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { anyId } from "../../support/any-id.ts"
import { anyClaim, claim, NOW, refusal, result, waiting } from "./any-claim.ts"

const provider = fc.constantFrom<Provider>("provider_a", "provider_b")
const REQUEST = { payloadHash: "p", provider: "provider_b", owner: "new", tag: anyId("new tag") } as const
const GRANT = { ...REQUEST, leaseMs: 1000, leaving: true, isSettled: false } as const
const NOTHING = { evidence: undefined, trail: undefined }

describe("a call that holds its key", () => {
  it("S2: gets the same answer where it asks again, and then knows that its own request may be out", () => {
    fc.assert(
      fc.property(fc.option(anyClaim, { nil: undefined }), (stored) => {
        const first = decideClaim(stored, REQUEST, NOTHING, NOW)
        if (first._tag !== "Claimed") return
        const granted = claimOf(stored, first, GRANT, NOW)
        const again = decideClaim(granted, REQUEST, NOTHING, NOW)
        const { firstAttemptAt, late, sticky, tag } = first
        assert.deepInclude(again, { _tag: "Claimed", firstAttemptAt, late, sticky, tag })
        assert.strictEqual(again._tag === "Claimed" && again.takeover, sticky !== undefined)
        // Its lease begins anew; what it is about stays.
        const { leaseUntil: _lease, lastAttemptAt: _last, ...kept } = granted
        const renewed = claimOf(granted, { ...first, late: false }, GRANT, NOW + 5)
        assert.deepInclude(renewed, { ...kept, leaseUntil: NOW + 1005, lastAttemptAt: NOW + 1005 })
        const unasked = claimOf(granted, { ...first, late: true }, GRANT, NOW + 5)
        assert.deepStrictEqual(unasked, { ...granted, leaseUntil: NOW + 1005 })
      })
    )
  })

  it("S2: another call's lease, and its end, take the place of the old ones as a whole", () => {
    const decision = { ...newUse(undefined, NOW), sticky: "provider_a", tag: anyId("t") } as const
    assert.deepStrictEqual(claimOf(claim({ state: "ambiguous" }), decision, GRANT, NOW), {
      payloadHash: "p",
      state: "held",
      provider: "provider_a",
      ambiguous: true,
      leaving: true,
      owner: "new",
      leaseUntil: NOW + 1000,
      firstAttemptAt: NOW,
      lastAttemptAt: NOW + 1000,
      tag: anyId("t"),
      result: undefined
    })
  })

  it("S2: a key in doubt at two providers is asked at neither", () => {
    const fresh = newUse(undefined, NOW)
    const bound = { ...fresh, sticky: "provider_a" } as const
    const others: ReadonlyArray<ClaimDecision> = [{ _tag: "Conflict" }, { _tag: "InProgress" }, fresh]
    for (const decision of others) assert.strictEqual(tornAt(decision, "provider_b"), decision)
    for (const doubtAt of [undefined, "provider_a"] as const)
      assert.strictEqual(tornAt(bound, doubtAt), bound)
    const torn = tornAt(bound, "provider_b")
    assert.isTrue(torn.torn)
    assert.strictEqual(continuation(torn), "end")
  })

  it("S2: a key that has ended asks no provider, by any call and as often as it asks", () => {
    const ended = claim({ state: "ended", provider: "provider_b", result: undefined })
    const grant = (stored: typeof ended, owner: string, now: number) => {
      const decision = decideClaim(stored, { ...REQUEST, owner }, NOTHING, now)
      if (decision._tag !== "Claimed") return assert.fail(decision._tag)
      assert.strictEqual(continuation(decision), "end", owner)
      return claimOf(stored, decision, { ...GRANT, owner }, now)
    }
    const taken = grant(ended, "o", NOW)
    const again = grant(taken, "o", NOW + 1)
    // Its answer never arrived, and another call finds what it left.
    const next = grant(again, "p", again.leaseUntil)
    assert.deepInclude(next, { state: "ended", owner: "p", result: undefined })
    // Once an end is written, who held it holds it no more.
    const settled = { ...next, leaseUntil: NO_LEASE, result: refusal("failed") }
    assert.strictEqual(decideClaim(settled, { ...REQUEST, owner: "p" }, NOTHING, NOW)._tag, "Replay")
    // In doubt at two providers, and ended by nobody: it is held as any other.
    const bound = claim({ state: "ambiguous", provider: "provider_a", result: undefined })
    const torn = { ...newUse(undefined, NOW), sticky: "provider_a", torn: true } as const
    assert.strictEqual(claimOf(bound, torn, GRANT, NOW).state, "held")
  })

  it("MAIL-43: goes on by this table", () => {
    const fresh = newUse(undefined, NOW)
    const a = { ...fresh, sticky: "provider_a" } as const
    const b = { ...fresh, sticky: "provider_b" } as const
    assert.strictEqual(continuation({ ...fresh, late: true }), "ask", "it is in doubt nowhere")
    assert.strictEqual(continuation(a), "ask")
    assert.strictEqual(continuation({ ...a, takeover: true }), "ask", "this one dedupes")
    assert.strictEqual(continuation(b), "ask", "its caller knows how the last attempt ended")
    assert.strictEqual(continuation({ ...b, takeover: true }), "defer")
    assert.strictEqual(continuation({ ...a, late: true }), "end")
    assert.strictEqual(continuation({ ...b, takeover: true, late: true }), "end")
  })

  it("S2: moves to another provider only while no attempt on its key was ambiguous", () => {
    fc.assert(
      fc.property(anyClaim, provider, (stored, to) => {
        const moved = movedClaim(stored, "o", to)
        if (stored.state !== "held" || (stored.ambiguous && to !== stored.provider))
          return assert.isUndefined(moved)
        assert.deepStrictEqual(moved, { ...stored, provider: to, leaving: true })
      })
    )
  })

  it("S2: is bound to where a send without a claim has left its key open, once", () => {
    fc.assert(
      fc.property(anyClaim, provider, (stored, at) => {
        const bound = boundClaim(stored, at)
        assert.isTrue(bound.ambiguous)
        assert.strictEqual(bound.provider, stored.ambiguous ? stored.provider : at)
        assert.deepStrictEqual(
          { ...bound, provider: at, ambiguous: true },
          { ...stored, provider: at, ambiguous: true }
        )
      })
    )
  })
})

describe("the end of a call", () => {
  const states = fc.constantFrom<ClaimState>("accepted", "deferred", "refused", "ambiguous", "ended")
  const ends = fc
    .tuple(fc.constantFrom(result, refusal("failed"), refusal("suppressed")), fc.option(provider))
    .map(([end, by]) => ({ ...end, provider: by }))

  it("S2, S9: leaves the key as it is known to be, and no provider to ask where two are in doubt", () => {
    fc.assert(
      fc.property(
        anyClaim,
        states,
        fc.boolean(),
        ends,
        fc.boolean(),
        (stored, state, ambiguous, end, knows) => {
          const after = knows ? stored.result?.sendId : anyId("another")
          const settled = settledClaim(stored, { owner: "o", state, ambiguous, result: end, after }, NOW)
          if (settled === undefined || stored.state === "accepted") return
          const asked = end.provider ?? stored.provider
          const isTorn = stored.ambiguous && asked !== stored.provider && state !== "accepted"
          const isOver = isTorn || (stored.state === "ended" && state !== "accepted")
          const isUnsure = stored.ambiguous && state === "refused"
          const endedBefore =
            stored.state === "held" && state === "deferred" && stored.result !== undefined && !knows
          const expected = endedBefore ? "ambiguous" : state
          assert.strictEqual(settled.state, isOver || isUnsure ? "ended" : expected)
          assert.strictEqual(settled.result?.ok, (endedBefore ? stored.result : end).ok)
          assert.strictEqual(settled.provider, isTorn ? stored.provider : asked)
          // What is known to have ended holds its key no longer than its last attempt.
          const isKnown = settled.state === "accepted" || settled.state === "refused"
          assert.strictEqual(
            settled.lastAttemptAt,
            isKnown ? Math.min(NOW, stored.lastAttemptAt) : stored.lastAttemptAt
          )
          const { firstAttemptAt, leaving, owner, payloadHash, tag } = stored
          assert.deepInclude(settled, { firstAttemptAt, leaving, owner, payloadHash, tag })
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("changes nothing of a key that has no claim", () => {
    assert.isUndefined(
      settledClaim(undefined, { owner: "o", state: "accepted", ambiguous: false, result }, NOW)
    )
  })

  it("holds its key no longer than to its end, where its lease would have lasted longer", () => {
    const leased = claim({
      state: "held",
      leaseUntil: NOW + 1000,
      lastAttemptAt: NOW + 1000,
      result: undefined
    })
    for (const [state, end] of [
      ["accepted", result],
      ["refused", refusal("failed")]
    ] as const)
      assert.strictEqual(
        settledClaim(leased, { owner: "o", state, ambiguous: false, result: end }, NOW)?.lastAttemptAt,
        NOW
      )
    for (const state of ["ambiguous", "deferred", "ended"] as const)
      assert.strictEqual(
        settledClaim(leased, { owner: "o", state, ambiguous: true, result: refusal("failed") }, NOW)
          ?.lastAttemptAt,
        NOW + 1000
      )
  })

  it("S2: is kept as certainly not delivered only of a key that is free", () => {
    assert.strictEqual(keptResult("ended", result), result)
    for (const status of ["failed", "suppressed"] as const) {
      const refused = refusal(status)
      assert.strictEqual(keptResult("refused", refused), refused)
      assert.deepInclude(keptResult("ended", refused), { ok: false, status: "failed", kind: "ambiguous" })
    }
  })

  it("S9: of a deferral that was accepted is reported alike to every later call, and no other is", () => {
    const sendId = anyId("s")
    const deferred = claim({ state: "deferred", provider: "provider_a", result: waiting })
    const end = {
      sendId: anyId("row"),
      outcome: "sent",
      provider: "provider_b",
      providerMessageId: "m2",
      failedOver: true,
      error: null
    } as const
    const accepted = {
      sendId: end.sendId,
      ok: true,
      status: "sent",
      provider: "provider_b",
      providerMessageId: "m2",
      failedOver: true,
      idempotencyKey: "k",
      suppressedRecipients: []
    }
    assert.deepStrictEqual(reportedClaim(deferred, sendId, end), {
      ...deferred,
      state: "accepted",
      provider: "provider_b",
      result: accepted
    } as never)
    assert.strictEqual(reportedClaim(deferred, sendId, { ...end, provider: null })?.provider, "provider_a")
    const nameless = { ...deferred, result: { ...waiting, provider: null } }
    assert.strictEqual(reportedClaim(nameless, sendId, { ...end, provider: null })?.provider, "provider_a")
    for (const outcome of ["failed", "suppressed"] as const)
      assert.isUndefined(reportedClaim(deferred, sendId, { ...end, outcome }))
    assert.isUndefined(reportedClaim(deferred, anyId("another"), end))
    assert.isUndefined(reportedClaim(undefined, sendId, end))
    for (const state of ["held", "accepted", "ended"] as const)
      assert.isUndefined(reportedClaim({ ...deferred, state }, sendId, end))
    assert.isUndefined(
      settledClaim(
        { ...deferred, leaseUntil: NO_LEASE },
        { owner: "o", state: "ended", ambiguous: true, result },
        NOW
      )
    )
  })
})
