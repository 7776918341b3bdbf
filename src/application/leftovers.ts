import { Clock, Effect } from "effect"

/** A file that nothing has touched for so long was left by a process that died: no chunk and no upload takes a day. */
const ABANDONED_MS = 24 * 60 * 60 * 1000

/** Files are looked through as often. */
const LOOK_EVERY_MS = 60 * 60 * 1000

/**
 * Removes what processes left when they died, whole documents, which nobody else would ever remove. `removeUntouched` removes the
 * files that nothing has touched since a moment (milliseconds of the epoch); its failure is logged, not raised. Does nothing within
 * an hour of the last look.
 */
export const sweepOf = <E>(
  removeUntouched: (since: number) => Effect.Effect<void, E>
): Effect.Effect<void> => {
  let lookedAt = -Infinity
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - lookedAt < LOOK_EVERY_MS) return
    lookedAt = now
    yield* Effect.ignore(removeUntouched(now - ABANDONED_MS), { log: true })
  })
}
