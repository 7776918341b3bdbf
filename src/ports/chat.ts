import { Context, Data } from "effect"
import type { Effect } from "effect"

/** The chat did not take the message, or it is not known whether it did. `message` holds no secret. */
export class ChatFailure extends Data.TaggedError("ChatFailure")<{ readonly message: string }> {}

/** The chat that admin alerts go to. */
export class Chat extends Context.Service<
  Chat,
  {
    /** False where no bot or no chat is set: nothing can be posted. */
    readonly configured: boolean
    /** Posts plain text; what is too long for the chat is cut. Ends within about ten seconds. */
    readonly post: (text: string) => Effect.Effect<void, ChatFailure>
  }
>()("postlane/ports/Chat") {}
