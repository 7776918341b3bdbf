import { Context, Data } from "effect"
import type { Effect } from "effect"

import type { DeliveryEvent, RecordedEvent } from "../domain/delivery/delivery-event.ts"

/** The log could not take an event or give an alert's claim back. */
export class DeliveryLogError extends Data.TaggedError("DeliveryLogError")<{
  readonly operation: "record" | "releaseAlert"
  readonly cause: unknown
}> {}

/** What became of an event, and whether it was a backfill that keeps its alert's claim. */
export interface LoggedEvent extends RecordedEvent {
  readonly backfilled: boolean
}

/** The writer of delivery events (document 1, `record_email_event`). */
export class DeliveryLog extends Context.Service<
  DeliveryLog,
  {
    /** Folds the event into its row; one that comes again changes nothing (L3). `backfill`: see document 1, "Poll rules". */
    readonly record: (
      event: DeliveryEvent,
      options?: { readonly backfill?: boolean }
    ) => Effect.Effect<LoggedEvent, DeliveryLogError>
    /** Gives back the claim of an alert that did not go out; false where there is none. */
    readonly releaseAlert: (sendId: string) => Effect.Effect<boolean, DeliveryLogError>
  }
>()("postlane/ports/DeliveryLog") {}
