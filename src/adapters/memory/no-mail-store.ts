import { Effect, Layer } from "effect"

import { MailStore, MailStoreError } from "../../ports/mail-store.ts"

let warned = false

const warnOnce = Effect.suspend(() => {
  if (warned) return Effect.void
  warned = true
  return Effect.logWarning(
    "No database is configured (DB_URL with its password): mail is sent without logging or suppression"
  )
})

/**
 * No database is configured: every send goes out unlogged and unchecked, and the process is told so once, however many
 * mailers it makes (document 1, "Hooks and degraded modes").
 */
export const layerNone: Layer.Layer<MailStore> = Layer.effect(
  MailStore,
  Effect.gen(function* () {
    yield* warnOnce
    const none = (operation: string) =>
      Effect.fail(new MailStoreError({ operation, cause: "no database is configured" }))
    return MailStore.of({
      configured: false,
      begin: () => none("begin"),
      moveClaim: () => none("moveClaim"),
      findEvidence: () => none("findEvidence"),
      beginRetry: () => none("beginRetry"),
      record: () => none("record")
    })
  })
)
