import { Data, Effect } from "effect"

import type { ClaimDecision } from "../../domain/mail/claim.ts"
import { tagOf } from "../../domain/mail/deferred-send.ts"
import { mayGoOn, stickyKind } from "../../domain/mail/failover.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { failed, type SendResult, type Tried } from "../../domain/mail/send-result.ts"
import { type BlockReason, blockedAddresses } from "../../domain/mail/suppression/policy.ts"
import { uptime } from "../uptime.ts"
import type { Sending, SendParts } from "./sending.ts"
import { begin, moveClaim } from "./store-access.ts"

/** The claim has passed to another call: this one defers nothing, and answers what the claim says. */
export class ClaimPassed extends Data.TaggedError("ClaimPassed")<{
  readonly says: Exclude<ClaimDecision, { readonly _tag: "Claimed" }>
}> {}

/** The store named recipients, when the lease was prolonged, who must not get the mail (S7): what was looked up before is too old. */
export class NowBlocked extends Data.TaggedError("NowBlocked")<{
  readonly blocked: ReadonlyMap<string, BlockReason>
}> {}

/** Asks the store whether this call still holds its key, and prolongs the lease where it does; false without an answer. */
const renew = Effect.fnUntraced(function* (
  parts: SendParts,
  { claim, details, firstAttemptAt, hold, message }: Sending,
  provider: Provider
): Effect.fn.Return<boolean, ClaimPassed> {
  if (claim === undefined) return true
  const since = yield* uptime
  const { decision, suppressions, time } = yield* begin(
    parts,
    message,
    {
      keyHash: details.keyHash,
      claim: {
        ...claim,
        provider,
        leaseMs: parts.terms.leaseMs,
        tag: tagOf(details),
        known: undefined
      }
    },
    firstAttemptAt
  )
  if (time === undefined) return false
  if (decision._tag !== "Claimed") return yield* new ClaimPassed({ says: decision })
  if (decision.sticky !== undefined) {
    hold.openAt = decision.sticky
    hold.torn ||= decision.torn === true
    if (decision.sticky !== provider || hold.torn) return false
  }
  hold.since = since
  hold.blocked = blockedAddresses(message, suppressions)
  return true
})

/**
 * Whether this call holds its key for `forMs` more: a process that was frozen past its lease may have lost it. False where the
 * store does not say. A send without a claim loses its key to another call of its process.
 */
export const holdsFor = (
  parts: SendParts,
  sending: Sending,
  provider: Provider,
  forMs: number
): Effect.Effect<boolean, ClaimPassed> =>
  sending.holdsClaim
    ? Effect.flatMap(uptime, (now) =>
        now - Math.max(sending.hold.since, parts.terms.renewedAt) + Math.min(forMs, parts.terms.neededMs) <=
        parts.terms.leaseMs
          ? Effect.succeed(true)
          : renew(parts, sending, provider)
      )
    : Effect.sync(
        () => sending.claim === undefined || parts.memory.owns(sending.details.keyHash, sending.claim.owner)
      )

/**
 * Notes in the claim that a request to `provider` leaves now. `unanswered`: nothing may leave, since the store did not say that it
 * has noted it; the call still holds its key. `passed`: nothing may leave, and somebody else may have the key.
 */
export const mayLeave = Effect.fnUntraced(function* (
  parts: SendParts,
  sending: Sending,
  provider: Provider
): Effect.fn.Return<"may" | "unanswered" | "passed", ClaimPassed> {
  const { claim, details, hold, holdsClaim } = sending
  if (claim === undefined) return "may"
  // A look-up without an answer may have granted the claim.
  const moved = parts.store.configured
    ? yield* moveClaim(parts, { keyHash: details.keyHash, owner: claim.owner, provider })
    : "unknown"
  if (!mayGoOn(holdsClaim, moved)) {
    if (moved !== "passed") return "unanswered"
    yield* renew(parts, sending, provider)
    return "passed"
  }
  const isOwn = parts.memory.move(details.keyHash, claim.owner, provider)
  // Another call of the process took the key while the store was asked.
  if (!isOwn && !holdsClaim) return "passed"
  hold.leaving = true
  return "may"
})

/** The error of a send that could not note in its claim that a request leaves, and so asked no provider, or no further one. */
const NOT_KEPT = "the key's claim could not be kept, since the database did not answer"

/**
 * The claim, which this call still holds, could not say that its first request leaves: nothing was asked of anybody. A key in doubt
 * stays so, and is no refusal: a refusal would be the last word on it.
 */
export const unbegun = (sending: Sending, tried: Tried): SendResult => {
  sending.hold.ownKind = sending.hold.doubtful ? undefined : "unavailable"
  sending.trace.waitsForKey = true
  return failed(sending, tried, stickyKind(sending.hold.doubtful, "unavailable"), NOT_KEPT)
}

/** The claim could not say that a request leaves, or is not this call's any more: nothing is asked, and nothing is certain. */
export const unmoved = (sending: Sending, tried: Tried, refusal: string | undefined): SendResult => {
  sending.hold.ownKind = undefined
  sending.trace.waitsForKey = true
  const provider = sending.hold.openAt ?? sending.trace.attempts.at(-1)?.provider ?? tried.provider
  const error = refusal === undefined ? NOT_KEPT : `${refusal}; ${NOT_KEPT}`
  return failed(sending, { ...tried, provider }, "ambiguous", error)
}

/** A refusal is certain only while the call holds its key. */
export const certain = Effect.fnUntraced(function* (
  parts: SendParts,
  sending: Sending,
  result: SendResult
): Effect.fn.Return<SendResult, ClaimPassed> {
  if (result.ok || result.provider === null) return result
  const isHeld = yield* holdsFor(parts, sending, result.provider, parts.config.dbTimeoutMs)
  if (isHeld) return result
  sending.hold.ownKind = undefined
  if (result.status !== "failed") return result
  // A queued mail that may be tried again has not ended by it.
  if (result.kind === "unavailable") sending.trace.waitsForKey = true
  return { ...result, kind: "ambiguous" }
})
