import { Context, type Effect, type Redacted } from "effect"

import type { KeyHash, KeyTag, LogRowId } from "../../domain/ids.ts"
import type { Sign } from "../../domain/mail/circuit.ts"
import type { ClaimEnd } from "../../domain/mail/claim-end.ts"
import type { ClaimDecision, Evidence } from "../../domain/mail/claim.ts"
import type { SendDetails } from "../../domain/mail/deferred-send.ts"
import type { FailureKind } from "../../domain/mail/failover.ts"
import type { KnownKey } from "../../domain/mail/known-key.ts"
import type { Attempt } from "../../domain/mail/logged-attempt.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { DeferralEnd, SendStatus } from "../../domain/mail/send-result.ts"
import type { EmailStatus } from "../../domain/mail/status.ts"
import type { Block } from "../../domain/mail/suppression/policy.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A claim on a key that the caller chose. */
export interface ClaimEntry {
  readonly payloadHash: string
  /** Where a fresh attempt goes first. */
  readonly provider: Provider
  /** Unique to this call. */
  readonly owner: string
  readonly leaseMs: number
  /** The tag of the key's first use; absent while the installation's secret is not known here. The store makes what it lacks. */
  readonly tag: KeyTag | undefined
  /**
   * What the process remembers of the key; a store that knows nothing of the key counts it as an earlier attempt. `isSettled`: the
   * process repeats a result, so that no provider is asked.
   */
  readonly known: (KnownKey & { readonly isSettled: boolean }) | undefined
}

/** The look-up before a send. */
export interface BeginSend {
  readonly keyHash: KeyHash
  /** Bare lower-case addresses of all recipients. */
  readonly addresses: ReadonlyArray<string>
  /** Absent when the key was generated here: no other process can know it. */
  readonly claim: ClaimEntry | undefined
}

/** The result of the look-up before a send, in one round trip. */
export interface BeganSend {
  /** Milliseconds of the store's clock when it answered. */
  readonly at: number
  readonly suppressions: ReadonlyArray<Block>
  /** `Claimed` without `sticky` where no claim was requested. */
  readonly decision: ClaimDecision
  /** Proof that an earlier attempt on this key was accepted; looked up only where a claim found an earlier attempt. */
  readonly evidence: Evidence | undefined
  /** The claim says already that a request leaves: true where the look-up found nothing that could keep it here. */
  readonly leaving: boolean
}

/** The look-up before a queued retry. */
export interface BeginRetry {
  readonly keyHash: KeyHash
  /** The tag that the queued request carries. */
  readonly tag: KeyTag | undefined
  /** Start of the key's use, by the store's clock; absent when only a process's clock was available. */
  readonly firstAttemptAt: number | undefined
  /** How old the use of the key is at least, by the schedule of its retries. */
  readonly ageMs: number
  readonly provider: Provider
  /** The row that this retry writes. */
  readonly rowId: LogRowId
  readonly addresses: ReadonlyArray<string>
  readonly owner: string
  readonly leaseMs: number
}

/** The result of the look-up before a queued retry. */
export type BeganRetry =
  /**
   * Nothing proves acceptance and no other process works on the key: the caller holds its lease. `torn`: it does not, since the key is in doubt
   * at the other provider, and no provider may be asked (S2).
   */
  | {
      readonly _tag: "Go"
      readonly torn: boolean
      readonly suppressions: ReadonlyArray<Block>
      /** Milliseconds of the store's clock: now, and when the key's first attempt began, as far as the store knows. */
      readonly at: number
      readonly firstAttemptAt: number
    }
  /** An attempt on this key was accepted. Milliseconds of the store's clock: now, and the first and the last attempt of the key. */
  | {
      readonly _tag: "Settled"
      readonly evidence: Evidence
      readonly at: number
      readonly firstAttemptAt: number
      readonly lastAttemptAt: number
    }
  /** This retry's row exists already: its outcome was recorded before its message was received again. */
  | { readonly _tag: "Recorded" }
  /** Another process works on the key. */
  | { readonly _tag: "Busy" }

/** One row to write, and the claim or lease to settle with it. */
export interface RecordSend {
  readonly rowId: LogRowId
  readonly details: SendDetails
  readonly outcome: SendStatus
  readonly provider: Provider | null
  readonly providerMessageId: string | null
  readonly failedOver: boolean
  readonly error: string | null
  readonly errorKind: FailureKind | null
  /** USD, where a provider accepted; of a deferral, the cost if it turns out to have been accepted. */
  readonly costUsd: number | null
  /** The attempts at providers that this call made, in their order (MAIL-74). */
  readonly attempts: ReadonlyArray<Attempt>
  /** When the retry of a deferral is due, milliseconds since the epoch. */
  readonly retryAt: number | null
  /** It failed since the database did not answer: how it continues depends on its key. Not stored. */
  readonly waitsForKey?: true | undefined
  /** Settles the claim of `owner`; a claim that has passed to another owner is left alone. */
  readonly settle: ClaimEnd | undefined
}

/** The result of recording a row. */
export interface RecordedSend {
  /** Differs from the requested id where an event had made the row before. */
  readonly sendId: LogRowId
  /** May be further than the outcome, where events came first. */
  readonly status: EmailStatus
  readonly providerMessageId: string | null
}

/**
 * The mailer's database. Every operation is one round trip, safe to repeat, and decided under the database's own locks and
 * clock. The caller sets time limits.
 */
export class MailStore extends Context.Service<
  MailStore,
  {
    /** False where no database is configured: nothing is looked up or written, and evidence cannot exist. */
    readonly configured: boolean
    /** Suppression look-up and claim. */
    readonly begin: (entry: BeginSend) => Effect.Effect<BeganSend, StoreUnavailable>
    /** The secret that tags are made with, as soon as the database has handed it out with a look-up. */
    readonly tagSecret: Effect.Effect<Redacted.Redacted<Uint8Array> | undefined>
    /**
     * Records that a request of the claim's holder leaves now, to this provider; false where it no longer holds the claim, or where a send
     * without one has written meanwhile that the key was accepted, or is open at another provider.
     */
    readonly moveClaim: (entry: {
      readonly keyHash: KeyHash
      readonly owner: string
      readonly provider: Provider
    }) => Effect.Effect<boolean, StoreUnavailable>
    /** Proof that any provider accepted an attempt of this use of the key. */
    readonly findEvidence: (entry: {
      readonly keyHash: KeyHash
      readonly tag: KeyTag | undefined
      /** Age of the key's use, by the caller's knowledge. A tag belongs to the key's first use; uses without a claim are not counted. */
      readonly ageMs: number
    }) => Effect.Effect<Evidence | undefined, StoreUnavailable>
    /**
     * How the deferral that wrote this row ended: by the newest row of its key, not older than that one, that a provider accepted,
     * else that ended otherwise. Undefined while its retries are under way.
     */
    readonly deferralEnd: (entry: {
      readonly keyHash: KeyHash
      readonly sendId: LogRowId
    }) => Effect.Effect<DeferralEnd | undefined, StoreUnavailable>
    readonly beginRetry: (entry: BeginRetry) => Effect.Effect<BeganRetry, StoreUnavailable>
    /**
     * Upserts the row (`record_email_send`). Events may have come first: the row that they made is completed, and its
     * status never goes back. A `deferred` outcome becomes the row of the evidence, if its key has any.
     */
    readonly record: (entry: RecordSend) => Effect.Effect<RecordedSend, StoreUnavailable>
    /** Notes how many sends of this process went out without look-up or claim, for the alarm. */
    readonly noteUnclaimed: (count: number) => Effect.Effect<void, StoreUnavailable>
    /**
     * Notes how an attempt ended, where it timed out or ends a row of time-outs; the time-outs in a row at the provider over all processes,
     * each within a minute of the one before (MAIL-38).
     */
    readonly noteSign: (provider: Provider, sign: Sign) => Effect.Effect<number, StoreUnavailable>
  }
>()("postlane/ports/MailStore") {}
