import { Context, Data, type Effect } from "effect"

import type { FieldIssue } from "../../domain/field-issues.ts"
import type { IdempotencyKey, LeaseId, QueueId } from "../../domain/ids.ts"
import type { Attempt } from "../../domain/mail/logged-attempt.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { QueueState } from "../../domain/mail/queue.ts"
import type { Rate } from "../../domain/mail/rate.ts"
import type { SendResult } from "../../domain/mail/send-result.ts"
import type { Category } from "../../domain/mail/suppression/policy.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"
import type { ProviderPace } from "./mail-provider.ts"
import type {
  BeganRetry,
  BeganSend,
  BeginRetry,
  BeginSend,
  ClaimEntry,
  RecordedSend,
  RecordSend
} from "./mail-store.ts"

/** The queue does not take a request. */
export class QueueRefused extends Data.TaggedError("QueueRefused")<{
  /**
   * `invalid`: a field is wrong; `too large`: more than 1 MB; `conflict`: the key was used with another request; `in progress`: a transaction
   * that queues the same key is open.
   */
  readonly why: "invalid" | "too large" | "conflict" | "in progress"
  /** For people; of `invalid` it begins with the field. */
  readonly message: string
}> {
  /** The field that is wrong; of no field where the request is refused as a whole. */
  get issue(): FieldIssue {
    const [, path = "", message = this.message] = /^([\w.]+): ([\s\S]*)$/.exec(this.message) ?? []
    return { path, message }
  }
}

/** A request to queue. */
export interface QueueEntry {
  /** As the caller wrote it, checked. */
  readonly request: object
  /** Of the mail, as claims keep it. */
  readonly payloadHash: string
  /** The id of the sender token that queues it; absent for everybody else. */
  readonly sender?: string | undefined
}

/** One batch under one key, which is the same batch again or a conflict. */
export interface QueueBatch {
  /** Of its mails, in their order. */
  readonly hash: string
  /** The keys that the mails of any batch under its key may have. */
  readonly keys: ReadonlyArray<string>
}

/** A request that is in the queue. */
export interface Queued {
  readonly id: QueueId
  readonly idempotencyKey: string
  /** Not `queued` where the key belongs to an earlier request. */
  readonly state: QueueState
  /** Milliseconds since the epoch. */
  readonly sendAt: number
}

/** The state of a request, for its caller. */
export interface QueuedMail extends Queued {
  readonly attempts: number
  readonly nextAttemptAt: number | null
  readonly result: SendResult | null
  readonly error: string | null
  /** When it was queued, milliseconds since the epoch. */
  readonly createdAt: number
  /** The request without bodies and attachments; null once it has ended. */
  readonly mail: unknown
  /** The id of the sender token that queued it; null where none did. */
  readonly sender: string | null
}

/** How fast a provider may be asked. */
export interface PaceLimit extends Rate {
  readonly provider: Provider
}

/** What a sender may take. */
export interface TakeQueued {
  readonly paces: ReadonlyArray<PaceLimit>
  /** Requests that name no provider go there. */
  readonly primary: Provider
  readonly limit: number
  readonly leaseMs: number
}

/** The proof that a sender holds a request. */
export interface QueueLease {
  readonly id: QueueId
  readonly lease: LeaseId
}

/** A request that a sender has taken. */
export interface TakenMail extends QueueLease {
  readonly idempotencyKey: IdempotencyKey
  /** Until it may leave, milliseconds. */
  readonly waitMs: number
  readonly request: unknown
  /** The ambiguous attempt that is repeated now, as JSON (`DeferredSend`); absent before there was one. */
  readonly deferral: string | undefined
  readonly tried: ReadonlyArray<Attempt>
  /** Senders that died with it. */
  readonly deaths: number
  /** Refusals in a row. */
  readonly refusals: number
  /** Since it was due and looked at first, milliseconds. */
  readonly ageMs: number
  /** Until it is worthless, milliseconds. */
  readonly expiresInMs: number | undefined
}

/** The requests that a sender has taken, and when there may be more, milliseconds from now; undefined where nothing waits. */
export interface Taken {
  readonly mails: ReadonlyArray<TakenMail>
  readonly nextMs: number | undefined
}

/** How a request continues or ends. */
export interface QueueMove extends QueueLease {
  readonly state: Exclude<QueueState, "sending" | "cancelled">
  /** Until it is taken again, milliseconds; of a state that is no end. */
  readonly dueMs?: number | undefined
  /** The only provider that its next attempts ask. */
  readonly provider?: Provider | undefined
  /** The attempt that its retries repeat, as JSON. */
  readonly deferral?: string | undefined
  readonly tried: ReadonlyArray<Attempt>
  readonly refusals: number
  readonly error: string | null
  readonly result: SendResult | null
  /** The key begins a new use with the next request. */
  readonly frees: boolean
  /** It ends, and no provider could be asked for it: event hooks are called, and the log has no row of it. */
  readonly isUnasked?: boolean | undefined
  /** The row of the log, and the end of the claim. */
  readonly record: RecordSend | undefined
  /** Whether the row is written, or the claim alone is settled. */
  readonly writesRow: boolean
}

/** The answer to a move: undefined where the request has passed to another sender, and nothing was written. */
export type Moved = RecordedSend | undefined

/** What waits, for people. */
export interface QueueOverview {
  readonly categories: ReadonlyArray<{
    readonly category: Category
    /** Due now, due later, under way, waiting for evidence. */
    readonly due: number
    readonly later: number
    readonly sending: number
    readonly deferred: number
    readonly oldestDueAt: string | null
  }>
  readonly paused: ReadonlyArray<{
    readonly scope: string
    readonly actor: string
    readonly pausedAt: string
  }>
  readonly pace: ReadonlyArray<{
    readonly provider: Provider
    /** As the provider said; null where it said nothing. */
    readonly ratePerSecond: number | null
    readonly heldUntil: string | null
    readonly taken: number
  }>
}

/** A request that waits, for people. */
export interface UpcomingMail extends Omit<QueuedMail, "result" | "createdAt" | "mail" | "sender"> {
  readonly category: Category
  readonly to: ReadonlyArray<string>
  readonly subject: string
}

/**
 * The send queue (QUEUE-1 to QUEUE-10). Every operation is one round trip and one transaction, decided under the database's locks and clock, and safe to
 * repeat.
 */
export class SendQueue extends Context.Service<
  SendQueue,
  {
    /** All or none, in the order of the entries. */
    readonly enqueue: (
      entries: ReadonlyArray<QueueEntry>,
      batch?: QueueBatch
    ) => Effect.Effect<ReadonlyArray<Queued>, QueueRefused | StoreUnavailable>
    readonly find: (id: QueueId) => Effect.Effect<QueuedMail | undefined, StoreUnavailable>
    /** The state afterwards: anything but `cancelled` means that nothing was changed. Undefined for an unknown id. */
    readonly cancel: (
      id: QueueId,
      /** The admin who does it: leaves an audit row where it changed something. */
      actor?: string
    ) => Effect.Effect<QueueState | undefined, StoreUnavailable>
    /** Moves what waits to another time, ISO 8601. The state: anything but `queued` means that nothing was changed. Undefined for an unknown id. */
    readonly reschedule: (
      id: QueueId,
      sendAt: string
    ) => Effect.Effect<QueueState | undefined, QueueRefused | StoreUnavailable>
    readonly take: (entry: TakeQueued) => Effect.Effect<Taken, StoreUnavailable>
    /** Prolongs leases, and those of their claims; returns the requests that still are the caller's. */
    readonly renew: (
      held: ReadonlyArray<QueueLease>,
      leaseMs: number
    ) => Effect.Effect<ReadonlySet<QueueId>, StoreUnavailable>
    /** Begins a send as `MailStore` does, in the transaction that sees that the request is still the caller's; `InProgress` where it is not. */
    readonly begin: (
      entry: BeginSend & { readonly claim: ClaimEntry } & { readonly held: QueueLease }
    ) => Effect.Effect<BeganSend, StoreUnavailable>
    /** Begins a retry in the same way; `Busy` where the request has passed on. */
    readonly beginRetry: (
      entry: BeginRetry & { readonly held: QueueLease }
    ) => Effect.Effect<BeganRetry, StoreUnavailable>
    /** Writes the request, its row and its claim in one transaction. */
    readonly move: (move: QueueMove) => Effect.Effect<Moved, StoreUnavailable>
    /** One token for a fail-over to this provider, if there is one now. */
    readonly token: (pace: PaceLimit) => Effect.Effect<boolean, StoreUnavailable>
    /** Counts requests to a provider that are not the queue's, and keeps what it said of its pace. */
    readonly heard: (
      pace: PaceLimit,
      asked: number,
      said: ProviderPace
    ) => Effect.Effect<void, StoreUnavailable>
    readonly overview: Effect.Effect<QueueOverview, StoreUnavailable>
    /** What is sent next, by time. */
    readonly upcoming: (entry: {
      readonly category: Category | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<UpcomingMail>, StoreUnavailable>
    /** Pauses or resumes a category, or, undefined, all of them; false where it already was so. */
    readonly pause: (entry: {
      readonly category: Category | undefined
      readonly actor: string
      readonly isPaused: boolean
    }) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("postlane/ports/SendQueue") {}
