import { dedupes, IDEMPOTENCY_WINDOW_MS, provesNonAcceptance, type Provider } from "./failover.ts"
import type { SendResult } from "./send-result.ts"

/**
 * The state of a key that a caller chose (MAIL-41 to MAIL-43).
 *
 * - `held`: a call is under way, until its lease ends.
 * - `accepted`, `deferred`: the result is final for callers.
 * - `refused`: no provider accepted anything, proven; the key is free.
 * - `ambiguous`: ended `failed`, and a copy may be out.
 */
export type ClaimState = "held" | "accepted" | "deferred" | "refused" | "ambiguous"

/** The stored claim on a key. Times are milliseconds of the store's clock. */
export interface Claim {
  /** Empty where a retry made the claim: the first call's hash was never stored, so any payload fits. */
  readonly payloadHash: string
  readonly state: ClaimState
  /** The provider of the attempt under way, or of the last one. */
  readonly provider: Provider
  /** Whether any attempt on the key was ambiguous. */
  readonly ambiguous: boolean
  readonly owner: string
  readonly leaseUntil: number
  readonly firstAttemptAt: number
  readonly result: SendResult | undefined
}

/** What a caller asks for. */
interface ClaimRequest {
  readonly payloadHash: string
  /** The provider that a fresh attempt goes to first. */
  readonly provider: Provider
}

/** Proof that a send with this key was accepted: an event, or another attempt's row. */
export interface Evidence {
  readonly provider: Provider
  readonly providerMessageId: string
}

/**
 * What the log knows of a key without a claim (the claim store was away, so that only rows were written): the newest row of
 * the last 24 hours that proves acceptance, else the newest that leaves it open.
 */
export interface Trail {
  readonly provider: Provider
  /** Milliseconds of the store's clock. */
  readonly since: number
}

/** What a caller may do. */
export type ClaimDecision =
  /** Send. `sticky`: the only provider that may see the key. `takeover`: an earlier attempt on it left no result. */
  | {
      readonly _tag: "Claimed"
      readonly sticky: Provider | undefined
      readonly takeover: boolean
      readonly firstAttemptAt: number
    }
  /** Send nothing, return this result. */
  | { readonly _tag: "Replay"; readonly result: SendResult }
  | { readonly _tag: "Conflict" }
  | { readonly _tag: "InProgress" }

const fresh = (now: number): ClaimDecision => ({
  _tag: "Claimed",
  sticky: undefined,
  takeover: false,
  firstAttemptAt: now
})

/**
 * Decides what a call on a key may do. `begin_email_sends` in SQL takes the same decisions under a row lock; a test
 * on PostgreSQL goes through every state of a key and holds them equal.
 */
export const decideClaim = (
  claim: Claim | undefined,
  request: ClaimRequest,
  known: { readonly evidence: Evidence | undefined; readonly trail: Trail | undefined },
  now: number
): ClaimDecision => {
  if (claim === undefined || claim.state === "refused") {
    const { trail } = known
    return trail === undefined
      ? fresh(now)
      : { _tag: "Claimed", sticky: trail.provider, takeover: true, firstAttemptAt: trail.since }
  }
  const leased = now < claim.leaseUntil
  if (!leased && now - claim.firstAttemptAt >= IDEMPOTENCY_WINDOW_MS) return fresh(now)
  if (claim.payloadHash !== "" && claim.payloadHash !== request.payloadHash) return { _tag: "Conflict" }
  const { result } = claim
  if (result !== undefined && (claim.state === "accepted" || claim.state === "deferred")) {
    return { _tag: "Replay", result }
  }
  if (leased) return { _tag: "InProgress" }
  const retriable = known.evidence !== undefined || dedupes(claim.provider)
  if (!retriable && result !== undefined) return { _tag: "Replay", result }
  return {
    _tag: "Claimed",
    sticky: claim.provider,
    takeover: result === undefined,
    firstAttemptAt: claim.firstAttemptAt
  }
}

/** The state in which a finished call leaves its key. `ambiguous` says whether any attempt on it was. */
export const settledState = (result: SendResult, ambiguous: boolean): ClaimState => {
  switch (result.status) {
    case "sent":
      return "accepted"
    case "deferred":
      return "deferred"
    case "suppressed":
      return ambiguous ? "ambiguous" : "refused"
    case "failed":
      return !ambiguous && provesNonAcceptance(result.kind) ? "refused" : "ambiguous"
  }
}
