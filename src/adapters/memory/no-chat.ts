import { Effect, Layer } from "effect"

import { Chat, ChatFailure } from "../../ports/chat.ts"

/** Where no chat is configured. */
export const layerNone: Layer.Layer<Chat> = Layer.succeed(
  Chat,
  Chat.of({
    configured: false,
    post: () => Effect.fail(new ChatFailure({ message: "no chat is configured" }))
  })
)
