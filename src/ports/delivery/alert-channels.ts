import { Context, Data, type Effect } from "effect"

import {
  type AlertType,
  type ChatChannel,
  perChannel,
  type PerChannel
} from "../../domain/delivery/alert-policy.ts"
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

/** A chat that admin alerts go to. */
export interface Chat {
  /** False where no bot or no chat is set: nothing can be posted. */
  readonly configured: boolean
  /** Where that is, for people. */
  readonly where?: string | undefined
  /** Posts plain text; a text too long for the chat is cut. Ends within about ten seconds. */
  readonly post: (text: string) => Effect.Effect<void, ChatFailure>
}

/** The chats, each by the name of its channel. */
export class Chats extends Context.Service<Chats, Readonly<Record<ChatChannel, Chat>>>()(
  "postlane/ports/Chats"
) {}
