import fc from "fast-check"

import { type Claim, type ClaimState, NO_LEASE } from "../../../src/domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../src/domain/mail/failover.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { anyId } from "../../support/any-id.ts"

/** When the claims of these tests are looked at. */
export const NOW = 10 * IDEMPOTENCY_WINDOW_MS
export const HOUR_MS = 3_600_000
/** An acceptance. */
export const result: SendResult = {
  ok: true,
  status: "sent",
  sendId: anyId("s"),
  provider: "provider_a",
  providerMessageId: "m",
  failedOver: false,
  idempotencyKey: "k",
  suppressedRecipients: []
}
const { ok: _ok, ...rest } = result
/** What a caller hears while a retry waits. */
export const waiting: SendResult = { ...rest, ok: true, status: "deferred", providerMessageId: null }
export const refusal = (status: "failed" | "suppressed"): SendResult => ({
  ...rest,
  ok: false,
  error: "e",
  providerMessageId: null,
  ...(status === "failed" ? { status, kind: "unavailable" } : { status })
})
/** A claim that was accepted a second ago, but for `change`. */
export const claim = (change: Partial<Claim>): Claim => ({
  payloadHash: "p",
  state: "accepted",
  provider: "provider_a",
  ambiguous: false,
  leaving: true,
  owner: "o",
  leaseUntil: NO_LEASE,
  firstAttemptAt: NOW - 1000,
  lastAttemptAt: NOW - 1000,
  tag: anyId("tag"),
  result,
  ...change
})
export const anyClaim = fc.record<Claim>({
  payloadHash: fc.constantFrom("p", "q"),
  state: fc.constantFrom<ClaimState>("held", "accepted", "deferred", "refused", "ambiguous", "ended"),
  provider: fc.constantFrom<Provider>("provider_a", "provider_b"),
  ambiguous: fc.boolean(),
  leaving: fc.boolean(),
  owner: fc.constant("o"),
  leaseUntil: fc.oneof(fc.constant(NO_LEASE), fc.integer({ min: NOW - 5, max: NOW + 5 })),
  firstAttemptAt: fc.integer({ min: NOW - 3 * IDEMPOTENCY_WINDOW_MS, max: NOW }),
  lastAttemptAt: fc.integer({ min: NOW - 2 * IDEMPOTENCY_WINDOW_MS, max: NOW }),
  tag: fc.constantFrom(anyId("tag"), undefined),
  result: fc.constantFrom(result, undefined)
})
