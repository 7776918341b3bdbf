import type { KeyTag, LogRowId } from "../ids.ts"
import { withinWindow } from "./failover.ts"
import { dedupes, type Provider } from "./provider.ts"
import type { SendResult } from "./send-result.ts"

/**
 * The state of a key that a caller chose (MAIL-41 to MAIL-43). Kind and freedom belong to the key, not to its last attempt.
 *
 * - `held`: a call is under way, until its lease ends.
 * - `accepted`, `deferred`: the result is final for callers.
 * - `refused`: no provider accepted anything, proven of every attempt; the key is free.
 * - `ambiguous`: ended `failed`, and a copy may be out; a provider that dedupes may be asked again.
 * - `ended`: as `ambiguous`, but no provider is asked again: the last attempt was refused, its recipients are suppressed, or the key is
 *   in doubt at two providers.
 */
export type ClaimState = "held" | "accepted" | "deferred" | "refused" | "ambiguous" | "ended"

/** The stored claim on a key: one use of it. Times are milliseconds of the store's clock. */
export interface Claim {
  /** Empty where a retry made the claim: the first call's hash was never stored, so any payload fits. */
  readonly payloadHash: string
  readonly state: ClaimState
  /** The provider of the attempt under way, or of the last one. */
  readonly provider: Provider
  /** Whether any attempt on the key was ambiguous. */
  readonly ambiguous: boolean
  /** Whether a request may have left: false where the holder still has to say so (`moveClaim`). */
  readonly leaving: boolean
  readonly owner: string
  readonly leaseUntil: number
  readonly firstAttemptAt: number
  /** No attempt of this use can have been accepted later. */
  readonly lastAttemptAt: number
  /** The tag that the requests of this use carry; absent where they carry none. */
  readonly tag: KeyTag | undefined
  /** Of a key that is held: how the retries of an earlier call of this use have ended, also before this call. */
  readonly result: SendResult | undefined
}

/** A claim without a lease. */
export const NO_LEASE = Number.NEGATIVE_INFINITY

/** What a caller asks for. */
export interface ClaimRequest {
  readonly payloadHash: string
  /** The provider that a fresh attempt goes to first. */
  readonly provider: Provider
  /** Unique to the call. */
  readonly owner: string
  /** The tag of a new use. */
  readonly tag: KeyTag | undefined
}

/** Proof that a send with this key was accepted: an event, or another attempt's row. */
export interface Evidence {
  readonly provider: Provider
  readonly providerMessageId: string
}

/**
 * What is known of a key without a claim (the claim store was away): from the library's rows of the last 24 hours, the newest that
 * proves acceptance, else the newest that leaves it open; else what the calling process itself remembers.
 */
export interface Trail {
  readonly provider: Provider
  /** The first attempt, and the last one that is known of; milliseconds of the store's clock. */
  readonly since: number
  readonly last: number
  readonly tag: KeyTag | undefined
}

/** What a caller may do. */
export type ClaimDecision =
  /** Send. */
  | {
      readonly _tag: "Claimed"
      /** The only provider that may see the key. */
      readonly sticky: Provider | undefined
      /** An earlier attempt on `sticky` left no result. */
      readonly takeover: boolean
      /** The row by which the key had ended before: the retries of earlier calls are over. */
      readonly after?: LogRowId
      /** 24 hours after the first attempt: no provider is asked any more. */
      readonly late: boolean
      /** The key is in doubt at both providers, and neither may be asked again (`tornAt`). */
      readonly torn?: true
      readonly firstAttemptAt: number
      /** The last attempt before this call's; of a new use, now. */
      readonly lastAttemptAt: number
      readonly tag: KeyTag | undefined
    }
  /** Send nothing, return this result. The times are those of the use of the key that it is about. */
  | {
      readonly _tag: "Replay"
      readonly result: SendResult
      readonly firstAttemptAt: number
      readonly lastAttemptAt: number
    }
  | { readonly _tag: "Conflict" }
  | { readonly _tag: "InProgress" }
export type Claimed = Extract<ClaimDecision, { readonly _tag: "Claimed" }>

/** Whether its holder may still be at work. */
export const isLeased = ({ leaseUntil }: Claim, now: number): boolean => now < leaseUntil

const isExpired = (claim: Claim, now: number): boolean =>
  !isLeased(claim, now) && !withinWindow(now - claim.lastAttemptAt)

/**
 * Whether the next call begins a new use of the key: after a proof that nothing was accepted; where a call died before its request left;
 * and 24 hours after the last attempt (the provider's own window begins when it accepts).
 */
export const isFree = (claim: Claim, now: number): boolean =>
  claim.state === "refused" ||
  isExpired(claim, now) ||
  (!isLeased(claim, now) && claim.state === "held" && !claim.leaving && !claim.ambiguous)

/** A new use of a key. */
export const newUse = (tag: KeyTag | undefined, now: number): Claimed => ({
  _tag: "Claimed",
  sticky: undefined,
  takeover: false,
  late: false,
  firstAttemptAt: now,
  lastAttemptAt: now,
  tag
})

const fresh = (claim: Claim | undefined, request: ClaimRequest, now: number): Claimed =>
  // No mail carries the tag of a use without an acceptance, so that the key keeps the tag.
  newUse(claim === undefined || isExpired(claim, now) ? request.tag : (claim.tag ?? request.tag), now)

const continued = (
  {
    firstAttemptAt,
    lastAttemptAt,
    provider,
    result,
    tag
  }: Pick<Claim, "firstAttemptAt" | "lastAttemptAt" | "provider" | "result" | "tag">,
  takeover: boolean,
  now: number
): Claimed => ({
  _tag: "Claimed",
  sticky: provider,
  takeover,
  ...(result === undefined ? {} : { after: result.sendId }),
  late: !withinWindow(now - firstAttemptAt),
  firstAttemptAt,
  lastAttemptAt,
  tag
})

/** A key that has ended is leased, too, by the call that hears so. */
const isHeldBy = (claim: Claim, owner: string): boolean =>
  claim.owner === owner &&
  (claim.state === "held" || (claim.state === "ended" && claim.leaseUntil !== NO_LEASE))

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
  // The same owner asks again: its first answer was lost, or it was late and wants to know whether it still holds the key.
  if (claim !== undefined && isHeldBy(claim, request.owner)) {
    const again = continued(claim, claim.ambiguous, now)
    if (claim.state === "ended") return { ...again, torn: true }
    return claim.ambiguous ? again : { ...again, sticky: undefined }
  }
  if (claim === undefined || isFree(claim, now)) {
    const { evidence, trail } = known
    if (trail !== undefined)
      return continued(
        { ...trail, firstAttemptAt: trail.since, lastAttemptAt: trail.last, result: undefined },
        true,
        now
      )
    // A send under the same tag that found no claim store was accepted.
    return claim === undefined || evidence === undefined || isExpired(claim, now)
      ? fresh(claim, request, now)
      : continued({ ...claim, provider: evidence.provider, result: undefined }, true, now)
  }
  if (claim.payloadHash !== "" && claim.payloadHash !== request.payloadHash) return { _tag: "Conflict" }
  const { firstAttemptAt, lastAttemptAt, result, state } = claim
  if (result !== undefined && (state === "accepted" || state === "deferred")) {
    return { _tag: "Replay", result, firstAttemptAt, lastAttemptAt }
  }
  if (isLeased(claim, now)) return { _tag: "InProgress" }
  const askable = state !== "ended" && dedupes(claim.provider) && withinWindow(now - firstAttemptAt)
  if (known.evidence === undefined && !askable && result !== undefined)
    return { _tag: "Replay", result, firstAttemptAt, lastAttemptAt }
  const goesOn = continued(claim, result === undefined, now)
  return state === "ended" ? { ...goesOn, torn: true } : goesOn
}

/**
 * A key that is held at one provider while another send, which found no claim store, has left it in doubt at the other (`doubtAt`):
 * neither is asked again, since each would be another one's provider (S2).
 */
export const tornAt = <D extends ClaimDecision>(decision: D, doubtAt: Provider | undefined): D =>
  decision._tag !== "Claimed" ||
  decision.sticky === undefined ||
  (doubtAt ?? decision.sticky) === decision.sticky
    ? decision
    : { ...decision, torn: true }

/** What the next call on an ambiguous key does at the key's provider, where no evidence settles it (MAIL-43). */
export const continuation = ({ late, sticky, takeover, torn }: Claimed): "ask" | "defer" | "end" => {
  if (sticky === undefined) return "ask"
  if (late || torn) return "end"
  return takeover && !dedupes(sticky) ? "defer" : "ask"
}

/**
 * Whether a call shares the retries of its use of the key, as one that takes over from a dead call does: one chain, and not two (MAIL-57).
 * A call that goes on after those retries have ended has its own, and so has a call without a claim, which cannot know: a retry whose
 * row is there does nothing (D1).
 */
export const sharesRetries = ({ after }: Claimed, holdsClaim: boolean): boolean =>
  holdsClaim && after === undefined

/**
 * The claim once it is granted. `leaving`: its request goes out at once, so that no other step has to say so. `isSettled`: evidence
 * settles it. When no provider is asked, the last attempt remains the earlier one.
 */
export const claimOf = (
  claim: Claim | undefined,
  decision: Claimed,
  request: ClaimRequest & {
    readonly leaseMs: number
    readonly leaving: boolean
    readonly isSettled: boolean
  },
  now: number
): Claim => {
  const { after, firstAttemptAt, late, sticky, tag } = decision
  const leaseUntil = now + request.leaseMs
  if (claim !== undefined && isHeldBy(claim, request.owner))
    return { ...claim, leaseUntil, lastAttemptAt: late ? claim.lastAttemptAt : leaseUntil }
  const asksNobody = request.isSettled || continuation(decision) !== "ask"
  return {
    payloadHash: request.payloadHash,
    // A call that gets no answer asks as if it had no claim, and the next one must still learn that the key has ended (S2).
    state: decision.torn === true && claim?.state === "ended" ? "ended" : "held",
    provider: sticky ?? request.provider,
    ambiguous: sticky !== undefined,
    leaving: request.leaving,
    owner: request.owner,
    leaseUntil,
    firstAttemptAt,
    lastAttemptAt: asksNobody ? decision.lastAttemptAt : leaseUntil,
    tag,
    // The call after one that dies now has to know that the retries of this use are over.
    result: after === undefined ? undefined : claim?.result
  }
}

/** The claim once its holder has said that a request to `provider` leaves now; undefined where it is not this owner's any more. */
export const movedClaim = (claim: Claim | undefined, owner: string, provider: Provider): Claim | undefined =>
  claim === undefined ||
  claim.owner !== owner ||
  claim.state !== "held" ||
  // Granted unheard: another attempt on the key was ambiguous, of which this owner does not know (S2).
  (claim.ambiguous && claim.provider !== provider)
    ? undefined
    : { ...claim, provider, leaving: true }

/** A held claim, after a send without a claim has left its key open at `provider`: the key is in doubt from now on (S2). */
export const boundClaim = (claim: Claim, provider: Provider): Claim =>
  claim.ambiguous ? claim : { ...claim, provider, ambiguous: true }
