import { Context, Layer } from "effect"

import type { KeyHash, KeyTag } from "../../domain/ids.ts"
import { type ClaimEnd, keptResult, settledClaim, settledState } from "../../domain/mail/claim-end.ts"
import {
  type Claim,
  type ClaimDecision,
  type Claimed,
  claimOf,
  type ClaimRequest,
  decideClaim,
  type Evidence,
  isFree,
  movedClaim,
  NO_LEASE
} from "../../domain/mail/claim.ts"
import type { KnownKey } from "../../domain/mail/known-key.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { claimOfRetry, decideRetry, type RetryDecision } from "../../domain/mail/retry-claim.ts"
import type { SendResult } from "../../domain/mail/send-result.ts"

/** Most keys that a process remembers: some 50 MB. */
const MAX_KEYS = 100_000

/**
 * Claims of one process, kept in addition to the stored ones and by the same rules, on the process's own monotonic clock. They are kept for
 * the key's time also after they are written: calls of one key in one process agree through an outage of the store, during it and
 * right after it, when the store knows nothing of what happened (S2, S4).
 */
export class ProcessKeyMemory extends Context.Service<
  ProcessKeyMemory,
  {
    /** What the process itself says to a call on the key; undefined where the key is free for all it knows. */
    readonly decide: (keyHash: KeyHash, request: ClaimRequest, now: number) => ClaimDecision | undefined
    /** What the store gets to know, lest it takes the key for a new one. */
    readonly known: (keyHash: KeyHash, now: number) => KnownKey | undefined
    /** Returns what puts the key back as it was. */
    readonly hold: (
      keyHash: KeyHash,
      decision: Pick<Claimed, "sticky" | "tag" | "takeover" | "late"> & Pick<KnownKey, "ageMs" | "lastAgeMs">,
      request: ClaimRequest & { readonly leaseMs: number; readonly isSettled: boolean },
      now: number
    ) => () => void
    /** What the store said of the key: it is as old as the store says. */
    readonly learn: (
      keyHash: KeyHash,
      told: Pick<KnownKey, "ageMs" | "lastAgeMs"> & { readonly result: SendResult },
      request: ClaimRequest,
      now: number
    ) => void
    /** What a queued retry may do, for all that the process knows; it holds the key where it may go out, until it is put back (`undo`). */
    readonly beginRetry: (
      keyHash: KeyHash,
      retry: {
        readonly provider: Provider
        readonly owner: string
        readonly tag: KeyTag | undefined
        readonly leaseMs: number
        /** Since the key's first attempt, milliseconds. */
        readonly ageMs: number
      },
      now: number
    ) => { readonly decision: RetryDecision; readonly undo: () => void }
    /** Whether the store knows what the process repeats: what it says later is newer. */
    readonly isStored: (keyHash: KeyHash, now: number) => boolean
    /** Where this process itself has asked for the key's present use, and got no clear answer. */
    readonly doubtAt: (keyHash: KeyHash, now: number) => Provider | undefined
    /** Whether no other call of the process has taken the key since. */
    readonly owns: (keyHash: KeyHash, owner: string) => boolean
    /** Notes whom its holder asks now; false where another call of the process has the key. */
    readonly move: (keyHash: KeyHash, owner: string, provider: Provider) => boolean
    /** `doubtAt`: where its own attempt got no clear answer. */
    readonly settle: (keyHash: KeyHash, end: ClaimEnd, now: number, doubtAt?: Provider) => void
    /** The settled result as the caller gets it: the log may know the row by another id, or an acceptance. */
    readonly answer: (keyHash: KeyHash, owner: string, result: SendResult) => void
  }
>()("postlane/application/ProcessKeyMemory") {}

/** Proof that is in the claim itself. */
const acceptedBy = ({ result, state }: Claim): Evidence | undefined =>
  state === "accepted" &&
  result !== undefined &&
  result.provider !== null &&
  result.providerMessageId !== null
    ? { provider: result.provider, providerMessageId: result.providerMessageId }
    : undefined

/** What a process remembers of a key. */
export interface Remembered extends Claim {
  /** Where the process itself got no clear answer in this use of the key. */
  readonly doubtAt?: Provider | undefined
  /** The store knows the result. */
  readonly isStored?: boolean
}

/** A sixteenth of the keys is dropped at a time. */
const SHARE = 16

/** The claims themselves, the last taken last, at most `maxKeys` of them. */
const makeClaims = (maxKeys: number) => {
  const claims = new Map<KeyHash, Remembered>()
  const together = Math.floor(maxKeys / SHARE)
  let added = 0
  /**
   * Drops the oldest claims that are free or too many, for many keys together: a look at the oldest goes past the places of all that were
   * dropped before, which are as many as there are keys.
   */
  const tidy = (now: number) => {
    added += 1
    if (added <= together) return
    added = 0
    for (const [oldest, kept] of claims) {
      if (claims.size <= maxKeys - together && !isFree(kept, now)) return
      claims.delete(oldest)
    }
  }
  const put = (keyHash: KeyHash, claim: Remembered) => void claims.set(keyHash, claim)
  const live = (keyHash: KeyHash, now: number): Remembered | undefined => {
    const claim = claims.get(keyHash)
    return claim === undefined || isFree(claim, now) ? undefined : claim
  }
  const add = (keyHash: KeyHash, claim: Remembered, now: number) => {
    const doubtAt = live(keyHash, now)?.doubtAt
    claims.delete(keyHash)
    put(keyHash, { ...claim, doubtAt })
    tidy(now)
  }
  return {
    put,
    add,
    get: (keyHash: KeyHash) => claims.get(keyHash),
    live,
    /** Returns what puts the key back as it was, where the claim's owner still has it. */
    hold: (keyHash: KeyHash, claim: Claim, now: number) => {
      const before = claims.get(keyHash)
      add(keyHash, claim, now)
      return () => {
        if (claims.get(keyHash)?.owner !== claim.owner) return
        if (before === undefined) claims.delete(keyHash)
        else put(keyHash, before)
      }
    }
  }
}

/** The claim that makes the process repeat what the store said of a key. */
const learntClaim = (
  { ageMs, lastAgeMs, result }: Pick<KnownKey, "ageMs" | "lastAgeMs"> & { readonly result: SendResult },
  request: ClaimRequest,
  now: number
): Claim => ({
  ...request,
  provider: result.provider ?? request.provider,
  state: settledState(result.status, undefined, false),
  ambiguous: result.status !== "sent",
  leaving: true,
  leaseUntil: NO_LEASE,
  firstAttemptAt: now - ageMs,
  lastAttemptAt: now - lastAgeMs,
  result
})

/**
 * The claim of another call of the process that went on from one which had been frozen past its lease, and which is accepted now: no other
 * place knows of that (S4).
 */
const keptAcceptance = (claim: Claim | undefined, { owner, result, state }: ClaimEnd): Claim | undefined =>
  claim === undefined || claim.owner === owner || !claim.ambiguous || state !== "accepted" || !result?.ok
    ? undefined
    : {
        ...claim,
        owner,
        state,
        provider: result.provider ?? claim.provider,
        leaseUntil: NO_LEASE,
        result
      }

export const makeKeyMemory = (maxKeys = MAX_KEYS): ProcessKeyMemory["Service"] => {
  const claims = makeClaims(maxKeys)
  return {
    decide: (keyHash, request, now) => {
      const claim = claims.live(keyHash, now)
      if (claim === undefined) return undefined
      const decision = decideClaim(claim, request, { evidence: undefined, trail: undefined }, now)
      // A call that is under way may never get its key: the store may give it to another process's call, with this very request.
      return decision._tag === "Conflict" && claim.leaseUntil > now ? { _tag: "InProgress" } : decision
    },
    known: (keyHash, now) => {
      const claim = claims.live(keyHash, now)
      return claim === undefined
        ? undefined
        : {
            provider: claim.provider,
            tag: claim.tag,
            ageMs: now - claim.firstAttemptAt,
            lastAgeMs: now - claim.lastAttemptAt
          }
    },
    hold: (keyHash, { ageMs, lastAgeMs, ...decided }, request, now) => {
      const times = { firstAttemptAt: now - ageMs, lastAttemptAt: now - lastAgeMs }
      const decision = { ...decided, ...times, _tag: "Claimed" } as const
      return claims.hold(keyHash, claimOf(undefined, decision, { ...request, leaving: true }, now), now)
    },
    learn: (keyHash, said, request, now) =>
      claims.add(keyHash, { ...learntClaim(said, request, now), isStored: true }, now),
    beginRetry: (keyHash, retry, now) => {
      const known = claims.live(keyHash, now)
      const first = now - retry.ageMs
      const claim = known ?? claimOfRetry(retry, { firstAttemptAt: first, lastAttemptAt: first })
      const evidence = known === undefined ? undefined : acceptedBy(known)
      const left = known?.doubtAt
      const doubtAt = left === retry.provider ? undefined : left
      const decision = decideRetry(claim, { ...retry, evidence, doubtAt }, now)
      const undo =
        decision._tag === "Go" && !decision.torn ? claims.hold(keyHash, decision.claim, now) : () => {}
      return { decision, undo }
    },
    isStored: (keyHash, now) => claims.live(keyHash, now)?.isStored === true,
    doubtAt: (keyHash, now) => claims.live(keyHash, now)?.doubtAt,
    owns: (keyHash, owner) => (claims.get(keyHash)?.owner ?? owner) === owner,
    move: (keyHash, owner, provider) => {
      const held = claims.get(keyHash)
      const moved = movedClaim(held, owner, provider)
      if (moved !== undefined) claims.put(keyHash, moved)
      return held === undefined || moved !== undefined
    },
    settle: (keyHash, end, now, doubtAt) => {
      const before = claims.get(keyHash)
      const settled = keptAcceptance(before, end) ?? settledClaim(before, end, now)
      // What a call that was frozen past its lease left in doubt, the one that has the key now has to know (S2).
      const kept = settled ?? (doubtAt === undefined ? undefined : before)
      if (kept !== undefined)
        claims.put(keyHash, {
          ...kept,
          doubtAt: doubtAt ?? before?.doubtAt,
          isStored: before?.isStored === true && kept.result === before.result
        })
    },
    answer: (keyHash, owner, result) => {
      const claim = claims.get(keyHash)
      if (claim?.owner === owner && claim.result !== undefined)
        claims.put(keyHash, { ...claim, result: keptResult(claim.state, result), isStored: true })
    }
  }
}

/** One for all that is built together, which is a process. */
export const layerKeyMemory: Layer.Layer<ProcessKeyMemory> = Layer.sync(ProcessKeyMemory, makeKeyMemory)
