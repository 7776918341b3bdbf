import { Context, type Effect, type Redacted } from "effect"

import type { CustomerId, FileId, WorkId } from "../../domain/ids.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** An account and its spendable funds: live holds are already deducted. */
export interface AccountFunds {
  readonly id: CustomerId
  readonly email: string
  readonly name: string | null
  readonly planType: "free" | "paid"
  /** Credits of a paid plan; null on the free plan. */
  readonly creditsRemaining: number | null
  /** Pages left of the free plan's lifetime; null on a paid plan. */
  readonly freePagesLeft: number | null
  /** Set aside by live holds: credits, or pages of the free plan (1 credit each). */
  readonly heldCredits: number
}

/** What a charge or a hold is for. */
interface PaidWork {
  /** The conversion, the layout-true one, or the mail; null where no work is paid. */
  readonly jobId: WorkId | null
  readonly work: "conversion" | "layout" | "mail" | null
  /** Null where it is not known any more, or deleted. */
  readonly fileId: FileId | null
  /** Of the file or the attachment; null likewise. */
  readonly name: string | null
}

/** A move of an account's funds: what a result cost, credits that were added or taken back. Amounts are never below zero. */
export interface FundsMove extends PaidWork {
  readonly id: string
  readonly kind: "charge" | "grant" | "debit"
  /** ISO 8601. */
  readonly createdAt: string
  readonly credits: number
  readonly freePages: number
}

/** What is set aside for work under way. Times are ISO 8601. */
export interface FundsHold extends PaidWork {
  readonly createdAt: string
  /** When the hold ends, unless the work continues. */
  readonly expiresAt: string
  readonly credits: number
  readonly freePages: number
}

/** Most moves of one page. */
export const MAX_MOVES_PAGE = 200

/** Accounts: their funds, closing and erasure. */
export class Accounts extends Context.Service<
  Accounts,
  {
    /** The account and its funds; `undefined` where it is closed. */
    readonly funds: (customerId: CustomerId) => Effect.Effect<AccountFunds | undefined, StoreUnavailable>
    /** What moved its funds, newest first, the page after `cursor`. */
    readonly moves: (
      customerId: CustomerId,
      page: { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<FundsMove>; readonly nextCursor: string | null },
      StoreUnavailable | InvalidCursor
    >
    /** What is set aside now, newest first; what is free of charge is left out. */
    readonly holds: (customerId: CustomerId) => Effect.Effect<ReadonlyArray<FundsHold>, StoreUnavailable>
    /**
     * Closes the account: sign-ins, tokens, links and open invitations end with it, in one step. `undefined` where it is
     * closed already.
     */
    readonly close: (
      customerId: CustomerId
    ) => Effect.Effect<
      { readonly email: string; /** ISO 8601. */ readonly deletedAt: string } | undefined,
      StoreUnavailable
    >
    /**
     * Erases a person: takes the address (its key) from the account, the forms and the send log. A suppression of it stays,
     * as a hash that still blocks (P3). False where nothing was stored about it.
     */
    readonly erase: (person: {
      readonly email: string
      readonly actor: string
    }) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("postlane/ports/Accounts") {}

/** An invitation, and what the caller does about its mail. */
type InviteTodo =
  /** The caller sends the mail; no other process does until the caller reports the outcome. */
  | {
      readonly todo: "Send"
      readonly inviteId: string
      readonly token: Redacted.Redacted
      /** The name or the address of the team's owner. */
      readonly inviter: string
      /** ISO 8601. */
      readonly expiresAt: string
      /** The idempotency key of this send, by which the end of a deferral is found. */
      readonly mailKey: string
    }
  /** Its mail went out before or its retry is queued, and the link in it still works. */
  | { readonly todo: "Sent"; readonly inviteId: string }
  /** Another call is sending it. */
  | { readonly todo: "Busy"; readonly inviteId: string }

/** Invitations into a customer's team (`team_invites`): one open one an address. Only a hash of the token is stored. */
export class TeamInvites extends Context.Service<
  TeamInvites,
  {
    /** Makes the invitation, or finds the open one; `undefined` where the customer is gone. `email` is the key of an address. */
    readonly begin: (invite: {
      readonly customerId: CustomerId
      readonly email: string
    }) => Effect.Effect<InviteTodo | undefined, StoreUnavailable>
    /** Records whether the mail of that token went out. */
    readonly end: (token: Redacted.Redacted, sent: boolean) => Effect.Effect<void, StoreUnavailable>
    /** Accepts, once; `undefined` for a token that is unknown, used or expired. */
    readonly accept: (
      token: string
    ) => Effect.Effect<{ readonly inviteId: string; readonly inviter: string } | undefined, StoreUnavailable>
  }
>()("postlane/ports/TeamInvites") {}

/** What somebody wrote in the contact or the feedback form. */
export interface ContactMessage {
  readonly kind: ContactKind
  readonly name: string | undefined
  readonly email: string | undefined
  readonly message: string
  /** 1 to 5. */
  readonly rating: number | undefined
  readonly page: string | undefined
  /** A bot wrote it. */
  readonly spam: boolean
}

export const CONTACT_KINDS = ["contact", "feedback"] as const
type ContactKind = (typeof CONTACT_KINDS)[number]

/** The state of a message's notification; spam causes none. */
export const CONTACT_STATES = ["waiting", "notified", "spam"] as const
type ContactState = (typeof CONTACT_STATES)[number]

/** Most rows of one page. */
export const MAX_CONTACT_PAGE = 200

/** One row of `contact_messages`, with the columns' names as keys; times are ISO 8601 in UTC with microseconds. */
export interface ContactMessageRow {
  readonly id: string
  readonly kind: ContactKind
  readonly name: string | null
  readonly email: string | null
  readonly message: string
  readonly rating: number | null
  readonly page: string | null
  readonly spam: boolean
  readonly notified_at: string | null
  /** When the sweep tries next, while the message waits. */
  readonly notify_after: string
  readonly notify_attempts: number
  readonly notify_error: string | null
  readonly created_at: string
}

/** Which rows to show. All given filters must match. */
export interface ContactMessageFilter {
  readonly kind?: ContactKind | undefined
  readonly state?: ContactState | undefined
  /** 1 to {@link MAX_CONTACT_PAGE}. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

type Store<A> = Effect.Effect<A, StoreUnavailable>

/** Keeps every message, so that none is lost with its mail (`contact_messages`). */
export class ContactMessages extends Context.Service<
  ContactMessages,
  {
    /** Stores it and returns its id. */
    readonly keep: (message: ContactMessage) => Store<string>
    /** Records that a provider accepted its mail. */
    readonly notified: (id: string) => Store<void>
    /** Records why its mail did not go out. */
    readonly missed: (id: string, error: string) => Store<void>
    /**
     * Claims the message that has waited longest for its mail, at the earliest two minutes after it came in. A claimed
     * message is due again after 5 minutes, later up to 6 hours. Of several callers at once, one gets each message.
     */
    readonly claimWaiting: Store<{ readonly id: string; readonly message: ContactMessage } | undefined>
    /** Newest first; new rows cause neither repeated nor skipped ones. */
    readonly page: (
      filter: ContactMessageFilter
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<ContactMessageRow>; readonly nextCursor: string | null },
      StoreUnavailable | InvalidCursor
    >
  }
>()("postlane/ports/ContactMessages") {}
