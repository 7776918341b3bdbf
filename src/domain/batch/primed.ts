import { Effect, Option } from "effect"

import type { ClaimedChunk } from "../../ports/conversion-store.ts"
import type { ObjectStoreError } from "../../ports/object-store.ts"
import type { VisionModel } from "../../ports/vision-model.ts"
import { MAX_CHUNK_ATTEMPTS } from "../conversion/job.ts"
import { BatchReplay } from "./replay.ts"

/**
 * The model that answers a chunk's calls: where its job has batch results, they come first. Results that cannot be read now fail
 * the attempt, so that they are not paid for twice; but the last one goes on demand.
 */
export const withBatchResults = (
  chunk: ClaimedChunk,
  model: VisionModel["Service"]
): Effect.Effect<VisionModel["Service"], ObjectStoreError> =>
  Effect.gen(function* () {
    if (chunk.options._batchPrimed !== true) return model
    const replay = yield* Effect.serviceOption(BatchReplay)
    if (Option.isNone(replay)) return model
    return yield* replay.value.over(chunk, model).pipe(
      Effect.catchIf(
        () => chunk.attempts >= MAX_CHUNK_ATTEMPTS,
        (error) => Effect.as(Effect.logWarning("batch results cannot be read: on demand", error), model)
      )
    )
  })
