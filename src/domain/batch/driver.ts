import { Duration, Effect, Stream } from "effect"

import { BatchStore } from "../../ports/batch/batch-store.ts"
import { BatchObjects } from "../../ports/object-store.ts"
import { HOLD_WINDOW } from "../conversion/job.ts"
import { drain } from "../drain.ts"
import { batchPrefix } from "./keys.ts"
import { type DriverSettings, giveUpIn, RELEASE_SLACK, STUCK_AFTER } from "./lane-settings.ts"
import { pollDue } from "./polling.ts"
import { resumePatch } from "./row.ts"
import { prepareNext } from "./submitting.ts"

/** How long batch objects are kept (document 3, "Other constants"). */
const KEPT = Duration.days(14)

/** Batches whose objects one tick removes, and the keys of one delete. */
const PURGES = 20
const KEYS_AT_ONCE = 500

/** Resumes jobs that wait although their batch row is closed (document 3, "Driver" 9). */
const resumeStranded = Effect.gen(function* () {
  const store = yield* BatchStore
  for (const job of yield* store.stranded) {
    yield* Effect.logInfo(`job ${job.jobId} was stranded: it is resumed`)
    yield* store.resume(job.jobId, resumePatch(job), HOLD_WINDOW)
  }
})

/** Jobs that have waited for too long go on-demand, whatever the batch service says, or does not say. */
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
    yield* Effect.logWarning(`job ${jobId} has waited for the batch too long: it goes on-demand`)
  }
})

/** The tick that asks the database alone, and so is never held up: nothing waits in the lane for ever. */
export const releaseTick = (settings: DriverSettings) =>
  resumeStranded.pipe(Effect.andThen(releaseOverdue(settings)), Effect.withSpan("batch-releaser"))

/**
 * The tick that looks at what was submitted. Several drivers at once are wasteful and nothing
 * else; one that was interrupted anywhere is carried on by the next. The number of queries does not grow with the number of open
 * rows.
 */
export const pollTick = (settings: DriverSettings) => pollDue(settings).pipe(Effect.withSpan("batch-driver"))

/**
 * The other tick: prepares one job. It may take hours, of which results that are there must not wait; what the two do to rows is
 * guarded row by row.
 */
export const prepareTick = (settings: DriverSettings, term: number) =>
  prepareNext(settings, term).pipe(Effect.withSpan("batch-preparer"))

/** Removes the objects of batches that ended long ago, or whose file was deleted. */
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
