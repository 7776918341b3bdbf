import type { LogRowId } from "../ids.ts"
import { type Claim, type ClaimState, isLeased, NO_LEASE } from "./claim.ts"
import { provesNonAcceptance } from "./failover.ts"
import { type DeferralEnd, endedSince, type SendResult } from "./send-result.ts"

/** The state in which an end leaves its key. `ownKind`: the last attempt's own answer; `ambiguous`: an earlier attempt was. */
export const settledState = (
  status: SendResult["status"],
  ownKind: Parameters<typeof provesNonAcceptance>[0] | undefined,
  ambiguous: boolean
): ClaimState => {
  switch (status) {
    case "sent":
      return "accepted"
    case "deferred":
      return "deferred"
    case "suppressed":
      return ambiguous ? "ended" : "refused"
    case "failed":
      if (ownKind === undefined || !provesNonAcceptance(ownKind)) return "ambiguous"
      return ambiguous ? "ended" : "refused"
  }
}

/** How an owner ends what it holds of a key. `result`: absent for a retry that another one follows. */
export interface ClaimEnd {
  readonly owner: string
  readonly state: ClaimState
  readonly ambiguous: boolean
  readonly result: SendResult | undefined
  /** A retry's: its mail waited, and somebody may have been erased meanwhile. */
  readonly isRetry?: true
  /** A call's: the row by which the key had ended before it. */
  readonly after?: LogRowId | undefined
}

/** A key that is `ended` is never reported as certainly not delivered (S2). */
export const keptResult = (state: ClaimState, result: SendResult): SendResult => {
  if (state !== "ended" || result.ok) return result
  return { ...result, status: "failed", kind: "ambiguous" }
}

/**
 * The claim once a call has found how the deferral of `sendId` ended: where two copies are out, every later call returns the same one (S9).
 * Undefined where it is not this deferral's any more, or its end proves no acceptance.
 */
export const reportedClaim = (
  claim: Claim | undefined,
  sendId: LogRowId,
  end: DeferralEnd
): Claim | undefined => {
  if (claim?.state !== "deferred" || claim.result?.sendId !== sendId || end.outcome !== "sent")
    return undefined
  const result = endedSince(claim.result, end)
  return { ...claim, state: "accepted", provider: result.provider ?? claim.provider, result }
}

/**
 * Whether an end whose writer does not own the claim ends it (`email_claim_is_over`); of a call that is alive only the result is noted. An
 * acceptance ends a deferral, also where another call learned of it: every later call returns the same mail (S9). The last retry ends a
 * deferral, too, if it began while the store was away, and holds nothing, and if the call died before it wrote the deferral.
 */
const isOverBy = (claim: Claim, { isRetry, result, state }: ClaimEnd, now: number): boolean => {
  const isLastRetry = isRetry === true && claim.tag !== undefined
  if (result === undefined) return false
  if (claim.state === "deferred")
    return claim.leaseUntil === NO_LEASE && (state === "accepted" || isLastRetry)
  return claim.state === "held" && isLastRetry && (state !== "accepted" || !isLeased(claim, now))
}

/** The claim after its owner's end; undefined where the owner holds nothing of it any more: it is left alone. */
export const settledClaim = (claim: Claim | undefined, end: ClaimEnd, now: number): Claim | undefined => {
  if (claim === undefined) return undefined
  const isOwned = claim.owner === end.owner && claim.leaseUntil !== NO_LEASE
  if (!isOwned && !isOverBy(claim, end, now)) return undefined
  const ambiguous = claim.ambiguous || end.ambiguous
  // What was reported stays: a retry that ends later changes no answer (S9).
  if (end.result === undefined || claim.state === "accepted")
    return { ...claim, ambiguous, leaseUntil: NO_LEASE }
  if (!isOwned && isLeased(claim, now)) return { ...claim, result: keptResult("ended", end.result) }
  const provider = end.result.provider ?? claim.provider
  // The owner did not know where the key was in doubt, or that it was, and asked the other provider: from now on no provider is asked.
  const isTorn = claim.ambiguous && end.state !== "accepted" && provider !== claim.provider
  // A caller that does not know of an earlier ambiguous attempt cannot release its key.
  const isOver = end.state !== "accepted" && claim.state === "ended"
  // No retry follows this deferral: it shares them with the call before, and they have ended.
  const endedBefore =
    claim.state === "held" && end.state === "deferred" && claim.result?.sendId !== end.after
      ? claim.result
      : undefined
  const state =
    isTorn || isOver || (claim.ambiguous && end.state === "refused")
      ? "ended"
      : endedBefore === undefined
        ? end.state
        : "ambiguous"
  return {
    ...claim,
    state,
    // The claim may have been taken without its owner's hearing of it, and asked another provider than it names.
    provider: isTorn ? claim.provider : provider,
    ambiguous,
    leaseUntil: NO_LEASE,
    lastAttemptAt:
      state === "accepted" || state === "refused" ? Math.min(claim.lastAttemptAt, now) : claim.lastAttemptAt,
    result: keptResult(state, endedBefore ?? end.result)
  }
}
