import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { NO_LEASE } from "../../../src/domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../src/domain/mail/failover.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { claimOfRetry, decideRetry } from "../../../src/domain/mail/retry-claim.ts"
import { anyId } from "../../support/any-id.ts"
import { anyClaim, claim, NOW } from "./any-claim.ts"

const LEASE_MS = 1000
const provider = fc.constantFrom<Provider>("provider_a", "provider_b")
const anyRetry = fc.record({
  owner: fc.constantFrom("o", "r"),
  provider,
  leaseMs: fc.constant(LEASE_MS),
  evidence: fc.option(
    provider.map((by) => ({ provider: by, providerMessageId: "m" })),
    { nil: undefined }
  ),
  doubtAt: fc.option(provider, { nil: undefined }),
  tag: fc.constantFrom(anyId("tag"), anyId("of another use"), undefined),
  ageMs: fc.constantFrom(0, IDEMPOTENCY_WINDOW_MS - 1, IDEMPOTENCY_WINDOW_MS)
})

describe("what a queued retry may do", () => {
  it("S2, S5: asks its provider only where neither proof nor doubt stands against it", () => {
    fc.assert(
      fc.property(anyClaim, anyRetry, (stored, retry) => {
        const decision = decideRetry(stored, retry, NOW)
        if (retry.evidence !== undefined)
          return assert.deepStrictEqual(decision, { _tag: "Settled", evidence: retry.evidence })
        if (stored.leaseUntil > NOW && retry.owner !== stored.owner)
          return assert.deepStrictEqual(decision, { _tag: "Busy" })
        if (decision._tag !== "Go") return assert.fail(decision._tag)
        const isOfThisUse = stored.tag === retry.tag
        // A day late: the present use is another one's.
        if (!isOfThisUse && retry.ageMs === IDEMPOTENCY_WINDOW_MS)
          return assert.deepStrictEqual(decision, { _tag: "Go", claim: stored, torn: false })
        const mayBeOut = stored.ambiguous || (stored.state === "held" && stored.leaving)
        const isElsewhere = mayBeOut && stored.provider !== retry.provider
        const isTorn =
          retry.doubtAt !== undefined || (isOfThisUse && (isElsewhere || stored.state === "ended"))
        assert.strictEqual(decision.torn, isTorn)
        if (isTorn) {
          // A key that was free was left open since, at two providers: it ends, too.
          const isOpen = mayBeOut || stored.state === "deferred" || stored.state === "refused"
          if (!isOfThisUse || !isOpen) return assert.deepStrictEqual(decision.claim, stored)
          const lease = { owner: retry.owner, leaseUntil: NOW + LEASE_MS }
          return assert.deepStrictEqual(decision.claim, {
            ...stored,
            ...(stored.state === "refused" && { payloadHash: "", result: undefined }),
            state: "ended",
            ...(stored.provider === retry.provider && lease)
          })
        }
        const isLate = NOW - stored.firstAttemptAt >= IDEMPOTENCY_WINDOW_MS
        assert.deepStrictEqual(decision.claim, {
          ...stored,
          ...(stored.state === "refused" && { state: "deferred", payloadHash: "", result: undefined }),
          owner: retry.owner,
          provider: retry.provider,
          ambiguous: true,
          leaseUntil: NOW + LEASE_MS,
          lastAttemptAt: isLate ? stored.lastAttemptAt : NOW + LEASE_MS
        })
      }),
      { numRuns: 5000 }
    )
  })

  it("S2: makes a claim in doubt, for any payload, where its first call left none", () => {
    const tag = anyId("t")
    const { firstAttemptAt, lastAttemptAt } = claim({})
    assert.deepStrictEqual(
      claimOfRetry({ provider: "provider_b", owner: "r", tag }, { firstAttemptAt, lastAttemptAt }),
      {
        payloadHash: "",
        state: "deferred",
        provider: "provider_b",
        ambiguous: true,
        leaving: true,
        owner: "r",
        leaseUntil: NO_LEASE,
        firstAttemptAt,
        lastAttemptAt,
        tag,
        result: undefined
      }
    )
  })
})
