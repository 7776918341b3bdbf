import { Duration, Effect, Stream } from "effect"

import { batchPrefix } from "../../domain/batch/keys.ts"
import { resumePatch } from "../../domain/batch/row.ts"
import { HOLD_WINDOW } from "../../domain/conversion/job.ts"
import { BatchStore } from "../../ports/batch/batch-store.ts"
import { BatchObjects } from "../../ports/object-store.ts"
import { drain } from "../drain.ts"
import { type DriverSettings, giveUpIn, RELEASE_SLACK, STUCK_AFTER } from "./lane-settings.ts"
import { pollDue } from "./polling.ts"
import { prepareNext } from "./submitting.ts"

/** How long batch objects are kept (BATCH-44). */
const KEPT = Duration.days(14)

/** Batches that one tick purges, and the keys of one delete. */
const PURGES = 20
const KEYS_AT_ONCE = 500

/** Resumes jobs that still wait although their batch row is closed (BATCH-17). */
const resumeStranded = Effect.gen(function* () {
  const store = yield* BatchStore
  for (const job of yield* store.stranded) {
    yield* Effect.logInfo(`job ${job.jobId} was stranded: it is resumed`)
    yield* store.resume(job.jobId, resumePatch(job), HOLD_WINDOW)
  }
})

/** Moves jobs that have waited too long to on-demand, whatever the batch service reports (BATCH-15). */
const releaseOverdue = Effect.fnUntraced(function* (settings: DriverSettings) {
  const store = yield* BatchStore
  while (true) {
    const jobId = yield* store.releaseOverdue({
      giveUpIn: giveUpIn(settings),
      stuckAfter: STUCK_AFTER,
      slack: RELEASE_SLACK,
      window: HOLD_WINDOW
    })
    if (jobId === undefined) return
    yield* Effect.logWarning(`job ${jobId} has waited for the batch too long: it is converted on demand`)
  }
})

/** The tick that needs only the database, so that nothing can hold it up: no job waits in the lane for ever. */
export const releaseTick = (settings: DriverSettings) =>
  resumeStranded.pipe(Effect.andThen(releaseOverdue(settings)))

/**
 * The tick that polls submitted rows. Several drivers at once only waste work; after an interruption the next one continues. The
 * number of queries does not grow with the number of open rows.
 */
export const pollTick = (settings: DriverSettings) => pollDue(settings)

/**
 * The other tick: prepares one job. It is separate because it may take hours, and finished results must not wait for it; the
 * changes of both ticks are guarded row by row.
 */
export const prepareTick = (settings: DriverSettings, term: number) => prepareNext(settings, term)

/** Removes the objects of batches that ended long ago or belong to a deleted file. */
export const purgeBatches = Effect.gen(function* () {
  const store = yield* BatchStore
  const objects = yield* BatchObjects
  const round = Effect.gen(function* () {
    const rows = yield* store.toPurge(KEPT, PURGES)
    for (const { id, jobId } of rows) {
      yield* objects.list(batchPrefix(jobId)).pipe(
        Stream.map(({ key }) => key),
        Stream.grouped(KEYS_AT_ONCE),
        Stream.runForEach((keys) => objects.remove(keys))
      )
      yield* store.purged(id)
    }
    return rows.length
  })
  yield* drain(PURGES, round)
})
