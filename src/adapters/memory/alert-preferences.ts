import { Effect, Layer } from "effect"

import { AlertPreferences, DEFAULT_PREFERENCES } from "../../ports/alert-preferences.ts"

/** Preferences that live as long as the process. */
export const layer: Layer.Layer<AlertPreferences> = Layer.sync(AlertPreferences, () => {
  let current = DEFAULT_PREFERENCES
  return AlertPreferences.of({
    read: Effect.sync(() => current),
    write: (table) => Effect.sync(() => void (current = table))
  })
})
