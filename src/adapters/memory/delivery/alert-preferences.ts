import { Effect, Layer } from "effect"

import {
  type Chat,
  ChatFailure,
  AlertPreferences,
  DEFAULT_PREFERENCES
} from "../../../ports/delivery/alert-channels.ts"

/** Where no chat is configured. */
export const noChat: Chat = {
  configured: false,
  post: () => Effect.fail(new ChatFailure({ message: "no chat is configured" }))
}

/** Preferences that live as long as the process. */
export const layer: Layer.Layer<AlertPreferences> = Layer.sync(AlertPreferences, () => {
  let current = DEFAULT_PREFERENCES
  return AlertPreferences.of({
    read: Effect.sync(() => current),
    write: (table) => Effect.sync(() => void (current = table))
  })
})
