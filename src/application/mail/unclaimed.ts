import { Effect } from "effect"

import type { IdempotencyKey } from "../../domain/ids.ts"
import type { Message } from "../../domain/mail/message.ts"
import { countUnclaimed } from "./metrics.ts"
import type { SendParts } from "./sending.ts"

/**
 * A send goes out without suppression look-up and claim, since the store did not answer: the same key in another process, or a
 * suppressed recipient, would go unnoticed. Logged with its key and counted (MAIL-45).
 */
export const noteUnclaimed = Effect.fnUntraced(function* (
  { store, unclaimed }: SendParts,
  { key, message, rowId }: { readonly key: IdempotencyKey; readonly message: Message; readonly rowId: string }
) {
  if (!store.configured) return
  unclaimed.pending += 1
  yield* countUnclaimed
  yield* Effect.logWarning("a send goes out without look-up and claim: the database did not answer").pipe(
    Effect.annotateLogs({ idempotencyKey: key, sendId: rowId, source: message.source })
  )
})

/** Writes the count for the alarm, now that the store answers again; where it does not after all, with the next answer. */
export const reportUnclaimed = ({ scope, store, unclaimed }: SendParts): Effect.Effect<void> =>
  Effect.suspend(() => {
    const count = unclaimed.pending
    if (count === 0) return Effect.void
    unclaimed.pending = 0
    return store.noteUnclaimed(count).pipe(
      Effect.catch(() => Effect.sync(() => void (unclaimed.pending += count))),
      Effect.forkIn(scope),
      Effect.asVoid
    )
  })
