import type { KeyTag } from "../ids.ts"
import { type Claim, type Evidence, isLeased, NO_LEASE } from "./claim.ts"
import { withinWindow } from "./failover.ts"
import type { Provider } from "./provider.ts"

/** What a queued retry may do. */
export type RetryDecision =
  | { readonly _tag: "Settled"; readonly evidence: Evidence }
  | { readonly _tag: "Busy" }
  /** `torn`: the key is in doubt at both providers, and neither may be asked again. */
  | { readonly _tag: "Go"; readonly claim: Claim; readonly torn: boolean }

/** Whether a copy may have left without an answer, as of a holder that died after its request could leave. */
const isInDoubt = ({ ambiguous, leaving, state }: Claim): boolean =>
  ambiguous || (state === "held" && leaving)

/** A key that was free, and that a send without a claim store has left open since. */
const reopened = (claim: Claim): Claim =>
  claim.state === "refused" ? { ...claim, state: "deferred", payloadHash: "", result: undefined } : claim

/** What a queued retry may do, and the claim with its lease where it may go out (`begin_email_retry`). */
export const decideRetry = (
  claim: Claim,
  retry: {
    readonly owner: string
    readonly provider: Provider
    readonly leaseMs: number
    readonly evidence: Evidence | undefined
    /** Another provider at which a send without a claim has left this use of the key in doubt. */
    readonly doubtAt: Provider | undefined
    readonly tag: KeyTag | undefined
    /** How old the retry's use of the key is at least, milliseconds. */
    readonly ageMs: number
  },
  now: number
): RetryDecision => {
  const { doubtAt, evidence, leaseMs, owner, provider } = retry
  if (evidence !== undefined) return { _tag: "Settled", evidence }
  if (isLeased(claim, now) && claim.owner !== owner) return { _tag: "Busy" }
  // A day late: it ends a use that is over, and leaves the present one alone.
  if (claim.tag !== retry.tag && !withinWindow(retry.ageMs)) return { _tag: "Go", claim, torn: false }
  const leaseUntil = now + leaseMs
  const isOfThisUse = claim.tag === retry.tag
  const isElsewhere = isInDoubt(claim) && claim.provider !== provider
  if (doubtAt !== undefined || (isOfThisUse && (isElsewhere || claim.state === "ended"))) {
    const isOpen = isInDoubt(claim) || claim.state === "deferred" || claim.state === "refused"
    if (!isOfThisUse || !isOpen) return { _tag: "Go", claim, torn: true }
    // It says how the key ended, where the key is held at its own provider; else the retry there does.
    const kept = claim.provider === provider ? { ...claim, owner, leaseUntil } : claim
    return { _tag: "Go", claim: { ...reopened(kept), state: "ended" }, torn: true }
  }
  // A call that is a day late asks no provider.
  const lastAttemptAt = withinWindow(now - claim.firstAttemptAt) ? leaseUntil : claim.lastAttemptAt
  const held = { ...reopened(claim), owner, provider, ambiguous: true, leaseUntil, lastAttemptAt }
  return { _tag: "Go", claim: held, torn: false }
}

/** The claim that a retry makes where its first call left none: any payload fits. */
export const claimOfRetry = (
  retry: { readonly provider: Provider; readonly owner: string; readonly tag: KeyTag | undefined },
  { firstAttemptAt, lastAttemptAt }: Pick<Claim, "firstAttemptAt" | "lastAttemptAt">
): Claim => ({
  payloadHash: "",
  state: "deferred",
  provider: retry.provider,
  ambiguous: true,
  leaving: true,
  owner: retry.owner,
  leaseUntil: NO_LEASE,
  firstAttemptAt,
  lastAttemptAt,
  tag: retry.tag,
  result: undefined
})
