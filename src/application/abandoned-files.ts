import { Clock, Effect } from "effect"

/** Age at which an untouched file counts as abandoned by a dead process: no chunk and no upload takes a day. */
const ABANDONED_MS = 24 * 60 * 60 * 1000

/** Minimum time between two sweeps. */
const LOOK_EVERY_MS = 60 * 60 * 1000

/**
 * Removes files, up to whole documents, that dead processes left behind; nothing else ever removes them. `removeUntouched` removes
 * the files untouched since a moment (milliseconds of the epoch); its failure is logged, not raised. Does nothing within an hour
 * of the last sweep.
 */
export const makeSweep = <E>(
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
