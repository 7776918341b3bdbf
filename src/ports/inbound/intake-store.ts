import { Context, Data, type Duration, type Effect, type Redacted } from "effect"

import type { MailOutcome } from "../../domain/inbound/intake-config.ts"
import type { ReplyContent } from "../../domain/inbound/reply-content.ts"
import type { SuppressionReason } from "../../domain/mail/suppression-policy.ts"

/** Mails under way cannot be read or written now. */
export class IntakeUnavailable extends Data.TaggedError("IntakeUnavailable")<{ readonly cause: unknown }> {}

/** A mail that was taken in; its raw form is stored. */
interface ReceivedMail {
  readonly id: string
  readonly rawKey: string
  readonly rawBytes: number
  /** Empty: the null return path. */
  readonly envelopeFrom: string
  readonly peerTrusted: boolean
}

/** A mail that this process works on, as long as it holds the lease. */
export interface ClaimedMail extends ReceivedMail {
  readonly lease: string
  /** This one counted; only those of workers that died are. */
  readonly attempts: number
  /** Times in a row that something around it failed in this step. */
  readonly failures: number
  /** Of a mail whose identity is claimed. */
  readonly sender: string | undefined
  /** Of a mail that is being converted. */
  readonly job:
    | {
        readonly customerId: string
        readonly filename: string
        readonly fileBytes: number
        readonly pages: number
        readonly ignored: ReadonlyArray<string>
        readonly sourceKey: string
      }
    | undefined
}

/** What a mail's work depends on. */
export type FailingPart = "database" | "objects" | "pipeline" | "reader"

/** Who a mail is from, and what makes it that mail. */
interface MailIdentity {
  /** SHA-256, hex. */
  readonly identity: string
  /** Of each signature that it carries, with the sender: SHA-256, hex. One that another mail carried makes it that mail. */
  readonly signatures: ReadonlyArray<string>
  readonly messageId: string | undefined
  /** Key of the address. */
  readonly sender: string
  readonly contentSha256: string
  readonly subject: string | undefined
  readonly references: string | undefined
}

/** A person with an account. */
export interface Customer {
  readonly id: string
  /** The registered address. */
  readonly email: string
  readonly plan: "free" | "paid"
  /** Credits or free pages that nothing else has set aside. */
  readonly balance: number
}

/** A conversion that may begin. */
interface Admission {
  readonly customerId: string
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
  readonly customerId?: string | undefined
  readonly filename?: string | undefined
  readonly fileBytes?: number | undefined
  /** Set where a conversion failed: it is logged in `conversion_jobs`. */
  readonly jobError?: string | undefined
  readonly reply?:
    | {
        readonly recipient: string
        readonly content: ReplyContent
        /** Goes out to this address once a day only. */
        readonly stranger?: boolean
        /** Goes out only where no more of its kind than this went to the recipient within an hour. */
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

/** What the customer could spend, where it does not suffice. */
export interface Shortage {
  readonly plan: "free" | "paid"
  readonly balance: number
}

/** A reply that this process sends. */
export interface ClaimedReply {
  readonly id: string
  readonly lease: string
  readonly mailId: string
  readonly recipient: string
  readonly content: ReplyContent
  readonly asLink: boolean
  readonly attempts: number
  /** Those of them of which nobody knows whether they arrived. */
  readonly unknowns: number
  /** Milliseconds of the epoch. */
  readonly createdAt: number
  readonly messageId: string | undefined
  readonly references: string | undefined
  readonly subject: string | undefined
  readonly filename: string | undefined
  readonly result: { readonly key: string; readonly bytes: number } | undefined
}

/** A result that stands behind a link. */
export interface KeptResult {
  /** Of the mail. */
  readonly id: string
  readonly name: string
  readonly pages: number
  /** Numbers of those that could not be read; they are not charged. */
  readonly unreadablePages: ReadonlyArray<number>
  readonly hasText: boolean
  readonly creditsCharged: number
  /** ISO 8601. */
  readonly convertedAt: string
  /** What became of the reply that was to bring it. */
  readonly reply: "queued" | "sent" | "failed"
  /** Milliseconds of the epoch. */
  readonly expiresAt: number
}

type Claimed = Pick<ClaimedMail, "id" | "lease">
type Held = Pick<ClaimedReply, "id" | "lease">
type Ask<A> = Effect.Effect<A, IntakeUnavailable>

/** Mails under way, their funds and their replies (migration 0021). Every call may be repeated. */
export class IntakeStore extends Context.Service<
  IntakeStore,
  {
    readonly receive: (mail: ReceivedMail) => Ask<void>
    readonly claim: (
      step: "received" | "converting",
      lease: string,
      stale: Duration.Duration
    ) => Ask<ClaimedMail | undefined>
    /** False: the lease is lost. Keeps the funds set aside for `window`. */
    readonly heartbeat: (mail: Claimed, window: Duration.Duration) => Ask<boolean>
    readonly handBack: (
      mail: Claimed,
      options: { readonly after: Duration.Duration; readonly counts: boolean }
    ) => Ask<boolean>
    /**
     * Gives a mail back after a part around it failed; no attempt is lost, and its funds stay set aside for `window`. `over`: that part
     * has failed for longer than `limit`, with no gap of more than `gap`; nothing was written, and the mail is still held.
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
    /** The customer of an address (key); undefined for a stranger, and for an account that was closed. */
    readonly customer: (email: string) => Ask<Customer | undefined>
    /** Why mail to an address (key) is suppressed; empty where it is not. */
    readonly suppressions: (email: string) => Ask<ReadonlyArray<SuppressionReason>>
    readonly customerEmail: (customerId: string) => Ask<string | undefined>
    readonly admit: (mail: Claimed, admission: Admission) => Ask<"admitted" | "stale" | Shortage>
    /** False: the lease is lost. */
    readonly end: (mail: Claimed, end: MailEnd) => Ask<boolean>
    readonly finish: (mail: Claimed, result: MailResult) => Ask<"completed" | "stale" | Shortage>
    readonly claimReply: (lease: string, hold: Duration.Duration) => Ask<ClaimedReply | undefined>
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
    /** Mails whose objects may go; all of them, or all but the result. */
    readonly toClean: (
      limit: number,
      linkLives: Duration.Duration
    ) => Ask<ReadonlyArray<{ readonly id: string; readonly everything: boolean }>>
    readonly cleaned: (id: string, what: "source" | "all") => Ask<void>
    /** Those of these ids that no mail has, or one whose objects were all removed: what still stands there is an orphan. */
    readonly withoutObjects: (ids: ReadonlyArray<string>) => Ask<ReadonlyArray<string>>
    /** Forgets what ended long ago. */
    readonly purge: Ask<void>
    /** 32 random bytes that never change: the key of links to results. */
    readonly linkKey: Ask<Redacted.Redacted<Uint8Array>>
    /** Results of a customer's mails that stand behind a link, newest first. */
    readonly keptResults: (customerId: string, linkLives: Duration.Duration) => Ask<ReadonlyArray<KeptResult>>
    /** The result of a mail, for its link; undefined where there is none any more. */
    readonly result: (id: string) => Ask<{ readonly key: string; readonly filename: string } | undefined>
  }
>()("postlane/ports/IntakeStore") {}
