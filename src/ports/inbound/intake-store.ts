import { Context, type Duration, type Effect, type Redacted } from "effect"

import type { CustomerId, LeaseId, MailId } from "../../domain/ids.ts"
import type { MailOutcome } from "../../domain/inbound/mail-outcome.ts"
import type { ReplyContent } from "../../domain/inbound/reply-content.ts"
import type { BlockReason } from "../../domain/mail/suppression/policy.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** An accepted mail; its raw form is stored. */
interface ReceivedMail {
  readonly id: MailId
  readonly rawKey: string
  readonly rawBytes: number
  /** Empty: the null return path. */
  readonly envelopeFrom: string
  readonly peerTrusted: boolean
}

/** What is known of a mail from its headers when it arrives. */
interface Arrival extends ReceivedMail {
  /** The object store that holds it: only processes that have the same one work on the mail. */
  readonly home: string
  /** Key of its verified sender's address: customers' mails are read in turns (H3). */
  readonly verifiedSender: string | undefined
  /** Its headers alone ended it. */
  readonly ended: { readonly outcome: MailOutcome; readonly reason: string } | undefined
}

/** A mail that this process works on while it holds the lease. */
export interface ClaimedMail extends ReceivedMail {
  readonly lease: LeaseId
  /** Including this one; otherwise only attempts of workers that died count. */
  readonly attempts: number
  /** How many times in a row a dependency failed in this step. */
  readonly failures: number
  /** Key of the verified sender's address. */
  readonly sender: string | undefined
  /** Set on a mail that is being converted. */
  readonly job:
    | {
        readonly customerId: CustomerId
        readonly filename: string
        readonly fileBytes: number
        readonly pages: number
        readonly ignored: ReadonlyArray<string>
        readonly sourceKey: string
      }
    | undefined
}

/** Which mails a worker converts: of at most so many pages, and of customers alone of whom none is being converted. */
interface ConvertedMails {
  readonly mostPages?: number
  readonly ofIdle?: boolean
}

/** The dependencies of a mail's processing. */
export type FailingPart = "database" | "objects" | "pipeline" | "reader"

/** A mail's sender, and what identifies the mail (INBOUND-7). */
interface MailIdentity {
  /** SHA-256, hex. */
  readonly identity: string
  /** SHA-256, hex, of each DKIM signature with the sender. A mail that shares one with another mail is the same mail. */
  readonly signatures: ReadonlyArray<string>
  readonly messageId: string | undefined
  /** Key of the address. */
  readonly sender: string
  readonly contentSha256: string
  readonly subject: string | undefined
  readonly references: string | undefined
}

/** A customer. */
export interface Customer {
  readonly id: CustomerId
  /** The registered address. */
  readonly email: string
  readonly plan: "free" | "paid"
  /** Credits or free pages that no hold has set aside. */
  readonly balance: number
}

/** A conversion that may begin. */
interface Admission {
  readonly customerId: CustomerId
  readonly filename: string
  readonly fileBytes: number
  readonly pages: number
  readonly ignored: ReadonlyArray<string>
  readonly sourceKey: string
  readonly recipient: string
  readonly acknowledgement: ReplyContent
  /** How long the funds stay set aside without a heartbeat. */
  readonly window: Duration.Duration
}

/** An end without a result. */
export interface MailEnd {
  readonly outcome: MailOutcome
  /** For the log. */
  readonly reason: string
  readonly customerId?: CustomerId | undefined
  readonly filename?: string | undefined
  readonly fileBytes?: number | undefined
  /** Set where a conversion failed: it is logged in `conversion_jobs`. */
  readonly jobError?: string | undefined
  readonly reply?:
    | {
        readonly recipient: string
        readonly content: ReplyContent
        /** Goes out at most once a day to this address. */
        readonly stranger?: boolean
        /** Most replies of its kind to one recipient within an hour; beyond that it does not go out (INBOUND-5). */
        readonly brake?: number
      }
    | undefined
}

/** An end with a result. */
interface MailResult {
  readonly standardPages: number
  readonly complexPages: number
  readonly resultKey: string
  readonly resultBytes: number
  readonly recipient: string
  /** `creditsCharged` and `balance` are written by the database. */
  readonly reply: ReplyContent
  readonly asLink: boolean
}

/** The balance of a customer for whom it does not suffice. */
export interface Shortage {
  readonly plan: "free" | "paid"
  readonly balance: number
}

/** A reply that this process sends. */
export interface ClaimedReply {
  readonly id: string
  readonly lease: LeaseId
  readonly mailId: MailId
  readonly recipient: string
  readonly content: ReplyContent
  readonly asLink: boolean
  readonly attempts: number
  /** Attempts with an unknown outcome: their mail may have arrived. */
  readonly unknowns: number
  /** Milliseconds of the epoch. */
  readonly createdAt: number
  readonly messageId: string | undefined
  readonly references: string | undefined
  readonly subject: string | undefined
  readonly filename: string | undefined
  readonly result: { readonly key: string; readonly bytes: number } | undefined
}

/** A result that is available by link. */
export interface KeptResult {
  /** Of the mail. */
  readonly id: MailId
  readonly name: string
  readonly pages: number
  /** Page numbers that could not be read; they are not charged. */
  readonly unreadablePages: ReadonlyArray<number>
  readonly hasText: boolean
  readonly creditsCharged: number
  /** ISO 8601. */
  readonly convertedAt: string
  /** The state of the reply that was to carry it. */
  readonly reply: "queued" | "sent" | "failed"
  /** Milliseconds of the epoch. */
  readonly expiresAt: number
}

type Claimed = Pick<ClaimedMail, "id" | "lease">
type Held = Pick<ClaimedReply, "id" | "lease">
type Ask<A> = Effect.Effect<A, StoreUnavailable>

/** Mails under way, their funds and their replies. Every call is safe to repeat. */
export class IntakeStore extends Context.Service<
  IntakeStore,
  {
    readonly receive: (mail: Arrival) => Ask<void>
    /** Customers take turns, and of one the mail that is due for longest is first. */
    readonly claim: (
      step: "received" | "converting",
      lease: LeaseId,
      stale: Duration.Duration,
      home: string,
      /** To be converted: which mails this worker takes. */
      only?: ConvertedMails
    ) => Ask<ClaimedMail | undefined>
    /** False: the lease is lost. Keeps the funds set aside for `window`. */
    readonly heartbeat: (mail: Claimed, window: Duration.Duration) => Ask<boolean>
    readonly handBack: (
      mail: Claimed,
      options: { readonly after: Duration.Duration; readonly counts: boolean }
    ) => Ask<boolean>
    /**
     * Releases a mail after a dependency failed; that counts as no attempt, and its funds stay set aside for `window`.
     * `over`: the dependency has failed for longer than `limit`, with no gap of more than `gap`; nothing was written, and
     * the lease is still held.
     */
    readonly defer: (
      mail: Claimed,
      options: {
        readonly after: Duration.Duration
        readonly part: FailingPart
        readonly gap: Duration.Duration
        readonly limit: Duration.Duration
        readonly window: Duration.Duration
      }
    ) => Ask<"deferred" | "over" | "stale">
    readonly identify: (
      mail: Claimed,
      identity: MailIdentity,
      limitAnHour: number
    ) => Ask<"claimed" | "duplicate" | "limited" | "stale">
    /** The customer of an address (key); undefined for a stranger and for a closed account. */
    readonly customer: (email: string) => Ask<Customer | undefined>
    /** Why mail to an address (key) is suppressed; empty where it is not. */
    readonly suppressions: (email: string) => Ask<ReadonlyArray<BlockReason>>
    readonly customerEmail: (customerId: CustomerId) => Ask<string | undefined>
    readonly admit: (mail: Claimed, admission: Admission) => Ask<"admitted" | "stale" | Shortage>
    /** False: the lease is lost. */
    readonly end: (mail: Claimed, end: MailEnd) => Ask<boolean>
    readonly finish: (mail: Claimed, result: MailResult) => Ask<"completed" | "stale" | Shortage>
    readonly claimReply: (
      lease: LeaseId,
      hold: Duration.Duration,
      home: string
    ) => Ask<ClaimedReply | undefined>
    readonly replySent: (reply: Held) => Ask<boolean>
    readonly replyFailed: (reply: Held, error: string) => Ask<boolean>
    readonly retryReply: (
      reply: Held,
      options: {
        readonly after: Duration.Duration
        readonly error: string
        readonly asLink: boolean
        /** Whether it may have arrived. */
        readonly unknown: boolean
      }
    ) => Ask<boolean>
    /** Mails with objects to remove: all of them, or all but the result. */
    readonly toClean: (
      limit: number,
      linkLives: Duration.Duration,
      home: string
    ) => Ask<ReadonlyArray<{ readonly id: MailId; readonly everything: boolean }>>
    /** Mails that have been due for longer than that, and that no process works on. */
    readonly waitingSince: (age: Duration.Duration) => Ask<number>
    readonly cleaned: (id: MailId, what: "source" | "all") => Ask<void>
    /** The ids without a mail, or with a mail that had all its objects removed: objects still there are orphans. */
    readonly withoutObjects: (ids: ReadonlyArray<MailId>) => Ask<ReadonlyArray<MailId>>
    /** Deletes mails that ended long ago. */
    readonly purge: Ask<void>
    /** 32 random bytes that never change: the key of links to results. */
    readonly linkKey: Ask<Redacted.Redacted<Uint8Array>>
    /** Results of a customer's mails that are available by link, newest first. */
    readonly keptResults: (
      customerId: CustomerId,
      linkLives: Duration.Duration
    ) => Ask<ReadonlyArray<KeptResult>>
    /** The result of a mail, for its link; undefined where there is no longer one. */
    readonly result: (id: MailId) => Ask<{ readonly key: string; readonly filename: string } | undefined>
  }
>()("postlane/ports/IntakeStore") {}
