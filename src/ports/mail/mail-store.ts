import { Context, type Effect } from "effect"

import type { KeyHash, LogRowId } from "../../domain/ids.ts"
import type { ClaimDecision, ClaimState, Evidence } from "../../domain/mail/claim.ts"
import type { SendDetails } from "../../domain/mail/deferred-send.ts"
import type { FailureKind, Provider } from "../../domain/mail/failover.ts"
import type { DeferralEnd } from "../../domain/mail/replay.ts"
import type { SendResult, SendStatus } from "../../domain/mail/send-result.ts"
import type { EmailStatus } from "../../domain/mail/status.ts"
import type { Block } from "../../domain/mail/suppression/policy.ts"
import type { Attempt } from "../../domain/mail/trace.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A claim on a key that the caller chose. */
export interface ClaimEntry {
  readonly payloadHash: string
  /** Where a fresh attempt goes first. */
  readonly provider: Provider
  /** Unique to this call. */
  readonly owner: string
  readonly leaseMs: number
}

/** The look-up before a send. */
export interface BeginSend {
  readonly keyHash: KeyHash
  /** Bare lower-case addresses of all recipients. */
  readonly addresses: ReadonlyArray<string>
  /** Absent where the key was generated here: nobody else can know it. */
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
}

/** The look-up before a queued retry. */
export interface BeginRetry {
  readonly keyHash: KeyHash
  readonly provider: Provider
  /** The row that this retry writes. */
  readonly rowId: LogRowId
  readonly addresses: ReadonlyArray<string>
  readonly owner: string
  readonly leaseMs: number
}

/** The result of the look-up before a queued retry. */
export type BeganRetry =
  /** Nothing proves acceptance and nobody else works on the key: the caller holds its lease. */
  | {
      readonly _tag: "Go"
      readonly suppressions: ReadonlyArray<Block>
      /** Milliseconds of the store's clock: now, and when the key's first attempt began, as far as the store knows. */
      readonly at: number
      readonly firstAttemptAt: number
    }
  /** An attempt on this key was accepted. */
  | { readonly _tag: "Settled"; readonly evidence: Evidence }
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
  /** Settles the claim of `owner`; a claim that has passed to another owner is left alone. */
  readonly settle:
    | {
        readonly owner: string
        readonly state: ClaimState
        readonly ambiguous: boolean
        /** Absent for a retry: the first call's result stands. */
        readonly result: SendResult | undefined
      }
    | undefined
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
    /** Records that the holder of the claim now tries another provider; false where it no longer holds the claim. */
    readonly moveClaim: (entry: {
      readonly keyHash: KeyHash
      readonly owner: string
      readonly provider: Provider
    }) => Effect.Effect<boolean, StoreUnavailable>
    /** Proof that this provider accepted an attempt on the key. */
    readonly findEvidence: (entry: {
      readonly keyHash: KeyHash
      readonly provider: Provider
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
     * status never goes back. A `deferred` outcome whose key has evidence becomes that evidence's row.
     */
    readonly record: (entry: RecordSend) => Effect.Effect<RecordedSend, StoreUnavailable>
  }
>()("postlane/ports/MailStore") {}
