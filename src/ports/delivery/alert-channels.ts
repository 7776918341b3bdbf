import { Context, Data, type Effect } from "effect"

import { type AlertType, perChannel, type PerChannel } from "../../domain/delivery/alert-policy.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Which channels each type of alert goes to. */
type AlertPreferenceTable = Readonly<Record<AlertType, PerChannel<boolean>>>

/** Default until an admin chooses: everything is on. */
export const DEFAULT_PREFERENCES: AlertPreferenceTable = {
  email_delivery_failure: perChannel(() => true)
}

/** The choices of admins on the notifications page (`admin_notification_preferences`). */
export class AlertPreferences extends Context.Service<
  AlertPreferences,
  {
    readonly read: Effect.Effect<AlertPreferenceTable, StoreUnavailable>
    /** Replaces all of them atomically. */
    readonly write: (table: AlertPreferenceTable) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/ports/AlertPreferences") {}

/** The chat did not accept the message, or it is not known whether it did. `message` holds no secret. */
export class ChatFailure extends Data.TaggedError("ChatFailure")<{ readonly message: string }> {}

/** The chat that admin alerts go to. */
export class Chat extends Context.Service<
  Chat,
  {
    /** False where no bot or no chat is set: nothing can be posted. */
    readonly configured: boolean
    /** Where that is, for people. */
    readonly where?: string | undefined
    /** Posts plain text; a text too long for the chat is cut. Ends within about ten seconds. */
    readonly post: (text: string) => Effect.Effect<void, ChatFailure>
  }
>()("postlane/ports/Chat") {}
