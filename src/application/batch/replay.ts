import { Context, Effect, Layer, Option } from "effect"
import { Digest } from "effect/crypto/Digest"

import { isUsable } from "../../domain/cascade/model-call.ts"
import { MAX_CHUNK_ATTEMPTS } from "../../domain/conversion/job.ts"
import type { JobId } from "../../domain/ids.ts"
import type { ClaimedChunk } from "../../ports/conversion/conversion-store.ts"
import type { VisionModel } from "../../ports/conversion/vision-model.ts"
import { BatchObjects, ObjectStoreError } from "../../ports/object-store.ts"
import { OwnStores } from "../own-stores.ts"
import { promptHash } from "./capture.ts"
import { readResults } from "./results.ts"

/** A chunk of a job with batch results. */
interface PrimedChunk {
  readonly jobId: JobId
  readonly chunkIndex: number
}

/** Fails where this process's store of batch results is not the one that the lane writes to, or that is not known now. */
const inOwnStore = Effect.fnUntraced(function* (key: string) {
  const { refusalNow } = yield* OwnStores
  const cause = yield* refusalNow.pipe(Effect.catch(Effect.succeed))
  if (cause !== undefined) return yield* new ObjectStoreError({ reason: "unavailable", key, cause })
})

/** Answers chunk processing from batch results. */
export class BatchReplay extends Context.Service<
  BatchReplay,
  {
    /**
     * A model that answers the hi-fi single pass of a page from the chunk's batch results where model and prompt hash match, and
     * asks `model` for anything else. Without a results file in the lane's own store everything goes to `model`; one that cannot be
     * read now fails the call.
     */
    readonly over: (
      chunk: PrimedChunk,
      model: VisionModel["Service"]
    ) => Effect.Effect<VisionModel["Service"], ObjectStoreError>
  }
>()("postlane/application/BatchReplay") {
  static readonly layer: Layer.Layer<BatchReplay, never, BatchObjects | Digest> = Layer.effect(
    BatchReplay,
    Effect.gen(function* () {
      const objects = yield* BatchObjects
      const digest = yield* Digest
      return BatchReplay.of({
        over: Effect.fnUntraced(function* ({ chunkIndex, jobId }, model) {
          const answers = yield* readResults(objects, jobId, chunkIndex).pipe(
            Effect.catchIf(
              ({ reason }) => reason === "missing",
              ({ key }) =>
                Effect.andThen(
                  inOwnStore(key),
                  Effect.as(Effect.logWarning("a chunk has no batch results: it is converted on demand"), [])
                )
            )
          )
          const byPage = new Map(answers.map((answer) => [answer.page, answer]))
          return {
            converse: (call, place) =>
              Effect.gen(function* () {
                const found = place.tier === "hifi-single-pass" ? byPage.get(place.page) : undefined
                if (found === undefined || found.model !== call.model) {
                  return yield* model.converse(call, place)
                }
                const hash = yield* promptHash(call).pipe(Effect.provideService(Digest, digest))
                const { inputTokens, outputTokens, text } = found
                const stopReason = found.stopReason ?? undefined
                if (hash !== found.promptHash || !isUsable({ text, stopReason })) {
                  return yield* model.converse(call, place)
                }
                return { text, stopReason, usage: { inputTokens, outputTokens }, fromBatch: true }
              })
          }
        })
      })
    })
  )
}

/**
 * The model that answers a chunk's calls, from the job's batch results first. Results that cannot be read now fail
 * the attempt, so that they are not paid for twice; the last attempt goes on demand.
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
        (error) =>
          Effect.as(
            Effect.logWarning("batch results cannot be read: the chunk is converted on demand", error),
            model
          )
      )
    )
  })
