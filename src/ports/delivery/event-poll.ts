import { Context, Data, type Effect } from "effect"

import type { DeliveryEvent } from "../../domain/delivery/delivery-event.ts"
import type { KnownMail, ListMark, ListedMail } from "../../domain/delivery/listed-mail.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** How far the poll has come. */
export interface PollPosition {
  /** The newest mail that was read; absent before the first run. */
  readonly newest: ListMark | undefined
  /** Mails that one run had no pages left for: older than `after`, down to `until` (absent: to the start of the log). */
  readonly gap: { readonly after: string; readonly until: ListMark | undefined } | undefined
}

/** The poll's reads of the log, and its stored position. */
export class PollLog extends Context.Service<
  PollLog,
  {
    /** The rows of these mails of a provider, `provider_a` unless another is named, and when the oldest row of the whole log was made (milliseconds). */
    readonly known: (
      messageIds: ReadonlyArray<string>,
      provider?: Provider
    ) => Effect.Effect<
      { readonly mails: ReadonlyMap<string, KnownMail>; readonly oldest: number | undefined },
      StoreUnavailable
    >
    /** The position, and the version that saving it requires. */
    readonly position: Effect.Effect<
      { readonly position: PollPosition; readonly version: number },
      StoreUnavailable
    >
    /** Saves the position unless another run has saved one since `version`; returns whether it did. */
    readonly savePosition: (
      position: PollPosition,
      version: number
    ) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("postlane/ports/PollLog") {}

/** One page of the list, newest first. */
export interface MailPage {
  readonly mails: ReadonlyArray<ListedMail>
  /** Items that could not be read. */
  readonly unreadable: number
  /** The cursor of the older mails; absent at the end of the list. */
  readonly next: string | undefined
}

/**
 * The list could not be read. `unconfigured`: there is no key. `refused`: the key lacks the right, or the request is wrong.
 * `cursor`: the vendor no longer accepts this cursor. `throttled`: too many requests. `unavailable`: no answer, or an
 * unreadable one.
 */
export class ListFailure extends Data.TaggedError("ListFailure")<{
  readonly kind: "unconfigured" | "refused" | "cursor" | "throttled" | "unavailable"
  /** The vendor's error text, safe for a log. */
  readonly message: string
  /** How long the vendor asks a throttled caller to wait, milliseconds. */
  readonly retryAfterMs?: number | undefined
}> {}

/** The mails that `provider_a` knows, with the newest event of each. */
export class SentMails extends Context.Service<
  SentMails,
  {
    /** Up to 100 mails: the newest, or those that are older than the cursor's. */
    readonly page: (after: string | undefined) => Effect.Effect<MailPage, ListFailure>
  }
>()("postlane/ports/SentMails") {}

/** What a provider says of the newest mails and failures, each event with its time and all that a webhook would have said. */
export class RecentEvents extends Context.Service<
  RecentEvents,
  {
    readonly provider: Provider
    /** A mail's own event before those of what became of it. */
    readonly newest: Effect.Effect<ReadonlyArray<DeliveryEvent>, ListFailure>
  }
>()("postlane/ports/RecentEvents") {}
