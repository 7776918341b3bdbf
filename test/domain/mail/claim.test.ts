import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { settledClaim, settledState } from "../../../src/domain/mail/claim-end.ts"
import {
  type Claim,
  claimOf,
  type ClaimState,
  continuation,
  decideClaim,
  isFree,
  movedClaim,
  NO_LEASE,
  type Trail
} from "../../../src/domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../src/domain/mail/failover.ts"
import { dedupes } from "../../../src/domain/mail/provider.ts"
import { decideRetry } from "../../../src/domain/mail/retry-claim.ts"
import { anyId } from "../../support/any-id.ts"
import { anyClaim, claim, HOUR_MS, NOW, refusal, result } from "./any-claim.ts"

const REQUEST = { payloadHash: "p", provider: "provider_b", owner: "new", tag: anyId("new tag") } as const
const PROOF = { provider: "provider_b", providerMessageId: "m" } as const
const ask = (stored: Claim | undefined, payloadHash = "p", evidence = false, trail?: Trail) => {
  const known = { evidence: evidence ? PROOF : undefined, trail }
  const decision = decideClaim(stored, { ...REQUEST, payloadHash }, known, NOW)
  return decision._tag === "Claimed"
    ? `Claimed ${decision.sticky ?? "-"}${decision.takeover ? " takeover" : ""}${decision.late ? " late" : ""}`
    : decision._tag
}

describe("claim of a key", () => {
  it("S9: decides by this table (MAIL-41 to MAIL-43)", () => {
    const live = { leaseUntil: NOW + 1 }
    const day = NOW - IDEMPOTENCY_WINDOW_MS
    const old = { firstAttemptAt: day, lastAttemptAt: day }
    const retried = { firstAttemptAt: day, lastAttemptAt: day + HOUR_MS }
    const dead = { state: "held", result: undefined } as const
    const rows: ReadonlyArray<readonly [string, Claim | undefined, string, string]> = [
      ["unknown key", undefined, "p", "Claimed -"],
      [
        "a retry's, payload unknown",
        claim({ state: "deferred", payloadHash: "", result: undefined }),
        "p",
        "Claimed provider_a takeover"
      ],
      [
        "a retry's, under way",
        claim({ state: "deferred", payloadHash: "", result: undefined, ...live }),
        "p",
        "InProgress"
      ],
      ["deferred, its retry under way", claim({ state: "deferred", ...live }), "p", "Replay"],
      ["sent", claim({ state: "accepted" }), "p", "Replay"],
      ["deferred", claim({ state: "deferred" }), "p", "Replay"],
      ["refused", claim({ state: "refused" }), "p", "Claimed -"],
      ["refused, another payload: the key is free", claim({ state: "refused" }), "q", "Claimed -"],
      ["ambiguous on the provider that dedupes", claim({ state: "ambiguous" }), "p", "Claimed provider_a"],
      ["ambiguous on the other", claim({ state: "ambiguous", provider: "provider_b" }), "p", "Replay"],
      ["refused after an ambiguous attempt", claim({ state: "ended" }), "p", "Replay"],
      ["another payload", claim({ state: "accepted" }), "q", "Conflict"],
      ["another payload, ambiguous", claim({ state: "ambiguous" }), "q", "Conflict"],
      ["another payload, ended", claim({ state: "ended" }), "q", "Conflict"],
      ["under way", claim({ ...dead, ...live }), "p", "InProgress"],
      ["under way, another payload", claim({ ...dead, ...live }), "q", "Conflict"],
      ["its process died", claim(dead), "p", "Claimed provider_a takeover"],
      [
        "its process died on the other",
        claim({ ...dead, provider: "provider_b" }),
        "p",
        "Claimed provider_b takeover"
      ],
      ["its process died before a request left", claim({ ...dead, leaving: false }), "q", "Claimed -"],
      [
        "the same, after an ambiguous attempt",
        claim({ ...dead, leaving: false, ambiguous: true }),
        "p",
        "Claimed provider_a takeover"
      ],
      ["the same, under way", claim({ ...dead, leaving: false, ...live }), "p", "InProgress"],
      ["a day old", claim({ state: "accepted", ...old }), "p", "Claimed -"],
      ["a day old, another payload", claim({ state: "ambiguous", ...old }), "q", "Claimed -"],
      ["a day old and still under way", claim({ ...dead, ...live, ...old }), "p", "InProgress"],
      ["a day old, tried since", claim({ state: "deferred", ...retried }), "p", "Replay"],
      ["the same, another payload", claim({ state: "deferred", ...retried }), "q", "Conflict"],
      ["ambiguous for a day, tried since", claim({ state: "ambiguous", ...retried }), "p", "Replay"],
      ["dead for a day, tried since", claim({ ...dead, ...retried }), "p", "Claimed provider_a takeover late"]
    ]
    for (const [name, stored, payload, decision] of rows)
      assert.strictEqual(ask(stored, payload), decision, name)
    for (const state of ["ambiguous", "ended"] as const)
      assert.strictEqual(ask(claim({ state, provider: "provider_b" }), "p", true), "Claimed provider_b")
  })

  it("S2: goes on where a trail of rows, or the process's own memory, leaves a key without a claim open", () => {
    const trail = {
      provider: "provider_a",
      since: NOW - 1,
      last: NOW - 1,
      tag: anyId("of the trail")
    } as const
    for (const stored of [undefined, claim({ state: "refused" })]) {
      const decision = decideClaim(stored, REQUEST, { evidence: undefined, trail }, NOW)
      assert.deepInclude(decision, {
        sticky: "provider_a",
        takeover: true,
        tag: trail.tag,
        firstAttemptAt: NOW - 1
      })
    }
    assert.strictEqual(
      ask(undefined, "p", false, { ...trail, since: NOW - IDEMPOTENCY_WINDOW_MS }),
      "Claimed provider_a takeover late"
    )
  })

  it("S2: a send on an ambiguous key is bound to its provider; S1: and nobody is asked a day after the first", () => {
    fc.assert(
      fc.property(anyClaim, fc.boolean(), (stored, evidence) => {
        const known = { evidence: evidence ? PROOF : undefined, trail: undefined }
        const decision = decideClaim(stored, REQUEST, known, NOW)
        if (decision._tag !== "Claimed") return
        const isOver = stored.leaseUntil <= NOW && NOW - stored.lastAttemptAt >= IDEMPOTENCY_WINDOW_MS
        // A send under the tag of a free key was accepted all the same.
        assert.strictEqual(decision.sticky === undefined, isFree(stored, NOW) && (isOver || !evidence))
        if (decision.sticky === undefined) {
          // Another use has another tag, unless nothing was accepted under that one.
          assert.strictEqual(decision.tag, isOver ? REQUEST.tag : (stored.tag ?? REQUEST.tag))
          return
        }
        assert.strictEqual(decision.sticky, isFree(stored, NOW) ? PROOF.provider : stored.provider)
        assert.strictEqual(decision.tag, stored.tag)
        assert.strictEqual(decision.firstAttemptAt, stored.firstAttemptAt)
        assert.strictEqual(decision.late, NOW - stored.firstAttemptAt >= IDEMPOTENCY_WINDOW_MS)
        assert.isTrue(evidence || decision.takeover || dedupes(stored.provider))
        assert.isTrue(decision.takeover || !isFree(stored, NOW))
        assert.strictEqual(decision.torn === true, !isFree(stored, NOW) && stored.state === "ended")
        if (continuation(decision) === "ask") {
          assert.isFalse(decision.late)
          assert.isTrue(dedupes(decision.sticky) || evidence)
        }
      }),
      { numRuns: 5000 }
    )
  })

  it("S2: no end frees a key once an attempt on it was ambiguous, or is kept as certainly not delivered", () => {
    const states = fc.constantFrom<ClaimState>("accepted", "deferred", "refused", "ambiguous", "ended")
    const ends = fc.constantFrom(result, refusal("failed"), refusal("suppressed"), undefined)
    fc.assert(
      fc.property(anyClaim, states, fc.boolean(), ends, (stored, state, ambiguous, end) => {
        const settled = settledClaim(stored, { owner: "o", state, ambiguous, result: end }, NOW)
        const byAnother = settledClaim(stored, { owner: "another", state, ambiguous, result: end }, NOW)
        if (stored.leaseUntil === NO_LEASE) {
          // An acceptance ends a deferral, also one that another call learned of (S9).
          const isEnded = stored.state === "deferred" && state === "accepted" && end !== undefined
          assert.strictEqual(settled?.state, isEnded ? "accepted" : undefined)
          return assert.deepStrictEqual(byAnother, settled)
        }
        assert.isDefined(settled)
        assert.strictEqual(settled.leaseUntil, NO_LEASE)
        assert.strictEqual(settled.ambiguous, stored.ambiguous || ambiguous)
        if (end === undefined || stored.state === "accepted")
          assert.deepInclude(settled, { state: stored.state, result: stored.result })
        else if (stored.ambiguous) assert.notStrictEqual(settled.state, "refused")
        const kept = end === undefined ? undefined : settled.result
        if (settled.state === "ended" && kept !== undefined && !kept.ok)
          assert.deepInclude(kept, { status: "failed", kind: "ambiguous", error: "e" })
        assert.isUndefined(byAnother)
      }),
      { numRuns: 2000 }
    )
  })

  it("leaves a key free only after proof that nothing was accepted", () => {
    assert.strictEqual(settledState("failed", "rejected", false), "refused")
    assert.strictEqual(settledState("failed", "unavailable", false), "refused")
    assert.strictEqual(settledState("suppressed", undefined, false), "refused")
    for (const kind of ["ambiguous", undefined] as const)
      for (const before of [true, false])
        assert.strictEqual(settledState("failed", kind, before), "ambiguous")
    assert.strictEqual(settledState("failed", "rejected", true), "ended")
    assert.strictEqual(settledState("failed", "unavailable", true), "ended")
    assert.strictEqual(settledState("suppressed", undefined, true), "ended")
    const kinds = ["ambiguous", "rejected", "unavailable", undefined] as const
    for (const kind of kinds)
      for (const before of [true, false]) {
        assert.strictEqual(settledState("sent", kind, before), "accepted")
        // Its own attempt may have been refused for certain: what waits is neither free nor ended.
        assert.strictEqual(settledState("deferred", kind, before), "deferred")
      }
  })

  it("is held until 24 hours after its last attempt, and a call that asks nobody does not prolong that", () => {
    const dead = claim({
      state: "held",
      result: undefined,
      firstAttemptAt: NOW - IDEMPOTENCY_WINDOW_MS,
      lastAttemptAt: NOW - HOUR_MS
    })
    const decision = decideClaim(dead, REQUEST, { evidence: undefined, trail: undefined }, NOW)
    assert.strictEqual(decision._tag, "Claimed")
    if (decision._tag !== "Claimed") return
    const granted = claimOf(
      dead,
      decision,
      { ...REQUEST, leaseMs: 1000, leaving: true, isSettled: false },
      NOW
    )
    assert.strictEqual(granted.lastAttemptAt, NOW - HOUR_MS)
    const retry = {
      owner: "r",
      provider: "provider_a",
      leaseMs: 1000,
      evidence: undefined,
      tag: dead.tag,
      ageMs: 0,
      doubtAt: undefined
    } as const
    const late = decideRetry(granted, retry, NOW + 1000)
    assert.strictEqual(late._tag === "Go" && late.claim.lastAttemptAt, NOW - HOUR_MS)
    const asked = decideRetry({ ...granted, firstAttemptAt: NOW - HOUR_MS }, retry, NOW + 1000)
    assert.strictEqual(asked._tag === "Go" && asked.claim.lastAttemptAt, NOW + 2000)
  })

  it("S5: a call that evidence settles holds its key no longer than the attempt that was accepted", () => {
    const dead = claim({ state: "held", result: undefined, lastAttemptAt: NOW - HOUR_MS })
    const decision = decideClaim(dead, REQUEST, { evidence: undefined, trail: undefined }, NOW)
    assert.strictEqual(decision._tag, "Claimed")
    if (decision._tag !== "Claimed") return
    const request = { ...REQUEST, leaseMs: 1000, leaving: true, isSettled: true }
    const granted = claimOf(dead, decision, request, NOW)
    const end = { owner: REQUEST.owner, state: "accepted", ambiguous: true, result } as const
    const settled = settledClaim(granted, end, NOW + 1)
    assert.strictEqual(settled?.lastAttemptAt, NOW - HOUR_MS)
    assert.isTrue(settled !== undefined && isFree(settled, NOW - HOUR_MS + IDEMPOTENCY_WINDOW_MS))
  })

  it("S3: moves for its owner alone, while that one holds it", () => {
    const held = claim({ state: "held", leaving: false, leaseUntil: NOW + 1, result: undefined })
    assert.deepInclude(movedClaim(held, "o", "provider_b"), { provider: "provider_b", leaving: true })
    assert.isUndefined(movedClaim(held, "another", "provider_b"))
    assert.isUndefined(movedClaim(claim({ state: "accepted" }), "o", "provider_b"))
    assert.isUndefined(movedClaim(undefined, "o", "provider_b"))
  })
})
