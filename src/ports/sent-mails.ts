import { Context, Data } from "effect"
import type { Effect } from "effect"

/** A mail of `provider_a`'s list, in the core's words. */
export interface ListedMail {
  readonly id: string
  /** The newest event, without a prefix: `sent`, `delivered`, `bounced`, …; open-ended. */
  readonly lastEvent: string
  /** When it was sent, milliseconds since the epoch; absent where the list gave no readable time. */
  readonly sentAt: number | undefined
  /** Bare lower-case addresses of To, Cc and Bcc. */
  readonly recipients: ReadonlyArray<string>
  readonly from: string | undefined
  readonly subject: string | undefined
  /** The item as it came. */
  readonly raw: unknown
}

/** One page of the list, newest first. */
export interface MailPage {
  readonly mails: ReadonlyArray<ListedMail>
  /** Items that could not be read. */
  readonly unreadable: number
  /** Where older mails go on; absent at the end of the list. */
  readonly next: string | undefined
}

/**
 * The list could not be read. `unconfigured`: there is no key. `refused`: the key may not, or the request is wrong.
 * `cursor`: the vendor does not take this cursor (any more). `throttled`: too many requests. `unavailable`: no answer, or
 * none that can be read.
 */
export class ListFailure extends Data.TaggedError("ListFailure")<{
  readonly kind: "unconfigured" | "refused" | "cursor" | "throttled" | "unavailable"
  /** What the vendor said, fit for a log. */
  readonly message: string
  /** What the vendor asks a throttled caller to wait, milliseconds. */
  readonly retryAfterMs?: number | undefined
}> {}

/** The mails that `provider_a` knows of, and how each of them stands. */
export class SentMails extends Context.Service<
  SentMails,
  {
    /** Up to 100 mails: the newest, or those that are older than the cursor's. */
    readonly page: (after: string | undefined) => Effect.Effect<MailPage, ListFailure>
  }
>()("postlane/ports/SentMails") {}
