import { Context, Data } from "effect"
import type { Effect } from "effect"

/** What somebody wrote in the contact or the feedback form. */
export interface ContactMessage {
  readonly kind: "contact" | "feedback"
  readonly name: string | undefined
  readonly email: string | undefined
  readonly message: string
  /** 1 to 5. */
  readonly rating: number | undefined
  readonly page: string | undefined
  /** A robot wrote it. */
  readonly spam: boolean
}

/** Messages cannot be stored now. */
export class ContactMessagesUnavailable extends Data.TaggedError("ContactMessagesUnavailable")<{
  readonly cause: unknown
}> {}

/** Keeps every message, so that none is lost with its mail (`contact_messages`). */
export class ContactMessages extends Context.Service<
  ContactMessages,
  {
    /** Stores it and gives its id. */
    readonly keep: (message: ContactMessage) => Effect.Effect<string, ContactMessagesUnavailable>
    /** Notes that its mail went out. */
    readonly notified: (id: string) => Effect.Effect<void, ContactMessagesUnavailable>
  }
>()("postlane/ports/ContactMessages") {}
