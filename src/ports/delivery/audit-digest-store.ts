import { Context, Data, type Effect } from "effect"

import type { DigestCadence, DigestPeriod } from "../../domain/delivery/audit-digest-period.ts"
import type { DigestActivity } from "../../domain/delivery/digest-activity.ts"
import type { CustomerId } from "../../domain/ids.ts"
import type { SendRequest } from "../../domain/mail/message.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** One row of `audit_digest_subscriptions`. */
export interface DigestSubscription {
  readonly id: string
  /** As it was entered. */
  readonly email: string
  readonly cadence: DigestCadence
  /** Null: the whole service. Else only what concerns this customer and mail to this address. */
  readonly customerId: CustomerId | null
}

/** Which subscriptions to return. */
interface PendingQuery {
  readonly period: DigestPeriod
  /** The last id of the page before. */
  readonly after: string | undefined
  readonly limit: number
  /** Only those created before this time, milliseconds since the epoch. */
  readonly createdBefore: number | undefined
}

/** Which digest: of one subscription for one period. */
export interface DigestKey {
  readonly subscriptionId: string
  readonly period: DigestPeriod
}

/** Whether a digest may be sent, and which mail; see `claim_audit_digest`. */
export type DigestClaim =
  | { readonly _tag: "Claimed"; readonly request: SendRequest }
  | { readonly _tag: "Settled" | "Busy" | "Waiting" | "Unknown" }

/** How a claimed digest ended. */
export type DigestEnd =
  | { readonly state: "sent" | "suppressed" }
  /** `certain`: this attempt provably sent nothing. */
  | { readonly state: "failed"; readonly certain: boolean; readonly error: string }

/** The time for which the relay remembers an idempotency key (MAIL-41), milliseconds. */
export const RELAY_MEMORY_MS = 24 * 3_600_000

/** Digest subscriptions, the facts for a digest, and the claim on sending it. */
export class AuditDigestStore extends Context.Service<
  AuditDigestStore,
  {
    /** Active subscriptions after the id `after`, by id, with a digest of the period that is neither sent nor suppressed. */
    readonly pending: (
      query: PendingQuery
    ) => Effect.Effect<ReadonlyArray<DigestSubscription>, StoreUnavailable>
    /** What happened, with the newest `limit` entries. */
    readonly activity: (query: {
      readonly period: DigestPeriod
      /** Absent: the whole service. */
      readonly customer: { readonly id: CustomerId; readonly email: string } | undefined
      readonly limit: number
    }) => Effect.Effect<DigestActivity, StoreUnavailable>
    /** One guarded statement: of two runs at once one gets `Claimed`. `patient`: a digest that failed recently waits. */
    readonly claim: (
      entry: DigestKey & {
        readonly owner: string
        readonly leaseMs: number
        readonly patient: boolean
        readonly request: SendRequest
      }
    ) => Effect.Effect<DigestClaim, StoreUnavailable>
    /** Settles the claim of `owner`; false where it no longer holds it. */
    readonly settle: (
      entry: DigestKey & { readonly owner: string; readonly end: DigestEnd }
    ) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("postlane/ports/AuditDigestStore") {}

/** The relay did not send. */
export class RelayFailed extends Data.TaggedError("RelayFailed")<{
  /** In words, without a secret. */
  readonly message: string
  /** True where the answer proves that this call sent nothing; false where it may have. */
  readonly certain: boolean
}> {}

/** `POST /internal/send-email`, from wherever the caller runs (MAIL-80). */
export class SendRelay extends Context.Service<
  SendRelay,
  {
    /** False where `INTERNAL_SEND_EMAIL_URL` is unset. */
    readonly configured: boolean
    /** Sends through the library; `suppressed` is the relay's 422. */
    readonly send: (request: SendRequest) => Effect.Effect<"sent" | "suppressed", RelayFailed>
  }
>()("postlane/ports/SendRelay") {}
