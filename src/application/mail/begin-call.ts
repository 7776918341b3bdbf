import { Clock, Effect } from "effect"

import type { IdempotencyKey, KeyHash, KeyTag, LogRowId } from "../../domain/ids.ts"
import {
  type ClaimDecision,
  type Claimed,
  type ClaimRequest,
  continuation,
  newUse,
  tornAt
} from "../../domain/mail/claim.ts"
import type { KnownKey } from "../../domain/mail/known-key.ts"
import { type Message, payloadOf } from "../../domain/mail/message.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { ClaimUnavailable } from "../../domain/mail/send-result.ts"
import type { BeganSend } from "../../ports/mail/mail-store.ts"
import { uptime } from "../uptime.ts"
import { claimLeaseMs, type SendParts } from "./sending.ts"
import { begin } from "./store-access.ts"
import type { StoreTime } from "./store-time.ts"
import { noteUnclaimed, reportUnclaimed } from "./unclaimed.ts"
import { FIRST_USE } from "./use-tag.ts"

/** A call, as its key is looked up. */
interface Call {
  readonly message: Message
  readonly key: IdempotencyKey
  readonly keyHash: KeyHash
  /** The row that it writes. */
  readonly rowId: LogRowId
  /** Of its claim: unique to the call. */
  readonly owner: string
  /** True when the caller chose the key; no other process can know a generated one. */
  readonly isChosen: boolean
  readonly requireClaim: boolean
  /** Where a fresh attempt goes first. */
  readonly first: Provider
}

/** What a call may do, by the store and by what the process itself remembers. */
interface BegunCall extends Omit<BeganSend, "at"> {
  readonly claim: { readonly owner: string; readonly payloadHash: string } | undefined
  /** The tag that the requests of this use carry. */
  readonly tag: KeyTag | undefined
  /** What the store's clock showed; absent where it did not answer. */
  readonly time: StoreTime | undefined
  /** The store took the key for an earlier attempt's, of which only this process knows the result, and reports it. */
  readonly untold: boolean
  readonly since: number
}

const isDeferral = (own: ClaimDecision | undefined): boolean =>
  own?._tag === "Replay" && own.result.status === "deferred"

/**
 * The store's decision, unless it knows less than the process itself (it was away when the process sent). A deferral has ended once the
 * store lets the key's provider be asked again, where the deferral is stored, or the store knows how the last attempt ended.
 */
export const agreed = (
  stored: ClaimDecision,
  own: ClaimDecision | undefined,
  { isProven, isStored }: { readonly isProven: boolean; readonly isStored: boolean }
): ClaimDecision => {
  if (own === undefined || stored._tag !== "Claimed") return stored
  const knowsEnd = isStored || !stored.takeover
  if (knowsEnd && isDeferral(own) && stored.sticky !== undefined && continuation(stored) === "ask")
    return stored
  if (isProven && !(own._tag === "Replay" && own.result.status === "sent")) return stored
  return own._tag !== "Claimed" || stored.sticky === undefined ? own : stored
}

/** The process's own refusal: the store need not be asked. */
const unasked = (decision: ClaimDecision, claim: BegunCall["claim"], since: number): BegunCall => ({
  suppressions: [],
  evidence: undefined,
  leaving: true,
  claim,
  tag: undefined,
  untold: false,
  time: undefined,
  decision,
  since
})

const agesOf = (
  { firstAttemptAt, lastAttemptAt }: Pick<Claimed, "firstAttemptAt" | "lastAttemptAt">,
  now: number
) => ({ ageMs: Math.max(0, now - firstAttemptAt), lastAgeMs: Math.max(0, now - lastAttemptAt) })

/** What a call is not refused by. */
type Granted = Exclude<ClaimDecision, { readonly _tag: "Conflict" | "InProgress" }>

/** What a process remembers of a key, in the times of the clock that shows `now`. */
const datedBy =
  (remembered: Granted | undefined, known: KnownKey | undefined) =>
  (now: number): Granted | undefined =>
    remembered?._tag === "Claimed"
      ? {
          ...remembered,
          firstAttemptAt: now - (known?.ageMs ?? 0),
          lastAttemptAt: now - (known?.lastAgeMs ?? 0)
        }
      : remembered

/** What the process passes to the store about a key; `isSettled`: no provider is asked, whatever the store knows. */
const knownForStore = (known: KnownKey | undefined, own: Granted | undefined) =>
  known && { ...known, isSettled: own?._tag === "Replay" && !isDeferral(own) }

const forKey = Effect.fnUntraced(function* (
  parts: SendParts,
  call: Call,
  request: ClaimRequest
): Effect.fn.Return<BegunCall, ClaimUnavailable> {
  const { memory } = parts
  const { keyHash, owner } = call
  const since = yield* uptime
  const wallClock = yield* Clock.currentTimeMillis
  const claim = { owner, payloadHash: request.payloadHash }
  const remembered = memory.decide(keyHash, request, since)
  if (remembered?._tag === "InProgress" || remembered?._tag === "Conflict")
    return unasked(remembered, claim, since)
  const known = memory.known(keyHash, since)
  const ownAt = datedBy(remembered, known)
  const own = ownAt(wallClock)
  const isStored = memory.isStored(keyHash, since)
  const remember = (claimed: Claimed, now: number, isSettled: boolean) =>
    memory.hold(
      keyHash,
      { ...claimed, ...agesOf(claimed, now) },
      { ...request, leaseMs: claimLeaseMs(parts.config), isSettled },
      since
    )
  // Held before the store is asked: of two calls at once, one sends, whether or not the store answers.
  const undo =
    own?._tag === "Replay" ? () => {} : remember(own ?? newUse(request.tag, wallClock), wallClock, false)
  const began = yield* begin(
    parts,
    call.message,
    {
      keyHash,
      claim: {
        ...request,
        leaseMs: parts.terms.leaseMs,
        known: knownForStore(known, own)
      }
    },
    wallClock
  )
  if (began.time !== undefined) yield* reportUnclaimed(parts)
  else if (own?._tag !== "Replay" && !memory.owns(keyHash, owner))
    // It was frozen past its lease while it asked: another call of the process has taken the key.
    return unasked({ _tag: "InProgress" }, claim, since)
  else if (call.requireClaim && own?._tag !== "Replay") {
    undo()
    return yield* new ClaimUnavailable({ idempotencyKey: call.key })
  }
  // How old a key is goes by the store's clock, where it is known.
  const now = began.time?.at ?? wallClock
  const decision = tornAt(
    agreed(began.decision, ownAt(now), { isProven: began.evidence !== undefined, isStored }),
    memory.doubtAt(keyHash, since)
  )
  if (decision._tag === "Claimed") remember(decision, now, began.evidence !== undefined)
  else if (own?._tag !== "Replay") {
    // Remembered, too: the next call may not reach the store.
    if (decision._tag === "Replay")
      memory.learn(keyHash, { ...decision, ...agesOf(decision, now) }, request, since)
    else undo()
  }
  return {
    ...began,
    claim,
    decision,
    tag: decision._tag === "Claimed" ? decision.tag : known?.tag,
    since,
    untold: began.time !== undefined && began.decision._tag === "Claimed" && decision._tag === "Replay"
  }
})

/** Begins a call: the look-up and, for a key that the caller chose, the claim, in one round trip. */
export const beginCall = Effect.fnUntraced(function* (
  parts: SendParts,
  call: Call
): Effect.fn.Return<BegunCall, ClaimUnavailable> {
  const { keyHash, message, owner } = call
  const secret = yield* parts.store.tagSecret
  const tag = secret === undefined ? undefined : yield* parts.useTag(secret, keyHash, FIRST_USE)
  if (call.isChosen) {
    const payloadHash = yield* parts.sha256Hex(payloadOf(message))
    const begun = yield* forKey(parts, call, { payloadHash, owner, provider: call.first, tag })
    if (begun.time === undefined && begun.decision._tag === "Claimed") yield* noteUnclaimed(parts, call)
    return begun
  }
  const since = yield* uptime
  const began = yield* begin(parts, message, { keyHash, claim: undefined }, yield* Clock.currentTimeMillis)
  if (began.time !== undefined) yield* reportUnclaimed(parts)
  else {
    if (call.requireClaim) return yield* new ClaimUnavailable({ idempotencyKey: call.key })
    yield* noteUnclaimed(parts, call)
  }
  const learned = tag === undefined ? yield* parts.store.tagSecret : undefined
  return {
    ...began,
    claim: undefined,
    tag: tag ?? (learned === undefined ? undefined : yield* parts.useTag(learned, keyHash, FIRST_USE)),
    untold: false,
    since
  }
})
