import { Context, Effect } from "effect"

import type { ObjectStoreError } from "../../ports/object-store.ts"

/**
 * The name of the object store that holds this process's mails, the same in all processes that have it. An Email Worker and Node on
 * one database have different ones: each works on the mails that it can read. Where no store is shared, all are this process's own.
 */
export const MailHome = Context.Reference<Effect.Effect<string, ObjectStoreError>>(
  "postlane/application/MailHome",
  {
    defaultValue: () => Effect.succeed("here")
  }
)

/** It, where the store answers; else there is nothing to do now. */
export const homeOrNone: Effect.Effect<string | undefined> = Effect.flatMap(MailHome, (home) =>
  Effect.catchTag(home, "ObjectStoreError", (error) =>
    Effect.as(
      Effect.logWarning("the object store of mails does not answer: no mail is worked on", error.cause),
      undefined
    )
  )
)
