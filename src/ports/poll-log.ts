import { Context, Data } from "effect"
import type { Effect } from "effect"

/** The log did not answer the poll. */
export class PollLogError extends Data.TaggedError("PollLogError")<{
  readonly operation: "known" | "position" | "savePosition"
  readonly cause: unknown
}> {}

/** A mail that the log has a row for. */
export interface KnownMail {
  readonly lastEvent: string | undefined
  /** The provider reported a failure, and nobody holds the claim of its alert: it has not gone out. */
  readonly alertDue: boolean
}

/** A point in the list: the mail that a run had reached, or, without an id, a moment. */
export interface ListMark {
  readonly id: string | undefined
  /** When that mail was sent, milliseconds since the epoch: what holds where the list does not have it any more. */
  readonly sentAt: number | undefined
}

/** How far the poll has come. */
export interface PollPosition {
  /** The newest mail that was read; absent before the first run. */
  readonly newest: ListMark | undefined
  /** Mails that one run had no pages left for: those older than `after`, down to `until` (absent: to where logging began). */
  readonly gap: { readonly after: string; readonly until: ListMark | undefined } | undefined
}

/** What the poll reads of the log, and where it keeps its position. */
export class PollLog extends Context.Service<
  PollLog,
  {
    /** The rows of these mails of `provider_a`, and when the oldest row of the whole log was made (milliseconds). */
    readonly known: (
      messageIds: ReadonlyArray<string>
    ) => Effect.Effect<
      { readonly mails: ReadonlyMap<string, KnownMail>; readonly oldest: number | undefined },
      PollLogError
    >
    /** The position, and the version that saving it asks for. */
    readonly position: Effect.Effect<
      { readonly position: PollPosition; readonly version: number },
      PollLogError
    >
    /** Saves the position where nobody else has saved one since `version`; tells whether it did. */
    readonly savePosition: (position: PollPosition, version: number) => Effect.Effect<boolean, PollLogError>
  }
>()("postlane/ports/PollLog") {}
