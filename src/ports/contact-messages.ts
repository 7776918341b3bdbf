import { Context, Data } from "effect"
import type { Effect } from "effect"

import type { InvalidCursor } from "./cursor.ts"

/** What somebody wrote in the contact or the feedback form. */
export interface ContactMessage {
  readonly kind: ContactKind
  readonly name: string | undefined
  readonly email: string | undefined
  readonly message: string
  /** 1 to 5. */
  readonly rating: number | undefined
  readonly page: string | undefined
  /** A robot wrote it. */
  readonly spam: boolean
}

export const CONTACT_KINDS = ["contact", "feedback"] as const
export type ContactKind = (typeof CONTACT_KINDS)[number]

/** Where a message's notification stands; nobody is notified of spam. */
export const CONTACT_STATES = ["waiting", "notified", "spam"] as const
export type ContactState = (typeof CONTACT_STATES)[number]

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
  /** When the sweep tries next, while it waits. */
  readonly notify_after: string
  readonly notify_attempts: number
  readonly notify_error: string | null
  readonly created_at: string
}

/** Which rows to show. Every filter that is there must hold. */
export interface ContactMessageFilter {
  readonly kind?: ContactKind | undefined
  readonly state?: ContactState | undefined
  /** 1 to {@link MAX_CONTACT_PAGE}. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** Messages cannot be stored or read now. */
export class ContactMessagesUnavailable extends Data.TaggedError("ContactMessagesUnavailable")<{
  readonly cause: unknown
}> {}

type Store<A> = Effect.Effect<A, ContactMessagesUnavailable>

/** Keeps every message, so that none is lost with its mail (`contact_messages`). */
export class ContactMessages extends Context.Service<
  ContactMessages,
  {
    /** Stores it and gives its id. */
    readonly keep: (message: ContactMessage) => Store<string>
    /** Notes that a provider accepted its mail. */
    readonly notified: (id: string) => Store<void>
    /** Notes why its mail did not go out. */
    readonly missed: (id: string, error: string) => Store<void>
    /**
     * The message that waits for its mail for longest, two minutes after it came in at the earliest. Claimed, it is due again
     * after 5 minutes, later up to 6 hours. Of several callers at once each message goes to one.
     */
    readonly claimWaiting: Store<{ readonly id: string; readonly message: ContactMessage } | undefined>
    /** Newest first; rows that arrive meanwhile neither repeat nor hide any. */
    readonly page: (
      filter: ContactMessageFilter
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<ContactMessageRow>; readonly nextCursor: string | null },
      ContactMessagesUnavailable | InvalidCursor
    >
  }
>()("postlane/ports/ContactMessages") {}
