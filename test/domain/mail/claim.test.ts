import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  type Claim,
  type ClaimState,
  decideClaim,
  settledState,
  type Trail
} from "../../../src/domain/mail/claim.ts"
import { dedupes, IDEMPOTENCY_WINDOW_MS, type Provider } from "../../../src/domain/mail/failover.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { anyId } from "../../support/any-id.ts"

const NOW = 10 * IDEMPOTENCY_WINDOW_MS
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
const claimOf = (change: Partial<Claim>): Claim => ({
  payloadHash: "p",
  state: "accepted",
  provider: "provider_a",
  ambiguous: false,
  owner: "o",
  leaseUntil: 0,
  firstAttemptAt: NOW - 1000,
  result,
  ...change
})
const ask = (claim: Claim | undefined, payloadHash = "p", evidence = false, trail?: Trail) => {
  const proof = evidence ? { provider: "provider_b" as const, providerMessageId: "m" } : undefined
  const decision = decideClaim(
    claim,
    { payloadHash, provider: "provider_b" },
    { evidence: proof, trail },
    NOW
  )
  return decision._tag === "Claimed"
    ? `Claimed ${decision.sticky ?? "-"}${decision.takeover ? " takeover" : ""}`
    : decision._tag
}

describe("claim of a key", () => {
  it("S9: decides by this table (MAIL-41 to MAIL-43)", () => {
    const live = { leaseUntil: NOW + 1 }
    const old = { firstAttemptAt: NOW - IDEMPOTENCY_WINDOW_MS }
    const rows: ReadonlyArray<readonly [string, Claim | undefined, string, string]> = [
      ["unknown key", undefined, "p", "Claimed -"],
      [
        "a retry's, payload unknown",
        claimOf({ state: "deferred", payloadHash: "", result: undefined }),
        "p",
        "Claimed provider_a takeover"
      ],
      [
        "a retry's, under way",
        claimOf({ state: "deferred", payloadHash: "", result: undefined, ...live }),
        "p",
        "InProgress"
      ],
      ["deferred, its retry under way", claimOf({ state: "deferred", ...live }), "p", "Replay"],
      ["sent", claimOf({ state: "accepted" }), "p", "Replay"],
      ["deferred", claimOf({ state: "deferred" }), "p", "Replay"],
      ["refused", claimOf({ state: "refused" }), "p", "Claimed -"],
      ["refused, another payload: the key is free", claimOf({ state: "refused" }), "q", "Claimed -"],
      ["ambiguous on the provider that dedupes", claimOf({ state: "ambiguous" }), "p", "Claimed provider_a"],
      ["ambiguous on the other", claimOf({ state: "ambiguous", provider: "provider_b" }), "p", "Replay"],
      ["another payload", claimOf({ state: "accepted" }), "q", "Conflict"],
      ["another payload, ambiguous", claimOf({ state: "ambiguous" }), "q", "Conflict"],
      ["under way", claimOf({ state: "held", result: undefined, ...live }), "p", "InProgress"],
      ["under way, another payload", claimOf({ state: "held", result: undefined, ...live }), "q", "Conflict"],
      ["its process died", claimOf({ state: "held", result: undefined }), "p", "Claimed provider_a takeover"],
      [
        "its process died on the other",
        claimOf({ state: "held", result: undefined, provider: "provider_b" }),
        "p",
        "Claimed provider_b takeover"
      ],
      ["a day old", claimOf({ state: "accepted", ...old }), "p", "Claimed -"],
      ["a day old, another payload", claimOf({ state: "ambiguous", ...old }), "q", "Claimed -"],
      [
        "a day old and still under way",
        claimOf({ state: "held", result: undefined, ...live, ...old }),
        "p",
        "InProgress"
      ]
    ]
    for (const [name, claim, payload, decision] of rows)
      assert.strictEqual(ask(claim, payload), decision, name)
    assert.strictEqual(
      ask(claimOf({ state: "ambiguous", provider: "provider_b" }), "p", true),
      "Claimed provider_b"
    )
  })

  it("S2: a send on an ambiguous key is bound to its provider; S1: unless a day has passed", () => {
    const claim = fc.record<Claim>({
      payloadHash: fc.constantFrom("p", "q"),
      state: fc.constantFrom<ClaimState>("held", "accepted", "deferred", "refused", "ambiguous"),
      provider: fc.constantFrom<Provider>("provider_a", "provider_b"),
      ambiguous: fc.boolean(),
      owner: fc.constant("o"),
      leaseUntil: fc.integer({ min: NOW - 5, max: NOW + 5 }),
      firstAttemptAt: fc.integer({ min: NOW - 2 * IDEMPOTENCY_WINDOW_MS, max: NOW }),
      result: fc.constant(result)
    })
    fc.assert(
      fc.property(claim, fc.boolean(), (stored, evidence) => {
        const decision = decideClaim(
          stored,
          { payloadHash: "p", provider: "provider_b" },
          {
            evidence: evidence ? { provider: stored.provider, providerMessageId: "m" } : undefined,
            trail: undefined
          },
          NOW
        )
        if (decision._tag !== "Claimed") return
        if (decision.sticky !== undefined) {
          assert.strictEqual(decision.sticky, stored.provider)
          assert.isTrue(decision.takeover || evidence || dedupes(stored.provider))
          assert.strictEqual(decision.firstAttemptAt, stored.firstAttemptAt)
        } else
          assert.isTrue(stored.state === "refused" || NOW - stored.firstAttemptAt >= IDEMPOTENCY_WINDOW_MS)
      }),
      { numRuns: 2000 }
    )
  })

  it("leaves a key free only after proof that nothing was accepted", () => {
    const { ok: _, ...rest } = result
    const failed = (kind: "rejected" | "unavailable" | "ambiguous"): SendResult => ({
      ...rest,
      ok: false,
      status: "failed",
      error: "e",
      kind,
      providerMessageId: null
    })
    assert.strictEqual(settledState(failed("rejected"), false), "refused")
    assert.strictEqual(settledState(failed("unavailable"), false), "refused")
    assert.strictEqual(settledState(failed("ambiguous"), false), "ambiguous")
    assert.strictEqual(settledState(failed("rejected"), true), "ambiguous")
    assert.strictEqual(settledState(result, true), "accepted")
  })
})
