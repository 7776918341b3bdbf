import { Effect } from "effect"

import { ConversionStore, type ConversionStoreError } from "../../ports/conversion-store.ts"
import { type LaneSettings, statusAtCreation } from "../batch/eligibility.ts"
import { CHUNK_PAGES } from "./job.ts"

/**
 * The convert executor on the anchor: makes the jobs of everything that waits in the queue `convert`, whichever entry took the
 * request. The flags of the batch lane are read here and nowhere else. Several may run; a job is made once.
 */
export const createQueuedJobs = (
  lane: LaneSettings
): Effect.Effect<void, ConversionStoreError, ConversionStore> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    while (true) {
      const queued = yield* store.nextQueued
      if (queued === undefined) return
      const { jobId, options, pages } = queued
      const status = statusAtCreation({ options, totalPages: pages }, lane)
      yield* store.createJob(jobId, { status, options, chunkPages: CHUNK_PAGES })
    }
  })
